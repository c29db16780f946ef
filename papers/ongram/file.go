package ongram

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// File is kernel values in a file: rows of all nodes, and columns of all nodes or of
// those with a label. Only the values between the learner's items are kept in memory; the file
// is read once for these, and again for the scores. An error about its contents is a
// [*nodefile.ParseError].
type File struct {
	Path string

	LabelFile string                // of columns
	Labelling *nodefile.LabelConfig // of LabelFile; with SkipUnknown some of its lines may name nodes without a column

	Learner   *classify.Learner
	Values    param.Values // complete, of its parameters
	Calibrate bool         // probabilities of a learner that has none of its own, which fit held-out scores ([classify.Calibrate])

	// Progress, if not nil, is called with the stage, the finished rows, and their number, 0 if
	// the stage has none.
	Progress func(stage string, done, total int64)

	// What [File.Open] finds.
	Rows, Cols tablefile.Axis
	Labels     *nodefile.Labels // of columns

	file   *tablefile.File
	item   []int // the column of each item, the labelled ones first, in the order of their labels
	class  []int // of each item, −1 for none
	itemOf []int // the item that each row is, −1 for none
}

// Open opens the file, reads the labels and finds the rows of the items that the learner is
// given: the labelled columns or, where it learns from all nodes, all of them.
func (k *File) Open(ctx context.Context) (err error) {
	if k.Progress == nil {
		k.Progress = func(string, int64, int64) {}
	}
	if k.file, err = tablefile.Inspect(ctx, k.Path, &tablefile.Options{Name: k.Path}); err != nil {
		return err
	}
	if k.Rows, err = k.file.Axis(ctx, "rows"); err != nil {
		return err
	}
	if k.Cols, err = k.file.Axis(ctx, "cols"); err != nil {
		return err
	}
	rows, err := k.nodes("rows", k.Rows)
	if err != nil {
		return err
	}
	columns, err := k.nodes("columns", k.Cols)
	if err != nil {
		return err
	}
	if k.Labels, err = nodefile.ReadLabels(ctx, k.LabelFile, columns, k.Labelling); err != nil {
		return err
	}
	return k.choose(rows)
}

// fault returns an error about the file.
func (k *File) fault(fix, format string, args ...any) error {
	return &nodefile.ParseError{File: k.file.Name,
		Msg: fmt.Sprintf(format, args...), Fix: fix}
}

// nodes returns the dictionary of the ids of an axis, which must be distinct.
func (k *File) nodes(which string, a tablefile.Axis) (*shard.Nodes, error) {
	nodes, err := shard.StringNodes(func(yield func(string) bool) {
		for i := 0; i < a.N && yield(a.ID(i)); i++ {
		}
	})
	if twice := (*nodefile.ParseError)(nil); errors.As(err, &twice) {
		return nil, k.fault(twice.Fix, "%s: %s", which, twice.Msg)
	}
	return nodes, err
}

// choose finds the rows of the items that the learner is given.
func (k *File) choose(rows *shard.Nodes) error {
	l := k.Learner
	labelled := make([]bool, k.Cols.N)
	for _, c := range k.Labels.Row {
		labelled[c] = true
	}
	k.item = append(k.item[:0], k.Labels.Row...)
	k.class = append(k.class[:0], k.Labels.Class...)
	for c, has := range labelled {
		switch {
		case has:
		case k.Rows.N != k.Cols.N: // the columns are not all nodes
			return &nodefile.ParseError{
				File: k.Labels.File, Msg: fmt.Sprintf("has no label for %q, a column of %s", k.Cols.ID(c), k.file.Name),
				Fix: "label every column, or give a kernel between all nodes",
			}
		case l.Whole:
			k.item = append(k.item, c)
			k.class = append(k.class, -1)
		}
	}
	k.itemOf = slices.Repeat([]int{-1}, k.Rows.N)
	for a, c := range k.item {
		row, ok := rows.Lookup(k.Cols.ID(c))
		if !ok {
			return k.fault("the rows are to hold all nodes",
				"the column of %q has no row", k.Cols.ID(c))
		}
		k.itemOf[row] = a
	}
	if n := k.Rows.N; l.Whole && len(k.item) < n {
		return k.fault("give a column for every row",
			"%s needs the kernel between all nodes, and %d of %d rows have no column", l.Name, n-len(k.item), n)
	}
	return nil
}

