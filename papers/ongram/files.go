package ongram

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// Files are kernel values in files: rows of all nodes, and columns of all nodes or of
// those with a label. Only the values between the learner's items are kept in memory; the files
// are read once for these, and again for the scores. An error about the contents of a file is a
// [*nodefile.ParseError].
type Files struct {
	Paths []string // of kernels between the same nodes, in the same order

	// Product makes the product of the values of all files the kernel, which is that of pairs (x, y) if one file
	// compares the x and another one the y: Kondor and Lafferty 2002, section 2.2. Otherwise it is their sum.
	Product bool

	LabelFile string                // of columns
	Labelling *nodefile.LabelConfig // of LabelFile; with SkipUnknown some of its lines may name nodes without a column

	Learner   *classify.Learner
	Values    param.Values // complete, of its parameters
	Calibrate bool         // probabilities of a learner that has none of its own, which fit held-out scores ([classify.Calibrate])

	// Progress, if not nil, is called with the stage, the finished rows, and their number, 0 if
	// the stage has none.
	Progress func(stage string, done, total int64)

	// What [Files.Open] finds.
	Rows, Cols tablefile.Axis
	Labels     *nodefile.Labels // of columns

	files  []*tablefile.File
	name   string // of all files
	item   []int  // the column of each item, the labelled ones first, in the order of their labels
	class  []int  // of each item, −1 for none
	itemOf []int  // the item that each row is, −1 for none
}

// Open opens the files, reads the labels and finds the rows of the items that the learner is
// given: the labelled columns or, where it learns from all nodes, all of them.
func (k *Files) Open(ctx context.Context) (err error) {
	if k.Progress == nil {
		k.Progress = func(string, int64, int64) {}
	}
	k.name = strings.Join(k.Paths, ", ")
	for _, path := range k.Paths {
		f, err := tablefile.Inspect(ctx, path, &tablefile.Options{Name: path})
		if err != nil {
			return err
		}
		k.files = append(k.files, f)
		if err := k.addAxis(ctx, &k.Rows, "rows"); err != nil {
			return err
		}
		if err := k.addAxis(ctx, &k.Cols, "cols"); err != nil {
			return err
		}
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

// addAxis stores the ids of the rows or cols of the last file in axis. It returns an error unless they are those of
// the files before.
func (k *Files) addAxis(ctx context.Context, axis *tablefile.Axis, which string) error {
	last := k.files[len(k.files)-1]
	a, err := last.Axis(ctx, which)
	if err != nil {
		return err
	}
	if len(k.files) > 1 {
		const fix = "give kernels between the same nodes, in the same order"
		if a.N != axis.N {
			return faultOf(last.Name, fix, "has %d %s, and %s has %d", a.N, which, k.Paths[0], axis.N)
		}
		for i := range a.N {
			if id, first := a.ID(i), axis.ID(i); id != first {
				return faultOf(last.Name, fix, "number %d of its %s is %q, and that of %s is %q",
					i+1, which, id, k.Paths[0], first)
			}
		}
	}
	*axis = a
	return nil
}

// faultOf returns an error about a file, or several.
func faultOf(name, fix, format string, args ...any) error {
	return &nodefile.ParseError{File: name, Msg: fmt.Sprintf(format, args...), Fix: fix}
}

// nodes returns the dictionary of the ids of an axis, which must be distinct.
func (k *Files) nodes(which string, a tablefile.Axis) (*shard.Nodes, error) {
	nodes, err := shard.StringNodes(func(yield func(string) bool) {
		for i := 0; i < a.N && yield(a.ID(i)); i++ {
		}
	})
	if twice := (*nodefile.ParseError)(nil); errors.As(err, &twice) {
		return nil, faultOf(k.name, twice.Fix, "%s: %s", which, twice.Msg)
	}
	return nodes, err
}

// choose finds the rows of the items that the learner is given.
func (k *Files) choose(rows *shard.Nodes) error {
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
				File: k.Labels.File, Msg: fmt.Sprintf("has no label for %q, a column of %s", k.Cols.ID(c), k.name),
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
			return faultOf(k.name, "the rows are to hold all nodes",
				"the column of %q has no row", k.Cols.ID(c))
		}
		k.itemOf[row] = a
	}
	if n := k.Rows.N; l.Whole && len(k.item) < n {
		return faultOf(k.name, "give a column for every row",
			"%s needs the kernel between all nodes, and %d of %d rows have no column", l.Name, n-len(k.item), n)
	}
	return nil
}

// Bytes is the memory of [Files.Classify].
func (k *Files) Bytes() int64 {
	m := int64(len(k.item))
	n := int64(k.Rows.N)
	classes := int64(len(k.Labels.Names))
	outputs := classes
	if path := k.Learner.Path; path != nil && path.Pairwise != nil && path.Pairwise(k.Values) {
		outputs = max(classes, classes*(classes-1)/2)
	}
	cols := int64(k.Cols.N)
	bytes := 112*(n+cols) + 8*m*m + 16*cols + 8*n*(outputs+1) // ids and labels, kernel values, scores
	for _, f := range k.files {
		bytes += f.Held + 8*cols
	}
	return bytes + k.Learner.FitBytes(len(k.Labels.Row), len(k.Labels.Names))
}

// rowsOf goes through the rows of a file, and then yields nil with the error that ended it, if any.
func rowsOf(ctx context.Context, f *tablefile.File) iter.Seq2[[]float64, error] {
	return func(yield func([]float64, error) bool) {
		isStopped := false
		err := tablefile.Read(ctx, f, func(_ []byte, values []float64) error {
			isStopped = !yield(values, nil)
			if isStopped {
				return context.Canceled
			}
			return nil
		})
		if !isStopped {
			yield(nil, err)
		}
	}
}

// read calls visit with the values of the items in each row of the kernel, which are valid until it returns.
func (k *Files) read(ctx context.Context, stage string,
	visit func(row int, items []float64)) error {
	nexts := make([]func() ([]float64, error, bool), len(k.files))
	for i, f := range k.files {
		next, stop := iter.Pull2(rowsOf(ctx, f))
		defer stop()
		nexts[i] = next
	}
	items := make([]float64, len(k.item))
	for row := range k.Rows.N + 1 { // behind the last row files are checked for changes
		for i, next := range nexts {
			values, err, _ := next()
			switch {
			case err != nil:
				return err
			case (values == nil) != (row == k.Rows.N):
				return faultOf(k.Paths[i], "read it again", "has changed while it was read")
			case values != nil:
				k.combine(items, values, i == 0)
			}
		}
		if row < k.Rows.N {
			visit(row, items)
			k.Progress(stage, int64(row+1), int64(k.Rows.N))
		}
	}
	return nil
}

// combine stores the values of the items in a row of the first file, or combines those of another one with them.
func (k *Files) combine(items, values []float64, isFirst bool) {
	for a, c := range k.item {
		switch {
		case isFirst:
			items[a] = values[c]
		case k.Product:
			items[a] *= values[c]
		default:
			items[a] += values[c]
		}
	}
}

// gram reads the values between the items.
func (k *Files) gram(ctx context.Context) (classify.Gram, error) {
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
		return nil, faultOf(k.name, fix, "K(%q, %q) is %g, but K(%q, %q) is %g", a, b,
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
func (k *Files) Classify(ctx context.Context) (*Classified, error) {
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
