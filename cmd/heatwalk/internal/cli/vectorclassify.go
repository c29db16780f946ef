package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/kernel/closed"
	"github.com/heatwalk/heatwalk/method/ongram"
	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/tablefile"
	"github.com/heatwalk/heatwalk/validate"
)

// vectorRun is a run of classify on a table.
type vectorRun struct {
	in    *invocation
	f     *classifyFlags
	run   io.Writer
	text  io.Writer    // of predictions
	dense *denseOutput // of scores alone, in their place

	a      *nodefile.Attributes
	l      *nodefile.Labels
	truth  *nodefile.Labels // nil: none
	choice *validate.Choice // of parameters that were not given
	gram   *closed.Gram
	model  classify.Model

	scores        *sparse.Block[float64] // of each record, as the model gives them
	label         []int
	probabilities func(dst, scores []float64) []float64 // nil: the learner has none
}

// vectorClassified is the JSON document of classify --vectors.
type vectorClassified struct {
	Output           string          `json:"output"`
	Nodes            int             `json:"nodes"`
	Labelled         int             `json:"labelled"`
	Skipped          skippedLines    `json:"skipped_label_lines"`
	Classes          []string        `json:"classes"`
	Kernel           string          `json:"kernel"`
	Attributes       int             `json:"attributes"`
	KernelParameters spec.Values     `json:"kernel_parameters"`
	Learner          string          `json:"learner"`
	Parameters       spec.Values     `json:"parameters"`
	Settings         int             `json:"settings"`
	AccuracyEstimate *float64        `json:"accuracy_estimate,omitempty"`
	AccuracyStderr   *float64        `json:"accuracy_stderr,omitempty"`
	Support          int             `json:"support,omitempty"`
	Truth            *evaluate.Truth `json:"truth,omitempty"`
	Closing
}

// checkVectorClassify notes what is wrong with the flags of f together, and finds the
// kernel, the learner and their parameters.
func (in *invocation) checkVectorClassify(cmd *cobra.Command, f *classifyFlags) {
	in.checkFormat("-o", f.out, append(predictionFormats, scoreFormats...))
	in.checkOutput("-o", f.out, f.vectors.file, f.labels, f.truth)
	in.checkStdin(f.vectors.file, f.labels, f.truth)
	in.checkScores(cmd.Flags(), f)
	if f.learner == "" {
		f.learner = classify.Learners()[0].Name
	}
	takes := []string{"learner", "labels", "label-fields", "unknown-ids", "unknown-values", "scores", "truth"}
	if l := classify.LearnerOf(f.learner); l != nil {
		f.gram.learner = l
		f.gram.stated, f.gram.values = in.given(cmd.Flags(), &l.Spec)
		takes = append(takes, l.Takes()...)
	}
	in.checkVectors(cmd, &f.vectors, f.kernel, takes)
}

// runVectorClassify learns from the records with a class and labels the others.
func (in *invocation) runVectorClassify(f *classifyFlags) error {
	in.keeps(f.out)
	files := &outputs{in: in}
	defer files.abort()
	r := &vectorRun{in: in, f: f}
	if err := r.begin(files); err != nil {
		return err
	}
	for _, step := range []func() error{r.read, r.restrict, r.plan, r.choose, r.fit, r.score, r.write} {
		if err := step(); err != nil {
			return err
		}
	}
	if err := in.writeRun(r.run, nil, map[string]spec.Values{f.vectors.kernel.Name: f.vectors.values, f.gram.learner.Name: f.gram.values}); err != nil {
		return err
	}
	if err := files.commit(); err != nil {
		return err
	}
	return r.report()
}

// begin begins the output.
func (r *vectorRun) begin(files *outputs) (err error) {
	if isScoreMatrix(r.f.out) {
		if r.dense, err = files.beginDense(r.f.out); err == nil {
			r.run = r.dense.run
		}
		return err
	}
	if r.text, err = files.begin(r.f.out); err != nil {
		return err
	}
	r.run, err = files.beside(r.f.out, "", ".run.json")
	return err
}

