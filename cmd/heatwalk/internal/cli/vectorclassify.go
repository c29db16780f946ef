package cli

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/method/ongram"
	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/tablefile"
)

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
	o, err := in.beginProduct(f.out, isScoreMatrix(f.out))
	if err != nil {
		return err
	}
	defer o.abort()
	a, l, truth, err := in.readRecords(f)
	if err != nil {
		return err
	}
	learner := f.gram.learner
	n, k := int64(a.Len()), len(l.Names)
	bytes := learnerBytes + 16*n + 8*n*int64(k*k)
	if learner.Memory != nil {
		bytes += learner.Memory(len(l.Row), k)
	}
	if err := in.planVectors(a, bytes, n*int64(16+10*k)+runFileBytes); err != nil {
		return err
	}
	given := maps.Clone(f.vectors.stated)
	maps.Copy(given, f.gram.stated)
	r, err := (&ongram.Records{
		Table: a, Labels: l, Kernel: f.vectors.kernel, Learner: learner, Given: given,
		Calibrate: f.kind == "probability", RNGSeed: uint64(in.seed), Progress: in.progress.Phases(),
	}).Classify(in.ctx)
	if err != nil {
		return learnError(recordError(err, a), a.File)
	}
	in.warnNumbers(&f.vectors, a)
	f.vectors.values, f.gram.values = r.Kernel, r.Learner
	records := &found{ids: tablefile.AxisOf(a.IDs), rawNames: r.ScoreNames(l.Names)}
	records.raw = func(i int, row []float64) { copy(row, r.Scores.Row(i)) }
	records.line = func(i int, p *tablefile.Prediction) {
		p.Label, p.Reached = l.Names[r.Class[i]], true
		r.SharesTo(p.Scores, r.Scores.Row(i))
	}
	if err := records.write(o, tablefile.Columns{Classes: l.Names, Top: f.scores}, f.kind != "probability", f.gram.dtype); err != nil {
		return err
	}
	if err := o.publish(nil, map[string]spec.Values{f.vectors.kernel.Name: r.Kernel, learner.Name: r.Learner}); err != nil {
		return err
	}
	d := &vectorClassified{
		Output: f.out, Nodes: a.Len(), Labelled: len(l.Row), Skipped: skippedOf(l), Classes: l.Names,
		Kernel: f.vectors.kernel.Name, Attributes: len(a.Columns), KernelParameters: r.Kernel,
		Learner: learner.Name, Parameters: r.Learner, Settings: r.Choice.Settings,
	}
	if r.Choice.Tested > 0 {
		d.AccuracyEstimate, d.AccuracyStderr = &r.Choice.Accuracy, &r.Choice.Stderr
	}
	if m, ok := r.Model.(interface{ Support() int }); ok {
		d.Support = m.Support()
	}
	all := roaring.New()
	all.AddRange(0, uint64(d.Nodes))
	d.Truth = in.compare(r.Class, all, l, truth, "record")
	return in.tell(d, func(w io.Writer) { d.print(w, f, a); in.printCost(w, f.out) }, f.out)
}

// readRecords reads the table, the labels of its records and, if there are any, the true
// ones. The values of the records with a label become the alphabets.
func (in *invocation) readRecords(f *classifyFlags) (a *nodefile.Attributes, l, truth *nodefile.Labels, err error) {
	if a, err = in.readVectors(&f.vectors, f.config.Header); err != nil {
		return nil, nil, nil, err
	}
	read := func(path string) (*nodefile.Labels, error) { return in.readLabelsOf(path, a, &f.reading, false) }
	if f.labels != "" {
		l, err = read(f.labels)
	} else if a.Class == nil {
		err = usageOf("--labels", "no column of %s is titled as one of classes; name it with --class, or give --labels FILE", a.File)
	} else {
		l, err = a.Labels()
	}
	if err == nil && f.truth != "" {
		truth, err = read(f.truth)
	}
	if err == nil {
		err = l.Trainable()
	}
	if err != nil || f.vectors.kernel.Texts {
		return a, l, truth, err
	}
	unknown := a.Restrict(l.Row)
	if len(unknown) == 0 || f.unknownValues == "missing" {
		return a, l, truth, nil
	}
	others := ""
	if n := len(unknown) - 1; n > 0 {
		others = fmt.Sprintf(" (nor %s like it)", words.Counted(int64(n), "other value"))
	}
	first := unknown[0]
	return nil, nil, nil, &dataError{fmt.Sprintf("%s:%d", a.File, a.Line[first.Record]),
		fmt.Sprintf("%s is %s, which it is in no record with a label%s; pass --unknown-values=missing to take it for a missing value",
			a.Columns[first.Column].Name, quoted(first.Value), others)}
}

// learnError names the learner, and the place of what it was given, in errors of it.
func learnError(err error, place string) error {
	wrong := new(ongram.LearnError)
	if !errors.As(err, &wrong) {
		return err
	}
	if wrong.Limit {
		return &machineError{place, wrong.Learner + ": the iteration limit came before the tolerance; give parameters that regularise more", err}
	}
	return &machineError{place, strings.TrimPrefix(err.Error(), "ongram: ") + "; take another learner or kernel", err}
}

// print says what was done.
func (d *vectorClassified) print(w io.Writer, f *classifyFlags, a *nodefile.Attributes) {
	fmt.Fprintf(w, "%s labelled · %s\n", words.Counted(int64(d.Nodes-d.Labelled), "record"), f.vectors.describe(a))
	learned := d.Learner + " of " + words.Counted(int64(d.Labelled), "label")
	if taken := f.gram.learner.Text(d.Parameters); taken != "" {
		learned += ", " + taken
	}
	if d.Support > 0 {
		learned += " · " + words.Count(int64(d.Support)) + " support vectors"
	}
	fmt.Fprintln(w, learned)
	if d.AccuracyEstimate != nil {
		fmt.Fprintf(w, "cross-validated accuracy %.1f ± %.1f %%, best of %s\n", 100**d.AccuracyEstimate, 100**d.AccuracyStderr, words.Counted(int64(d.Settings), "setting"))
	}
	if text := d.Skipped.String(); text != "" && f.labels != "" {
		fmt.Fprintln(w, text)
	}
	printTruth(w, d.Truth, f.truth, "record")
}
