package ongram

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// Files are kernel values in files: rows of all nodes, and columns of all nodes or of
// those with a label. Only the values between the learner's items are kept in memory; the files
// are read once for these, and again for the scores. An error about the contents of a file is a
// [*nodefile.ParseError].
type Files struct {
	Paths   []string // of kernels between the same nodes, in the same order
	Product bool     // the product of the files' values is the kernel, not the sum

	LabelFile string                // of columns
	Labelling *nodefile.LabelConfig // of LabelFile; with SkipUnknown some of its lines may name nodes without a column

	Learner *classify.Learner
	Values  param.Values // complete, of its parameters
	Shares  bool         // scores are probabilities of the classes, of a learner that has none those that fit held-out scores ([classify.Calibrate])

	// Progress, if not nil, is called with the stage, the finished rows, and their number, 0 if
	// the stage has none.
	Progress func(stage string, done, total int64)

	// What [Files.Open] finds.
	Rows, Cols tablefile.Axis
	Labels     *nodefile.Labels // of columns

	files  []*tablefile.File
	row    *shard.Nodes
	item   []int // the column of each item, the labelled ones first, in the order of their labels
	class  []int // of each item, −1 for none
	itemOf []int // the item that each row is, −1 for none
}

// Open opens the files, reads the labels and finds the rows of the items that the learner is
// given: the labelled columns or, where it learns from all nodes, all of them.
func (k *Files) Open(ctx context.Context) error {
	for _, path := range k.Paths {
		f, err := tablefile.Inspect(ctx, path, &tablefile.Options{Name: path})
		if err != nil {
			return err
		}
		k.files = append(k.files, f)
		for _, which := range []string{"rows", "cols"} {
			axis := &k.Rows
			if which == "cols" {
				axis = &k.Cols
			}
			a, err := f.Axis(ctx, which)
			if err == nil && len(k.files) > 1 {
				err = sameAxis(a, *axis, which, path, k.Paths[0])
			}
			if err != nil {
				return err
			}
			*axis = a
		}
	}
	var err error
	if k.row, err = k.nodes("rows", k.Rows); err == nil {
		err = k.readLabels(ctx)
	}
	if err == nil {
		err = k.choose()
	}
	return err
}

// sameAxis returns an error unless the rows or cols of a file are those of the first one.
func sameAxis(got, want tablefile.Axis, which, path, first string) error {
	if got.N != want.N {
		return &nodefile.ParseError{File: path, Msg: fmt.Sprintf("has %d %s, and %s has %d", got.N, which, first, want.N), Fix: "kernels are combined between the same nodes"}
	}
	for i := range got.N {
		if got.ID(i) != want.ID(i) {
			return &nodefile.ParseError{
				File: path, Msg: fmt.Sprintf("number %d of its %s is %q, and that of %s is %q", i+1, which, got.ID(i), first, want.ID(i)),
				Fix: "kernels are combined between the same nodes, in the same order",
			}
		}
	}
	return nil
}

// fault returns an error about the first file.
func (k *Files) fault(fix, format string, args ...any) error {
	return &nodefile.ParseError{File: k.files[0].Name, Msg: fmt.Sprintf(format, args...), Fix: fix}
}

// nodes returns the dictionary of the ids of an axis, which must be distinct.
func (k *Files) nodes(which string, a tablefile.Axis) (*shard.Nodes, error) {
	nodes, err := shard.StringNodes(func(yield func(string) bool) {
		for i := 0; i < a.N && yield(a.ID(i)); i++ {
		}
	})
	if twice := (*nodefile.ParseError)(nil); errors.As(err, &twice) {
		return nil, k.fault(twice.Fix, "%s: %s", which, twice.Msg)
	}
	return nodes, err
}

// columnLookup finds the columns of ids, and remembers ids without a column.
type columnLookup struct {
	nodes   *shard.Nodes
	isFound bool
	absent  string
}

// Lookup implements [nodefile.Lookup].
func (c *columnLookup) Lookup(id string) (int, bool) {
	row, ok := c.nodes.Lookup(id)
	if ok {
		c.isFound = true
	} else {
		c.absent = id
	}
	return row, ok
}

// Len implements [nodefile.Lookup].
func (c *columnLookup) Len() int { return c.nodes.Len() }

// readLabels reads the labels of columns.
func (k *Files) readLabels(ctx context.Context) error {
	nodes, err := k.nodes("columns", k.Cols)
	if err != nil {
		return err
	}
	columns, c := &columnLookup{nodes: nodes}, *k.Labelling
	c.SkipUnknown = true
	k.Labels, err = nodefile.ReadLabels(ctx, k.LabelFile, columns, &c)
	if parse := (*nodefile.ParseError)(nil); errors.As(err, &parse) && !columns.isFound && columns.absent != "" {
		return &nodefile.ParseError{
			File: k.LabelFile, Msg: fmt.Sprintf("none of its ids (the last %q) is that of a column of %s", columns.absent, k.files[0].Name), Fix: "label the columns",
		}
	}
	if err == nil && k.Labels.Unknown > 0 && !k.Labelling.SkipUnknown {
		return &nodefile.ParseError{
			File: k.LabelFile, Msg: fmt.Sprintf("has %s of no column of %s, such as %q", table.Counted(k.Labels.Unknown, "id"), k.files[0].Name, columns.absent),
			Fix: "label the columns alone, or pass {unknown-ids=skip}",
		}
	}
	return err
}