// read reads the table and the labels.
func (r *vectorRun) read() (err error) {
	if r.a, err = r.in.readVectors(&r.f.vectors, r.f.config.Header); err != nil {
		return err
	}
	if r.f.labels != "" {
		r.l, err = r.labels(r.f.labels)
	} else if r.a.Class == nil {
		return usageOf("--labels", "no column of %s is titled as one of classes; name it with --class, or give --labels FILE", r.a.File)
	} else {
		r.l, err = r.a.Labels()
	}
	if err != nil {
		return err
	}
	if r.f.truth != "" {
		if r.truth, err = r.labels(r.f.truth); err != nil {
			return err
		}
	}
	return r.l.Trainable()
}

// labels reads a file of labels of records.
func (r *vectorRun) labels(path string) (*nodefile.Labels, error) {
	c := r.in.labelling
	c.SkipUnknown, c.Stdin = r.f.config.UnknownIDs == ingest.SkipUnknown, r.in.stdin
	c.Warn = func(text string) { r.in.warn("%s", text) }
	return nodefile.ReadLabels(r.in.ctx, path, r.a, &c)
}

// restrict makes the values of the records with a label the alphabets.
func (r *vectorRun) restrict() error {
	if r.f.vectors.kernel.Texts {
		return nil
	}
	values := make([]nodefile.Column, len(r.a.Columns))
	for i, c := range r.a.Columns {
		values[i] = nodefile.Column{Values: c.Values, Code: append([]int32(nil), c.Code...)}
	}
	unknown := r.a.Restrict(r.l.Row)
	if len(unknown) == 0 || r.f.unknownValues == "missing" {
		return nil
	}
	first := unknown[0]
	c := values[first.Column]
	others := ""
	if n := len(unknown) - 1; n > 0 {
		others = fmt.Sprintf(" (nor %s like it)", counted(int64(n), "other value"))
	}
	return &dataError{fmt.Sprintf("%s:%d", r.a.File, r.a.Line[first.Record]),
		fmt.Sprintf("%s is %s, which it is in no record with a label%s; pass --unknown-values=missing to take it for a missing value",
			r.a.Columns[first.Column].Name, quoted(c.Values[c.Code[first.Record]]), others)}
}

// plan keeps the run to what it takes.
func (r *vectorRun) plan() error {
	n, k := int64(r.a.Len()), len(r.l.Names)
	bytes := learnerBytes + 16*n + 8*n*int64(k*k)
	if learner := r.f.gram.learner; learner.Memory != nil {
		bytes += learner.Memory(int(n), k)
	}
	return r.in.planVectors(r.a, bytes, n*int64(16+10*k)+runFileBytes)
}

// triedLabels is how many labels parameters are chosen by.
const triedLabels = 1000

// choose chooses the parameters that are not given, by cross-validation on records with a
// label, and makes the kernel.
func (r *vectorRun) choose() (err error) {
	f := &r.f.vectors
	r.in.progress.begin("choosing parameters", whole, inShares)
	seen := validate.Sample(r.l.Class, triedLabels, uint64(r.in.seed), 0)
	s := &ongram.Search{Kernel: &f.kernel.Spec, Learner: r.f.gram.learner, Items: len(seen), Classes: len(r.l.Names), RNGSeed: uint64(r.in.seed)}
	tried := *r.a // the records of these labels
	tried.Columns, tried.IDs, tried.Line = slices.Clone(r.a.Columns), nil, nil
	for i := range tried.Columns {
		code := make([]int32, len(seen))
		for at, label := range seen {
			code[at] = r.a.Columns[i].Code[r.l.Row[label]]
		}
		tried.Columns[i].Code = code
	}
	for at, label := range seen {
		row := r.l.Row[label]
		tried.IDs, tried.Line = append(tried.IDs, r.a.IDs[row]), append(tried.Line, r.a.Line[row])
		s.Row, s.Class = append(s.Row, at), append(s.Class, r.l.Class[label])
	}
	s.Gram = func(_ context.Context, v spec.Values) (classify.Gram, error) {
		complete, err := f.kernel.Resolve(v, nil)
		if err != nil {
			return nil, err
		}
		return r.in.vectorGram(f, &tried, complete)
	}
	given := maps.Clone(f.stated)
	maps.Copy(given, r.f.gram.stated)
	if r.choice, err = s.Choose(r.in.ctx, given); err != nil {
		return r.failed(err)
	}
	if f.values, err = f.kernel.Resolve(f.kernel.Own(r.choice.Values), nil); err == nil {
		r.f.gram.values, err = s.Learner.Resolve(s.Learner.Own(r.choice.Values), nil)
	}
	if err == nil {
		r.in.warnNumbers(f, r.a)
		r.gram, err = r.in.vectorGram(f, r.a, f.values)
	}
	return err
}

