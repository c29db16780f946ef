package ongram

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/items"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

var kernelFiles = items.Kind{
	Name: "gram", Noun: "item", Title: "Learning from kernel values in files", Help: helpTexts,
	Commands: []items.Command{{
		Use:   "classify K.npy... --labels L.tsv --learner SPEC -o OUT.npy",
		Title: "Learn from kernel values in files",
		Flags: []items.Flag{
			{Name: "output", Words: slices.Concat(tablefile.PredictionEndings, tablefile.ArrayEndings),
				Usage: "of predictions: .tsv, .csv, .jsonl or .parquet; of scores alone .npy, .npz, .svm or .libsvm"},
			{Name: "labels", Usage: "of node and label, one pair a line", Required: true},
			{Name: "label-fields"},
			{Name: "learner", Required: true},
			{Name: "product", Switch: true, Usage: "multiply the kernels of several files"},
			{Name: "sum", Switch: true, Usage: "add the kernels of several files"},
			{Name: "scores"},
			{Name: "sets"},
			{Name: "unknown-ids"},
		},
	}},
	Calibrated: true,
	Check:      checkFiles,
	Open:       openFiles,
}

// checkFiles reports files that do not make one kernel.
func checkFiles(in *items.Input, report func(place, problem string)) {
	var ways []string
	for _, name := range []string{"sum", "product"} {
		if in.Flags[name] == "true" {
			ways = append(ways, name)
		}
	}
	switch {
	case len(in.Paths) == 1:
		for _, name := range ways {
			report("--"+name, "there is a single file; leave it out")
		}
	case len(ways) > 1:
		report("--product", "stands in place of --sum; give one of the two")
	case len(in.Paths) > 1 && ways == nil:
		report(in.Paths[1],
			"several files are one kernel by their product or sum; add --product or --sum")
	}
	if slices.Contains(in.Paths, "-") {
		report("-", "stdin can be read once, and the kernel is read twice; give a file")
	}
}

// files reads kernel values from files: a row for every node, and a column for every node or for every labelled node. It keeps
// only the values between the learner's items in memory, and reads the files again for the scores. With --product the kernel
// compares pairs (x, y), where one file compares the x and another the y: Kondor and Lafferty 2002, section 2.2.
type files struct {
	in         *items.Input
	isProduct  bool // values are multiplied, not added
	learner    *classify.Learner
	parameters param.Values
	rows, cols tablefile.Axis
	labels     *nodefile.Labels // labels of columns
	progress   func(stage string, done, total int64)

	list   []*tablefile.File
	name   string
	item   []int // columns of items: first the labelled items, in the order of their labels
	itemOf []int // items of rows; −1: none
}

// openFiles opens the files and finds the learner's items: the labelled columns, or all columns if the learner learns from all
// nodes.
func openFiles(ctx context.Context, in *items.Input) (*items.Collection, error) {
	k := &files{in: in, learner: in.Learners[0], name: strings.Join(in.Paths, ", "),
		isProduct: in.Flags["product"] == "true"}
	var err error
	if k.parameters, err = k.learner.Resolve(k.learner.Own(in.Values), nil); err != nil {
		return nil, err
	}
	for _, path := range in.Paths {
		f, err := tablefile.Inspect(ctx, path, &tablefile.Options{Name: path})
		if err != nil {
			return nil, err
		}
		k.list = append(k.list, f)
		if err := k.addAxis(ctx, &k.rows, "rows"); err != nil {
			return nil, err
		}
		if err := k.addAxis(ctx, &k.cols, "cols"); err != nil {
			return nil, err
		}
	}
	rows, err := k.nodes("rows", k.rows)
	if err != nil {
		return nil, err
	}
	columns, err := k.nodes("columns", k.cols)
	if err != nil {
		return nil, err
	}
	labelling := *in.Labelling
	labelling.Fix = "label columns of " + k.name + " alone, or pass --unknown-ids=skip"
	if k.labels, err = nodefile.ReadLabels(ctx, in.LabelFile, columns, &labelling); err != nil {
		return nil, err
	}
	return &items.Collection{
		File: k.name, IDs: k.rows, Labels: k.labels, Classify: k.classify, Describe: k.describe,
		Parts: func(context.Context, *nodefile.Labels, int) ([]items.Part, error) {
			return []items.Part{{What: items.DataPart, Bytes: budget.LearnerBytes + k.bytes()}}, nil
		},
	}, k.choose(rows)
}

