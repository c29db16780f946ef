package cli

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/method/ongram"
	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/tablefile"
)

// gramRun is a run of classify on kernel values from a file.
type gramRun struct {
	in         *invocation
	f          *classifyFlags
	out        *denseOutput
	file       *tablefile.File
	others     []*tablefile.File // that the kernel is combined with
	rows, cols axis
	row        *shard.Nodes // rows by id
	l          *nodefile.Labels

	item   []int // the column of each item of the Gram, the labelled ones first, in the order of their labels
	class  []int // of each item
	itemOf []int // the item that each row of the file is, -1 for none
	gram   *classify.DenseGram[float64]
	model  *ongram.Machine
}

// gramDocument is the JSON document of classify --gram.
type gramDocument struct {
	Output     string       `json:"output"`
	Rows       int          `json:"rows"`
	Labelled   int          `json:"labelled"`
	Skipped    skippedLines `json:"skipped_label_lines"`
	Classes    []string     `json:"classes"`
	Columns    []string     `json:"columns"`
	Learner    string       `json:"learner"`
	Parameters spec.Values  `json:"parameters"`
	Closing
}

// runGram reads the kernel twice: the rows of the items to learn from, and then all
// rows to score them.
func (in *invocation) runGram(f *classifyFlags) (err error) {
	in.keeps(f.out)
	files := &outputs{in: in}
	defer files.abort()
	r := &gramRun{in: in, f: f}
	if r.out, err = files.beginDense(f.out); err != nil {
		return err
	}
	for _, step := range []func() error{r.open, r.label, r.choose, r.plan, r.read, r.fit} {
		if err := step(); err != nil {
			return err
		}
	}
	write := writeScores[float32]
	if f.gram.dtype == "float64" {
		write = writeScores[float64]
	}
	if err := write(r); err != nil {
		return err
	}
	if err := in.writeRun(r.out.run, nil, f.gram.values); err != nil {
		return err
	}
	if err := files.commit(); err != nil {
		return err
	}
	return r.report()
}

// open finds out what the file is like and what its rows and columns are.
func (r *gramRun) open() (err error) {
	name := r.f.gram.file
	if r.file, err = tablefile.Inspect(r.in.ctx, name, &tablefile.Options{Name: name}); err != nil {
		if errors.Is(err, tablefile.ErrStream) {
			return usageOf("--gram", "%s can be read once, and the kernel is read twice; give a plain file", name)
		}
		return err
	}
	if r.rows, err = r.in.axisOfFile(r.file, "rows"); err != nil {
		return err
	}
	if r.cols, err = r.in.axisOfFile(r.file, "cols"); err != nil {
		return err
	}
	if err := r.openOthers(); err != nil {
		return err
	}
	r.row, err = r.nodes("rows", r.rows)
	return err
}

// nodes returns the ids of an axis, each of which is to stand there once.
func (r *gramRun) nodes(which string, a axis) (*shard.Nodes, error) {
	var ids shard.NodesBuilder
	for i := range a.N {
		ids.Append(a.ID(i))
	}
	nodes, err := ids.Nodes()
	if err != nil {
		return nil, &dataError{r.f.gram.file, fmt.Sprintf("its %s cannot be told apart: %s; give each an id of its own", which, strings.TrimPrefix(err.Error(), "shard: "))}
	}
	return nodes, nil
}

// columnLookup finds the columns of ids, and remembers what is none.
type columnLookup struct {
	*shard.Nodes
	found  bool
	absent string
}

// Lookup implements [nodefile.Lookup].
func (c *columnLookup) Lookup(id string) (int, bool) {
	row, ok := c.Nodes.Lookup(id)
	if ok {
		c.found = true
	} else {
		c.absent = id
	}
	return row, ok
}

// label reads the labels of the columns.
func (r *gramRun) label() error {
	nodes, err := r.nodes("columns", r.cols)
	if err != nil {
		return err
	}
	columns := &columnLookup{Nodes: nodes}
	r.l, err = nodefile.ReadLabels(r.in.ctx, r.f.labels, columns, &nodefile.LabelConfig{
		SkipUnknown: true, Stdin: r.in.stdin, Warn: func(text string) { r.in.warn("%s", text) },
	})
	var parse *nodefile.ParseError
	switch {
	case errors.As(err, &parse) && !columns.found && columns.absent != "":
		return &dataError{r.f.labels, fmt.Sprintf("none of its ids (the last %s) is that of a column of %s; label the columns", quoted(columns.absent), r.f.gram.file)}
	case err != nil:
		return err
	case r.l.Unknown > 0 && r.f.config.UnknownIDs != ingest.SkipUnknown:
		return &dataError{r.f.labels, fmt.Sprintf("has %s of no column of %s, such as %s; label the columns alone, or pass --unknown-ids=skip",
			counted(int64(r.l.Unknown), "id"), r.f.gram.file, quoted(columns.absent))}
	}
	return r.l.Trainable()
}