// fit learns.
func (r *vectorRun) fit() (err error) {
	r.in.progress.begin("learning", whole, inShares)
	g, classes := &r.f.gram, len(r.l.Names)
	class := make([]int, r.a.Len())
	for row, c := range evaluate.ClassOfRow(r.l, r.a.Len()) {
		class[row] = int(c)
	}
	r.model, err = g.learner.Fit(r.in.ctx, r.gram, class, classes, g.values)
	if err == nil {
		if r.probabilities = g.learner.Probabilities; r.probabilities == nil && r.f.kind == "probability" {
			var c *classify.Calibration
			if c, err = classify.Calibrate(r.in.ctx, g.learner, r.model, r.gram, class, classes, g.values); err == nil {
				r.probabilities = c.ProbabilitiesTo
			}
		}
	}
	return r.failed(err)
}

// failed names the learner in errors of it.
func (r *vectorRun) failed(err error) error {
	name, wrong := r.f.gram.learner.Name, new(dataError)
	switch {
	case err == nil || errors.As(err, &wrong):
		return err
	case errors.Is(err, context.Canceled):
		return context.Cause(r.in.ctx)
	case errors.Is(err, classify.ErrIterationLimit):
		return &machineError{r.a.File, name + ": the iteration limit came before the tolerance; give parameters that regularise more", err}
	}
	return &machineError{r.a.File, fmt.Sprintf("%s: %s; take another learner or kernel", name, strings.TrimPrefix(err.Error(), "classify: ")), err}
}

// score scores every record, those that are alike once.
func (r *vectorRun) score() error {
	n := r.a.Len()
	r.scores, r.label = sparse.NewBlock[float64](n, len(r.model.Outputs())), make([]int, n)
	alike := r.gram.Alike()
	first := make([]int, 0, n)
	stage := r.in.progress.begin("scoring", int64(n), "record")
	row := make([]float64, n)
	for i, d := range alike {
		if r.in.ctx.Err() != nil {
			return context.Cause(r.in.ctx)
		}
		if d < len(first) {
			copy(r.scores.Row(i), r.scores.Row(first[d]))
		} else {
			first = append(first, i)
			r.gram.RowTo(row, i)
			r.model.ScoresTo(r.scores.Row(i), row, row[i])
		}
		r.label[i] = r.model.Outputs().Predict(r.scores.Row(i))
		stage.set(int64(i+1), int64(n))
	}
	for i, row := range r.l.Row {
		r.label[row] = r.l.Class[i]
	}
	return nil
}

// shares returns what the scores of a record say of each class, to sum to one.
func (r *vectorRun) shares(dst []float64, record int) []float64 {
	if r.probabilities != nil {
		return r.probabilities(dst, r.scores.Row(record))
	}
	return classify.SoftVotes{}.ScoresTo(dst, r.model.Outputs(), r.scores.Row(record))
}