// describe returns the facts of a result for its JSON document, and its summary.
func (k *files) describe(c *items.Classified) (facts any, text string) {
	count := k.in.Count
	columns := c.ScoreNames
	if k.in.Calibrate {
		columns = k.labels.Names
	}
	text = fmt.Sprintf("%s × %s of %s from %s", count(k.rows.N, "row"),
		count(len(columns), "column"), k.learner.Name, count(len(k.labels.Row), "label"))
	if parameters := k.learner.Text(k.parameters); parameters != "" {
		text += ", " + parameters
	}
	combined := ""
	if len(k.list) > 1 {
		combined = "sum"
		if k.isProduct {
			combined = "product"
		}
		text += fmt.Sprintf(", on the %s of %d kernels", combined, len(k.list))
	}
	return &struct {
		Rows       int          `json:"rows"`
		Columns    []string     `json:"columns"`
		Learner    string       `json:"learner"`
		Parameters param.Values `json:"parameters"`
		Combined   string       `json:"combined,omitempty"`
	}{k.rows.N, columns, k.learner.Name, k.parameters, combined}, text
}

// addAxis stores in axis the ids of the rows or columns of the last file; which names the axis in messages. If the ids of the
// earlier files differ, it returns an error.
func (k *files) addAxis(ctx context.Context, axis *tablefile.Axis, which string) error {
	last := k.list[len(k.list)-1]
	a, err := last.Axis(ctx, which)
	if err != nil {
		return err
	}
	if len(k.list) > 1 {
		const fix = "give kernels between the same nodes, in the same order"
		if a.N != axis.N {
			return faultOf(last.Name, fix, "has %d %s, and %s has %d", a.N, which, k.list[0].Name, axis.N)
		}
		for i := range a.N {
			if id, first := a.ID(i), axis.ID(i); id != first {
				return faultOf(last.Name, fix, "number %d of its %s is %q, and that of %s is %q",
					i+1, which, id, k.list[0].Name, first)
			}
		}
	}
	*axis = a
	return nil
}

func faultOf(name, fix, format string, args ...any) error {
	return input.Fault(name, 0, fix, format, args...)
}

func (k *files) nodes(which string, a tablefile.Axis) (*shard.Nodes, error) {
	nodes, err := shard.StringNodes(a.All())
	if twice := (*nodefile.ParseError)(nil); errors.As(err, &twice) {
		return nil, faultOf(k.name, twice.Fix, "%s: %s", which, twice.Msg)
	}
	return nodes, err
}

// choose finds the learner's items and their rows.
func (k *files) choose(rows *shard.Nodes) error {
	l := k.learner
	labelled := sched.Mark(k.cols.N, k.labels.Row)
	k.item = append(k.item[:0], k.labels.Row...)
	for c, has := range labelled {
		switch {
		case has:
		case k.rows.N != k.cols.N: // the columns are not all nodes
			return faultOf(k.labels.File, "label every column, or give a kernel between all nodes",
				"has no label for %q, a column of %s", k.cols.ID(c), k.name)
		case l.Whole:
			k.item = append(k.item, c)
		}
	}
	k.itemOf = slices.Repeat([]int{-1}, k.rows.N)
	for a, c := range k.item {
		row, ok := rows.Lookup(k.cols.ID(c))
		if !ok {
			return faultOf(k.name, "the rows are to hold all nodes",
				"the column of %q has no row", k.cols.ID(c))
		}
		k.itemOf[row] = a
	}
	if n := k.rows.N; l.Whole && len(k.item) < n {
		return faultOf(k.name, "give a column for every row",
			"%s needs the kernel between all nodes, and %d of %d rows have no column", l.Name, n-len(k.item), n)
	}
	return nil
}