// choose lists the items of the Gram and finds their rows.
func (r *gramRun) choose() error {
	learner := r.f.gram.learner
	class := evaluate.ClassOfRow(r.l, r.cols.N)
	r.item = append(r.item, r.l.Row...)
	r.class = append(r.class, r.l.Class...)
	for c := range r.cols.N {
		if class[c] != evaluate.Unlabelled {
			continue
		}
		if r.rows.N != r.cols.N { // the columns are not all nodes
			return &dataError{r.f.labels, fmt.Sprintf("has no label for %s, a column of %s; label every column, or give a kernel between all nodes",
				quoted(r.cols.ID(c)), r.f.gram.file)}
		}
		if learner.Whole {
			r.item, r.class = append(r.item, c), append(r.class, -1)
		}
	}
	r.itemOf = make([]int, r.rows.N)
	for i := range r.itemOf {
		r.itemOf[i] = -1
	}
	for a, c := range r.item {
		row, ok := r.row.Lookup(r.cols.ID(c))
		if !ok {
			return &dataError{r.f.gram.file, fmt.Sprintf("the column of %s has no row; the rows are to hold all nodes", quoted(r.cols.ID(c)))}
		}
		r.itemOf[row] = a
	}
	if learner.Whole && len(r.item) < r.rows.N {
		return &dataError{r.f.gram.file, fmt.Sprintf("%s needs the kernel between all nodes, and %s of %s have no column; give a column for every row",
			learner.Name, formatCount(int64(r.rows.N-len(r.item))), counted(int64(r.rows.N), "row"))}
	}
	return nil
}

// plan keeps the run to what it takes.
func (r *gramRun) plan() error {
	n, err := r.needs()
	if exitCode(err) == exitLimit {
		err = &overError{err, r.in.enough(r.needs)}
	}
	if err != nil {
		return err
	}
	return r.in.keepTo(n)
}

// needs returns what the run takes.
func (r *gramRun) needs() (*needs, error) {
	n := new(needs)
	n.Limit = r.in.dataLimit()
	m, k := len(r.item), len(r.l.Names)
	held := 8*int64(m)*int64(m) + 16*int64(r.cols.N)
	if r.in.estimating {
		n.disk = r.out.bytes(r.rows, axis{N: max(k, k*(k-1)/2)}, 8) + runFileBytes + r.rows.Bytes()
	}
	err := n.Reserve(learnerBytes+112*int64(r.rows.N+r.cols.N), "ids and labels")
	if err == nil {
		err = n.Reserve(held+r.file.Bytes(8), "kernel values")
	}
	if learner := r.f.gram.learner; err == nil && learner.Memory != nil {
		err = n.Reserve(learner.Memory(m, k), learner.Name)
	}
	return n, err
}

// each visits the rows of the file with all their values and those of the items. The slices
// are valid during the call.
func (r *gramRun) each(doing string, visit func(i int, values, row []float64) error) error {
	stage := r.in.progress.begin(doing, int64(r.rows.N), "row")
	row := make([]float64, len(r.item))
	i := 0
	combine, stop := r.combined()
	defer stop()
	return tablefile.Read(r.in.ctx, r.file, func(_ []byte, values []float64) error {
		if err := combine(values); err != nil {
			return err
		}
		for a, c := range r.item {
			row[a] = values[c]
		}
		i++
		stage.set(int64(i), int64(r.rows.N))
		return visit(i-1, values, row)
	})
}

// read takes the values between the items.
func (r *gramRun) read() error {
	m := len(r.item)
	r.gram = &classify.DenseGram[float64]{N: m, Stride: m, Data: make([]float64, m*m)}
	same := r.beginSame()
	err := r.each("reading", func(i int, values, row []float64) error {
		same.add(i, values)
		if a := r.itemOf[i]; a >= 0 {
			copy(r.gram.Data[a*m:], row)
		}
		return nil
	})
	if err != nil {
		return err
	}
	var uneven *classify.AsymmetryError
	if errors.As(r.gram.CheckSymmetric(), &uneven) {
		i, j := quoted(r.cols.ID(r.item[uneven.I])), quoted(r.cols.ID(r.item[uneven.J]))
		return &dataError{r.f.gram.file, fmt.Sprintf("K(%s, %s) is %g, but K(%s, %s) is %g; a kernel is symmetric, are the ids in the order of the rows and columns?",
			i, j, uneven.IJ, j, i, uneven.JI)}
	}
	if row := same.uneven(); row >= 0 {
		return &dataError{r.f.gram.file, fmt.Sprintf("the row of %s is not like its column; a kernel is symmetric, are the ids in the order of the rows and columns?",
			quoted(r.rows.ID(row)))}
	}
	return nil
}

