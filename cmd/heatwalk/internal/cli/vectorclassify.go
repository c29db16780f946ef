package cli

import (
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/method/ongram"
	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/tablefile"
)

// vectorClassified is the JSON document of classify --vectors.
type vectorClassified struct {
	learned
	Nodes            int         `json:"nodes"`
	Kernel           string      `json:"kernel"`
	Attributes       int         `json:"attributes"`
	KernelParameters spec.Values `json:"kernel_parameters"`
	Learner          string      `json:"learner"`
	Parameters       spec.Values `json:"parameters"`
	Settings         int         `json:"settings"`
	Support          int         `json:"support,omitempty"`
}

// checkVectorClassify notes what is wrong with the flags of f together, and finds the
// kernel, the learner and their parameters.
func (in *invocation) checkVectorClassify(cmd *cobra.Command, _ []string, f *classifyFlags) {
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
		f.gram.stated, _ = in.given(cmd.Flags(), &l.Spec)
		takes = append(takes, l.Takes()...)
	}
	in.checkVectors(cmd, &f.vectors, f.kernel, takes)
}

// runVectorClassify learns from the records with a class and labels the others.
func (in *invocation) runVectorClassify(_ string, f *classifyFlags) error {
	o, err := in.beginProduct(f.out, isScoreMatrix(f.out))
	if err != nil {
		return err
	}
	defer o.abort()
	a, l, truth, err := in.readRecords(f)
	if err != nil {
		return err
	}
	kernel, learner, columns := f.vectors.kernel, f.gram.learner, f.columns(l)
	given := maps.Clone(f.vectors.stated)
	maps.Copy(given, f.gram.stated)
	all := &ongram.Records{
		Table: a, Labels: l, Kernel: kernel, Learner: learner, Given: given,
		Calibrate: f.kind == "probability", RNGSeed: uint64(in.seed), Progress: in.progress.Phases(),
	}
	if err := in.keepWithin(in.dataNeeds(o.predictionBytes(columns, tablefile.AxisOf(a.IDs)), all.Memory())); err != nil {
		return err
	}
	r, err := all.Classify(in.ctx)
	if err != nil {
		return learnError(recordError(err, a), a.File)
	}
	in.warnNumbers(&f.vectors, a)
	items := &found{
		ids: tablefile.AxisOf(a.IDs), rawNames: r.ScoreNames(l.Names),
		raw: func(i int, row []float64) { copy(row, r.Scores.Row(i)) },
		line: func(i int, p *tablefile.Prediction) {
			p.Label, p.Reached = l.Names[r.Class[i]], true
			r.SharesTo(p.Scores, r.Scores.Row(i))
		},
	}
	if err := o.write(items, columns, f.kind != "probability", f.gram.dtype); err != nil {
		return err
	}
	d := &vectorClassified{
		learned: o.learned(l), Nodes: a.Len(), Kernel: kernel.Name, Attributes: len(a.Columns), KernelParameters: r.Kernel,
		Learner: learner.Name, Parameters: r.Learner, Settings: r.Choice.Settings,
	}
	d.estimate(r.Choice.Accuracy, r.Choice.Stderr, r.Choice.Tested)
	learned := fmt.Sprintf("%s of %s%s", d.Learner, words.Counted(int64(d.Labelled), "label"), taken(&learner.Spec, r.Learner))
	if m, ok := r.Model.(interface{ Support() int }); ok && m.Support() > 0 {
		d.Support = m.Support()
		learned += " · " + words.Count(int64(d.Support)) + " support vectors"
	}
	reached := roaring.New()
	reached.AddRange(0, uint64(d.Nodes))
	d.Truth = in.compare(r.Class, reached, l, truth, "record")
	lines := []string{
		fmt.Sprintf("%s labelled · %s", words.Counted(int64(d.Nodes-d.Labelled), "record"), kernelOf(kernel, r.Kernel, a)),
		learned, d.estimated(), d.Skipped.String(), d.compared(f.truth, "record"),
	}
	if lines[2] != "" {
		lines[2] += ", best of " + words.Counted(int64(d.Settings), "setting")
	}
	if f.labels == "" {
		lines[3] = ""
	}
	return o.finish(d, nil, map[string]spec.Values{kernel.Name: r.Kernel, learner.Name: r.Learner}, lines...)
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
		err = fault.Usage("--labels", "no column of %s is titled as one of classes; name it with --class, or give --labels FILE", a.File)
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
	return nil, nil, nil, fault.Data(fmt.Sprintf("%s:%d", a.File, a.Line[first.Record]), "%s is %s, which it is in no record with a label%s; pass --unknown-values=missing to take it for a missing value",
		a.Columns[first.Column].Name, quoted(first.Value), others)
}

// learnError names the learner, and the place of what it was given, in errors of it.
func learnError(err error, place string) error {
	wrong := new(ongram.LearnError)
	if !errors.As(err, &wrong) {
		return err
	}
	if wrong.Limit {
		return fault.Machine(err, place, "%s: the iteration limit came before the tolerance; give parameters that regularise more", wrong.Learner)
	}
	return fault.Machine(err, place, "%s; take another learner or kernel", strings.TrimPrefix(err.Error(), "ongram: "))
}
