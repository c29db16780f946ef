package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/method/ongram"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/tablefile"
)

// gramFlags are the flags of classify for kernel values from a file.
type gramFlags struct {
	file    string
	files   []string // whose kernels are combined; one: only its kernel
	combine string
	dtype   string
	learner *classify.Learner
	stated  spec.Values // parameters of the learner that were given
	values  spec.Values // all of them
}

// How the kernels of several files become one. Both are kernels if these are.
const (
	sumOfKernels     = "sum"
	productOfKernels = "product"
)

// gramFlags declares the flags of f.
func (in *invocation) gramFlags(flags *pflag.FlagSet, f *gramFlags) {
	flags.StringVar(&f.file, "gram", "", "`FILE` of kernel values to learn from in place of a graph: rows of all nodes, columns of the labelled ones; of several FILE,FILE their sum or product")
	in.choiceVar(flags, &f.combine, "combine", sumOfKernels, []string{sumOfKernels, productOfKernels}, "with --gram FILE,FILE: what becomes of the kernels")
	in.choiceVar(flags, &f.dtype, "dtype", "float32", []string{"float32", "float64"}, "with --gram or -o FILE.npy: precision of scores")
}

// checkScores notes scores that the output does not hold.
func (in *invocation) checkScores(flags *pflag.FlagSet, f *classifyFlags) {
	matrix := matrixFormatOf(f.out, scoreFormats) != nil
	switch {
	case !matrix && (f.kind == "raw" || f.kind != "" && f.vectors.file == ""):
		in.problem("--scores", "%s scores alone are a matrix; write -o FILE.npy, or give all, none or top=K", f.kind)
	case matrix && f.kind == "" && flags.Changed("scores"):
		in.problem("--scores", "a matrix has all of them; give raw or probability")
	}
	in.refuse(flags, rule{!matrix, "dtype", "makes a difference with --gram FILE or -o FILE.npy only; leave it out"})
}

// checkGram notes what is wrong with the flags of f together, and finds the learner
// and its parameters.
func (in *invocation) checkGram(cmd *cobra.Command, _ []string, f *classifyFlags) {
	flags := cmd.Flags()
	if !flags.Changed("output") {
		f.out = "" // which is not stdout here
	}
	if f.gram.files = strings.Split(f.gram.file, ","); isThere(f.gram.file) {
		f.gram.files = []string{f.gram.file}
	}
	in.checkOutput("-o", f.out, gramFormats, append(f.gram.files, f.labels)...)
	in.require(flags, "labels", "learner")
	in.refuse(flags,
		rule{len(f.gram.files) == 1, "combine", "is about several kernels; give --gram FILE,FILE"},
		rule{f.gram.files[0] == "-", "gram", "stdin can be read once, and the kernel is read twice; give a file"},
	)
	switch matrix := matrixFormatOf(f.out, gramFormats) != nil; {
	case !matrix && f.kind != "":
		in.problem("--scores", "%s scores alone are a matrix; write -o FILE.npy, or give all, none or top=K", f.kind)
	case matrix && f.kind == "" && flags.Changed("scores"):
		in.problem("--scores", "a matrix has all of them; give raw or probability")
	}
	l := classify.Learners().Named(f.learner)
	if l == nil {
		return
	}
	f.gram.learner = l
	own := append([]string{"gram", "labels", "learner", "scores", "dtype", "output", "unknown-ids", "combine"}, l.Takes()...)
	in.notTaken(cmd, own, func(string) string {
		return l.Name + " has no such parameter; " + itTakes(l.Takes(), "it takes nothing but labels")
	})
	_, f.gram.values = in.given(flags, &l.Spec)
}

// gramFormats are the endings of predictions, and of scores alone.
var gramFormats = slices.Concat(tablefile.PredictionEndings, denseFormats)

// gramDocument is the JSON document of classify --gram.
type gramDocument struct {
	learned
	Rows       int         `json:"rows"`
	Columns    []string    `json:"columns"`
	Learner    string      `json:"learner"`
	Parameters spec.Values `json:"parameters"`
}