// sameSums tells by weighted sums whether a kernel between all nodes, most of which is read
// and forgotten, is symmetric: Kw = Kᵀw for random weights w.
type sameSums struct {
	column  []int     // of each row
	weight  []float64 // of each column
	row     []float64 // Σ_j K_ij·w_j
	down    []float64 // Σ_i K_ij·w_i
	largest float64
}

// beginSame returns sums of nothing, nil unless rows and columns are the same nodes.
func (r *gramRun) beginSame() *sameSums {
	n := r.rows.N
	if r.cols.N != n {
		return nil
	}
	s := &sameSums{make([]int, n), make([]float64, n), make([]float64, n), make([]float64, n), 0}
	rng := rand.New(rand.NewPCG(1, 2))
	for c := range n {
		s.weight[c] = 1 + rng.Float64()
		row, ok := r.row.Lookup(r.cols.ID(c))
		if !ok {
			return nil
		}
		s.column[row] = c
	}
	return s
}

func (s *sameSums) add(row int, values []float64) {
	if s == nil {
		return
	}
	w := s.weight[s.column[row]]
	for c, v := range values {
		s.row[row] += v * s.weight[c]
		s.down[c] += v * w
		s.largest = max(s.largest, math.Abs(v))
	}
}

// uneven returns a row whose sum is not that of its column but for what is left of single
// precision, −1 if there is none.
func (s *sameSums) uneven() int {
	if s == nil {
		return -1
	}
	for row, c := range s.column {
		if math.Abs(s.row[row]-s.down[c]) > 1e-5*s.largest*float64(len(s.column)) {
			return row
		}
	}
	return -1
}

// fit learns.
func (r *gramRun) fit() (err error) {
	r.in.progress.begin("learning", whole, inShares)
	g := &r.f.gram
	classes := len(r.l.Names)
	r.model, err = ongram.Learn(r.in.ctx, g.learner, r.gram, r.class, classes, g.values, r.f.kind == "probability")
	if wrong := new(ongram.LearnError); errors.As(err, &wrong) && !wrong.Limit {
		return &dataError{g.file, strings.TrimPrefix(err.Error(), "ongram: ") + "; are these the values of a kernel?"}
	}
	return learnError(err, g.file)
}

// columns returns what the scores are called: classes, or pairs of them.
func (r *gramRun) columns() []string {
	if r.f.kind == "probability" {
		return r.l.Names
	}
	return r.model.ScoreNames(r.l.Names)
}

// writeScores writes the scores, or probabilities, of every row.
func writeScores[T sparse.Float](r *gramRun) error {
	columns := r.columns()
	file, err := newDenseFile[T](r.out, r.rows, tablefile.AxisOf(columns), lines{label: func(int) string { return "0" }})
	if err != nil {
		return err
	}
	scores, values, out := make([]float64, len(r.model.Outputs())), make([]float64, len(columns)), make([]T, len(columns))
	err = r.each("scoring", func(i int, _, row []float64) error {
		own := math.NaN() // of no use to a learner that is given some columns
		if a := r.itemOf[i]; a >= 0 {
			own = row[a]
		}
		r.model.ScoresTo(scores, row, own)
		if r.f.kind == "probability" {
			r.model.SharesTo(values, scores)
		} else {
			copy(values, scores)
		}
		for c, v := range values {
			out[c] = T(v)
		}
		return file.Row(out)
	})
	if err != nil {
		return err
	}
	return file.Close()
}

func (r *gramRun) report() error {
	g := &r.f.gram
	d := &gramDocument{
		Output: r.f.out, Rows: r.rows.N, Labelled: len(r.l.Row), Skipped: skippedOf(r.l), Classes: r.l.Names,
		Columns: r.columns(), Learner: g.learner.Name, Parameters: g.values,
	}
	if r.in.json {
		d.Closing = r.in.closing()
		return r.in.document(d)
	}
	w := r.in.summary(r.f.out)
	taken := g.learner.Text(g.values)
	if taken != "" {
		taken = ", " + taken
	}
	fmt.Fprintf(w, "%s × %s of %s from %s%s\n", counted(int64(d.Rows), "row"), counted(int64(len(d.Columns)), "column"),
		d.Learner, counted(int64(d.Labelled), "label"), taken)
	if skipped := d.Skipped.String(); skipped != "" {
		fmt.Fprintln(w, skipped)
	}
	if r.f.out != "-" {
		fmt.Fprintf(w, "%s: %s\n", r.f.out, r.in.cost())
	}
	return r.in.stdout.err
}