func (k *files) bytes() int64 {
	m := int64(len(k.item))
	n := int64(k.rows.N)
	classes := int64(len(k.labels.Names))
	outputs := classes
	if path := k.learner.Path; path != nil && path.Pairwise != nil && path.Pairwise(k.parameters) {
		outputs = max(classes, classes*(classes-1)/2)
	}
	cols := int64(k.cols.N)
	bytes := 112*(n+cols) + 8*m*m + 16*cols + 8*n*(outputs+1) + 4*n*classes // ids and labels, kernel values, scores
	for _, f := range k.list {
		bytes += f.Held + 8*cols
	}
	return bytes + k.learner.Declare(len(k.labels.Row), 0, len(k.labels.Names)).Required(0)
}

// rowsOf yields the rows of a file. After the last row it yields nil and the error of reading, which may be nil.
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

// read calls visit with the values of the items in each row, which are valid until visit returns.
func (k *files) read(ctx context.Context, stage string,
	visit func(row int, values []float64)) error {
	nexts := make([]func() ([]float64, error, bool), len(k.list))
	for i, f := range k.list {
		next, stop := iter.Pull2(rowsOf(ctx, f))
		defer stop()
		nexts[i] = next
	}
	items := make([]float64, len(k.item))
	for row := range k.rows.N + 1 { // reading the end checks files for changes
		for i, next := range nexts {
			values, err, _ := next()
			switch {
			case err != nil:
				return err
			case (values == nil) != (row == k.rows.N):
				return faultOf(k.list[i].Name, "read it again", "has changed while it was read")
			case values != nil:
				k.combine(items, values, i == 0)
			}
		}
		if row < k.rows.N {
			visit(row, items)
			k.progress(stage, int64(row+1), int64(k.rows.N))
		}
	}
	return nil
}

// combine stores the values of the items in a row of the first file. For the other files it multiplies the stored items by the
// values if k.isProduct is set, and adds the values otherwise.
func (k *files) combine(items, values []float64, isFirst bool) {
	for a, c := range k.item {
		switch {
		case isFirst:
			items[a] = values[c]
		case k.isProduct:
			items[a] *= values[c]
		default:
			items[a] += values[c]
		}
	}
}

func (k *files) gram(ctx context.Context, _ param.Values, _ []int) (classify.Gram, param.Values, error) {
	m := len(k.item)
	g := sparse.BlockOf(m, m, make([]float64, m*m))
	err := k.read(ctx, "reading", func(row int, values []float64) {
		if a := k.itemOf[row]; a >= 0 {
			copy(g.Data[a*m:], values)
		}
	})
	if err != nil {
		return nil, nil, err
	}
	const fix = "a kernel is symmetric, are the ids in the order of the rows and columns?"
	if i, j := unevenOf(g.Data, m); i != j {
		a, b := k.cols.ID(k.item[i]), k.cols.ID(k.item[j])
		return nil, nil, faultOf(k.name, fix, "K(%q, %q) is %g, but K(%q, %q) is %g", a, b,
			g.Data[i*m+j], b, a, g.Data[j*m+i])
	}
	return classify.DenseGram(g), param.Values{}, nil
}

// unevenOf returns the first i and j with |K(i, j) − K(j, i)| > 1e-5·max|K|, or 0, 0. The bound allows for single precision
// and for iterations.
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

// classify learns from the values between the items, and reads all values again to score each row.
func (k *files) classify(ctx context.Context,
	set *engine.Settings) (*items.Classified, error) {
	k.progress = set.Progress
	given := *set
	given.Fixed = true
	s := &items.Source{Kernel: new(param.Spec), Learner: k.learner, Calibrate: k.in.Calibrate, Items: k.rows.N, Gram: k.gram,
		Rows: func(ctx context.Context, visit func(i, item int, values []float64)) error {
			return k.read(ctx, "scoring", func(row int, values []float64) { visit(row, k.itemOf[row], values) })
		}}
	labelled := sched.UpTo(len(k.labels.Row))
	c, err := s.Classify(ctx, problem.OfItems(len(k.item), labelled, k.labels.Class, k.labels.Names), &given)
	if err == nil {
		err = c.Unfinished
	}
	wrong := new(problem.Error)
	if errors.As(err, &wrong) && !errors.Is(err, classify.ErrIterationLimit) {
		return nil, faultOf(k.name, "are these the values of a kernel?", "%s: %v",
			wrong.Method, wrong.Err)
	}
	return c, err
}