// Bytes is the memory of [File.Classify].
func (k *File) Bytes() int64 {
	m := int64(len(k.item))
	n := int64(k.Rows.N)
	classes := int64(len(k.Labels.Names))
	outputs := classes
	if path := k.Learner.Path; path != nil && path.Pairwise != nil && path.Pairwise(k.Values) {
		outputs = max(classes, classes*(classes-1)/2)
	}
	cols := int64(k.Cols.N)
	return 112*(n+cols) + 8*m*m + 24*cols + 8*n*(outputs+1) + // ids and labels, kernel values, scores
		k.file.Held + k.Learner.FitBytes(len(k.Labels.Row), len(k.Labels.Names))
}

// read calls visit with the values of the items in each row of the kernel, which are valid until it returns.
func (k *File) read(ctx context.Context, stage string,
	visit func(row int, items []float64)) error {
	items := make([]float64, len(k.item))
	done := 0
	return tablefile.Read(ctx, k.file, func(_ []byte, values []float64) error {
		for a, c := range k.item {
			items[a] = values[c]
		}
		visit(done, items)
		done++
		k.Progress(stage, int64(done), int64(k.Rows.N))
		return nil
	})
}

// gram reads the values between the items.
func (k *File) gram(ctx context.Context) (classify.Gram, error) {
	m := len(k.item)
	g := sparse.BlockOf(m, m, make([]float64, m*m))
	err := k.read(ctx, "reading", func(row int, items []float64) {
		if a := k.itemOf[row]; a >= 0 {
			copy(g.Data[a*m:], items)
		}
	})
	if err != nil {
		return nil, err
	}
	const fix = "a kernel is symmetric, are the ids in the order of the rows and columns?"
	if i, j := unevenOf(g.Data, m); i != j {
		a, b := k.Cols.ID(k.item[i]), k.Cols.ID(k.item[j])
		return nil, k.fault(fix, "K(%q, %q) is %g, but K(%q, %q) is %g", a, b,
			g.Data[i*m+j], b, a, g.Data[j*m+i])
	}
	return classify.DenseGram(g), nil
}

// unevenOf returns the first i and j with |K(i, j) − K(j, i)| > 1e-5·max|K|, a bound on the
// rounding of single precision and of iterations; zeros if there are none.
func unevenOf(k []float64, n int) (i, j int) {
	var largest float64
	for _, v := range k {
		largest = max(largest, math.Abs(v))
	}
	for i := range n {
		for j := range i {
			if math.Abs(k[i*n+j]-k[j*n+i]) > 1e-5*largest {
				return i, j
			}
		}
	}
	return 0, 0
}

// Classify learns from the values between the items, and reads all values again to score each row. The error may be
// a [*problem.Error].
func (k *File) Classify(ctx context.Context) (*Classified, error) {
	g, err := k.gram(ctx)
	if err != nil {
		return nil, err
	}
	k.Progress("learning", 0, 0)
	c, err := learn(ctx, k.Learner, g, k.class, k.Labels.Names, k.Values,
		k.Calibrate)
	if err != nil {
		return nil, err
	}
	c.begin(k.Rows.N)
	return c, k.read(ctx, "scoring", func(row int, items []float64) {
		// a learner that is given some columns does not need K(x, x)
		selfValue := math.NaN()
		class := -1
		if a := k.itemOf[row]; a >= 0 {
			selfValue = items[a]
			class = k.class[a]
		}
		c.score(row, items, selfValue, class)
	})
}