// write writes predictions, or scores alone.
func (r *vectorRun) write() error {
	names := r.l.Names
	if r.dense != nil {
		if r.f.gram.dtype == "float64" {
			return writeVectorScores[float64](r)
		}
		return writeVectorScores[float32](r)
	}
	file := beginPredictions(r.text, formatOf(r.f.out, predictionFormats), tablefile.Columns{Classes: names, Top: r.f.scores})
	scores := make([]float64, len(names))
	for i, id := range r.a.IDs {
		p := tablefile.Prediction{Node: id, Label: names[r.label[i]], Reached: true, Scores: r.shares(scores, i)}
		if err := file.Write(&p); err != nil {
			return err
		}
	}
	return file.Close()
}

// writeVectorScores writes a matrix of scores as the model gives them, or of
// probabilities.
func writeVectorScores[T sparse.Float](r *vectorRun) error {
	columns := r.l.Names
	if r.f.kind != "probability" {
		columns = outputNames(r.model.Outputs(), r.l.Names)
	}
	file, err := newDenseFile[T](r.dense, axisOf(r.a.IDs), axisOf(columns), lines{})
	if err != nil {
		return err
	}
	shares, row := make([]float64, len(r.l.Names)), make([]T, len(columns))
	for i := range r.a.IDs {
		values := r.scores.Row(i)
		if r.f.kind == "probability" {
			values = r.shares(shares, i)
		}
		for c, v := range values {
			row[c] = T(v)
		}
		if err := file.Row(row); err != nil {
			return err
		}
	}
	return file.Close()
}

// report says what was done.
func (r *vectorRun) report() error {
	f := r.f
	d := &vectorClassified{
		Output: f.out, Nodes: r.a.Len(), Labelled: len(r.l.Row), Skipped: skippedOf(r.l), Classes: r.l.Names,
		Kernel: f.vectors.kernel.Name, Attributes: len(r.a.Columns), KernelParameters: f.vectors.values,
		Learner: f.gram.learner.Name, Parameters: f.gram.values, Settings: r.choice.Settings,
	}
	if r.choice.Tested > 0 {
		d.AccuracyEstimate, d.AccuracyStderr = &r.choice.Accuracy, &r.choice.Stderr
	}
	if m, ok := r.model.(interface{ Support() int }); ok {
		d.Support = m.Support()
	}
	if r.truth != nil {
		r.in.warnUnseen(r.l, r.truth)
		all := roaring.New()
		all.AddRange(0, uint64(d.Nodes))
		if d.Truth = evaluate.Compare(r.label, all, r.l, r.truth); d.Truth == nil {
			r.in.warn("%s: nothing to compare with; every record it labels is labelled in %s", r.truth.File, r.l.File)
		}
	}
	if r.in.json {
		d.Closing = r.in.closing()
		return r.in.document(d)
	}
	w := r.in.summary(f.out)
	fmt.Fprintf(w, "%s labelled · %s\n", counted(int64(d.Nodes-d.Labelled), "record"), f.vectors.describe(r.a))
	learned := f.gram.learner.Name + " of " + counted(int64(d.Labelled), "label")
	if taken := f.gram.learner.Text(f.gram.values); taken != "" {
		learned += ", " + taken
	}
	if d.Support > 0 {
		learned += " · " + formatCount(int64(d.Support)) + " support vectors"
	}
	fmt.Fprintln(w, learned)
	if d.AccuracyEstimate != nil {
		fmt.Fprintf(w, "cross-validated accuracy %.1f ± %.1f %%, best of %s\n", 100**d.AccuracyEstimate, 100**d.AccuracyStderr, counted(int64(d.Settings), "setting"))
	}
	if text := d.Skipped.String(); text != "" && f.labels != "" {
		fmt.Fprintln(w, text)
	}
	if t := d.Truth; t != nil {
		fmt.Fprintf(w, "against %s: accuracy %s of %s, macro-F1 %.3f\n", f.truth, formatPercent(t.Accuracy), counted(int64(t.Nodes), "record"), t.MacroF1)
	}
	if f.out != "-" {
		fmt.Fprintf(w, "%s · %s\n", r.in.cost(), f.out)
	}
	return r.in.stdout.err
}