// runGram learns from kernel values in files, and scores all rows.
func (in *invocation) runGram(_ string, f *classifyFlags) error {
	o, err := in.beginProduct(f.out, matrixFormatOf(f.out, gramFormats))
	if err != nil {
		return err
	}
	g := &f.gram
	k := &ongram.Files{
		Paths: g.files, Product: g.combine == productOfKernels, LabelFile: f.labels, Labelling: in.labelConfig(&f.reading, ""),
		Learner: g.learner, Values: g.values, Shares: f.kind == "probability" || o.format == nil, Progress: in.progress.Phases(),
	}
	if err = k.Open(in.ctx); err == nil {
		err = k.Labels.Trainable()
	}
	if err != nil {
		return err
	}
	classes := len(k.Labels.Names)
	predictions := tablefile.Columns{Classes: k.Labels.Names, Top: f.scores}
	disk := o.predictionBytes(predictions, k.Rows)
	if o.format != nil {
		disk = o.format.Size(k.Rows.N, max(classes, classes*(classes-1)/2), "float64") + runFileBytes + idBytes(k.Rows)
	}
	if err := in.keepData(disk, k.Bytes()); err != nil {
		return err
	}
	columns, next, stop, err := k.Scores(in.ctx)
	if wrong := new(problem.Error); errors.As(err, &wrong) && !errors.Is(err, classify.ErrIterationLimit) {
		return fault.Data(g.files[0], "%s; are these the values of a kernel?", unlearned(wrong))
	}
	if err != nil {
		return learnError(err, g.files[0])
	}
	defer stop()
	if o.format == nil {
		err = in.writeGram(o, k, predictions, next)
	} else {
		err = o.fill(g.dtype, &tablefile.Matrix{Rows: k.Rows, Cols: tablefile.AxisOf(columns)}, func(_ int, row []float64) error {
			_, err := next(row)
			return err
		})
	}
	if err != nil {
		return err
	}
	d := &gramDocument{learned: o.learned(k.Labels), Rows: k.Rows.N, Columns: columns, Learner: g.learner.Name, Parameters: g.values}
	return o.finish(d, nil, g.values, fmt.Sprintf("%s × %s of %s from %s%s", words.Counted(d.Rows, "row"), words.Counted(len(columns), "column"),
		d.Learner, words.Counted(d.Labelled, "label"), taken(&g.learner.Spec, g.values)), d.Skipped.String())
}

// writeGram writes predictions as for the nodes of a graph: a label and a score of each class
// for every row. next returns those of the next row, and the error ends the run.
func (in *invocation) writeGram(o *product, k *ongram.Files, columns tablefile.Columns, next func(dst []float64) (class int, err error)) (err error) {
	scores := make([]float64, len(k.Labels.Names))
	f := &found{ids: k.Rows, line: func(_ int, p *tablefile.Prediction) {
		if err != nil {
			return
		}
		var class int
		if class, err = next(scores); err != nil {
			return
		}
		p.Label, p.Reached = k.Labels.Names[class], true
		copy(p.Scores, scores)
	}}
	return cmp.Or(o.write(f, columns, false, ""), err)
}

// taken says behind a comma with what parameters something was done, "" without any.
func taken(s *spec.Spec, v spec.Values) string {
	if text := s.Text(v); text != "" {
		return ", " + text
	}
	return ""
}

// keepData checks a run without a graph against its limits on disk and memory.
func (in *invocation) keepData(disk, bytes int64) error {
	return in.take(nil, func() (*budget.Needs, error) {
		n := in.needs()
		n.Disk = disk
		return n, n.Reserve(learnerBytes+bytes, "data and learner")
	})
}

// learnError names the learner, and the place of what it was given, in errors of it.
func learnError(err error, place string) error {
	wrong := new(problem.Error)
	if !errors.As(err, &wrong) {
		return err
	}
	if errors.Is(err, classify.ErrIterationLimit) {
		return fault.Machine(err, place, "%s: the iteration limit came before the tolerance; give parameters that regularise more", wrong.Method)
	}
	return fault.Machine(err, place, "%s; take another learner or kernel", unlearned(wrong))
}

// unlearned names a learner, and tells why it has not learned.
func unlearned(e *problem.Error) string {
	return e.Method + ": " + strings.TrimPrefix(e.Err.Error(), "classify: ")
}