// choose finds the rows of the items that the learner is given.
func (k *Files) choose() error {
	l := k.Learner
	labelled := make([]bool, k.Cols.N)
	for _, c := range k.Labels.Row {
		labelled[c] = true
	}
	k.item, k.class = append(k.item[:0], k.Labels.Row...), append(k.class[:0], k.Labels.Class...)
	for c, has := range labelled {
		switch {
		case has:
		case k.Rows.N != k.Cols.N: // the columns are not all nodes
			return &nodefile.ParseError{
				File: k.Labels.File, Msg: fmt.Sprintf("has no label for %q, a column of %s", k.Cols.ID(c), k.files[0].Name),
				Fix: "label every column, or give a kernel between all nodes",
			}
		case l.Whole:
			k.item, k.class = append(k.item, c), append(k.class, -1)
		}
	}
	k.itemOf = slices.Repeat([]int{-1}, k.Rows.N)
	for a, c := range k.item {
		row, ok := k.row.Lookup(k.Cols.ID(c))
		if !ok {
			return k.fault("the rows are to hold all nodes", "the column of %q has no row", k.Cols.ID(c))
		}
		k.itemOf[row] = a
	}
	if n := k.Rows.N; l.Whole && len(k.item) < n {
		return k.fault("give a column for every row", "%s needs the kernel between all nodes, and %d of %d rows have no column", l.Name, n-len(k.item), n)
	}
	return nil
}

// Bytes is the memory of [Files.Scores].
func (k *Files) Bytes() int64 {
	m := int64(len(k.item))
	bytes := 112*int64(k.Rows.N+k.Cols.N) + 8*m*m + 16*int64(k.Cols.N) // ids and labels, kernel values
	for _, f := range k.files {
		bytes += f.Held + 8*int64(f.Cols)
	}
	return bytes + k.Learner.FitBytes(len(k.Labels.Row), len(k.Labels.Names))
}

// rowsOf goes through the rows of a file.
func rowsOf(ctx context.Context, f *tablefile.File) iter.Seq2[[]float64, error] {
	return func(yield func([]float64, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		ended := false
		err := tablefile.Read(ctx, f, func(_ []byte, values []float64) error {
			if ended = !yield(values, nil); ended {
				stop()
				return context.Canceled
			}
			return nil
		})
		if err != nil && !ended {
			yield(nil, err)
		}
	}
}

// rows returns a function that returns the values of the items in the next row of the kernel,
// which are valid until the next call, and what ends the reading.
func (k *Files) rows(ctx context.Context, phase string) (next func() (items []float64, err error), stop func()) {
	pulls, stops := make([]func() ([]float64, error, bool), len(k.files)), make([]func(), len(k.files))
	for i, f := range k.files {
		pulls[i], stops[i] = iter.Pull2(rowsOf(ctx, f))
	}
	items, done := make([]float64, len(k.item)), 0
	next = func() ([]float64, error) {
		var values []float64
		for i, pull := range pulls {
			row, err, hasMore := pull()
			switch {
			case err != nil:
				return nil, err
			case !hasMore:
				return nil, &nodefile.ParseError{File: k.files[i].Name, Msg: "has become shorter while it was read", Fix: "read it again"}
			case i == 0:
				values = row
				continue
			}
			for j, v := range row {
				if k.Product {
					values[j] *= v
				} else {
					values[j] += v
				}
			}
		}
		for a, c := range k.item {
			items[a] = values[c]
		}
		done++
		k.report(phase, int64(done), int64(k.Rows.N))
		return items, nil
	}
	return next, func() {
		for _, end := range stops {
			end()
		}
	}
}

// gram reads the values between the items.
func (k *Files) gram(ctx context.Context) (classify.Gram, error) {
	m := len(k.item)
	g := sparse.BlockOf(m, m, make([]float64, m*m))
	next, stop := k.rows(ctx, "reading")
	defer stop()
	for i := range k.Rows.N {
		items, err := next()
		if err != nil {
			return nil, err
		}
		if a := k.itemOf[i]; a >= 0 {
			copy(g.Data[a*m:], items)
		}
	}
	const fix = "a kernel is symmetric, are the ids in the order of the rows and columns?"
	if i, j := unevenOf(g.Data, m); i != j {
		a, b := k.Cols.ID(k.item[i]), k.Cols.ID(k.item[j])
		return nil, k.fault(fix, "K(%q, %q) is %g, but K(%q, %q) is %g", a, b, g.Data[i*m+j], b, a, g.Data[j*m+i])
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

func (k *Files) report(stage string, done, total int64) {
	if k.Progress != nil {
		k.Progress(stage, done, total)
	}
}

// Scores learns from the values between the items and reads all values again. next stores
// the scores of the next row in dst, whose columns have the given names, and returns the class of
// the row: its own if it has a label, otherwise the predicted one. stop ends the reading. The
// error may be a [*problem.Error].
func (k *Files) Scores(ctx context.Context) (names []string, next func(dst []float64) (class int, err error), stop func(), err error) {
	g, err := k.gram(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	k.report("learning", 0, 0)
	m, err := learn(ctx, k.Learner, g, k.class, len(k.Labels.Names), k.Values, k.Shares)
	if err != nil {
		return nil, nil, nil, err
	}
	if names = k.Labels.Names; !k.Shares {
		names = m.scoreNames(names)
	}
	row, stop := k.rows(ctx, "scoring")
	scores, i := make([]float64, len(m.Pairs)), 0
	return names, func(dst []float64) (class int, err error) {
		items, err := row()
		if err != nil {
			return -1, err
		}
		selfValue, class := math.NaN(), -1 // a learner that is given some columns does not need K(x, x)
		if a := k.itemOf[i]; a >= 0 {
			selfValue, class = items[a], k.class[a]
		}
		i++
		m.ScoresTo(scores, items, selfValue)
		if class < 0 {
			class = m.Pairs.Predict(scores)
		}
		if k.Shares {
			m.sharesTo(dst, scores)
		} else {
			copy(dst, scores)
		}
		return class, nil
	}, stop, nil
}
