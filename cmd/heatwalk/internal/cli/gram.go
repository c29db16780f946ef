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
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/method/ongram"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/tablefile"
)

// gramFlags are the flags of gram classify.
type gramFlags struct {
	learnerFlags
	out     string
	labels  string
	combine string
	scores  scoreFlags
	unknown ingest.UnknownIDs
}

// learnerFlags name a learner with its parameters.
type learnerFlags struct {
	listed  string
	learner *classify.Learner
	given   spec.Values
	values  spec.Values // with the defaults of those that are not given
}

func (in *invocation) learnerFlag(flags *pflag.FlagSet, f *learnerFlags, initial string) {
	flags.StringVar(&f.listed, "learner", initial, "`SPEC` of the learner, as in svm:cost=10; see heatwalk methods")
}

// checkLearner finds the learner and its parameters.
func (in *invocation) checkLearner(f *learnerFlags) {
	if of, n := in.parseNamed("--learner", f.listed, learners()); of != nil {
		f.learner = classify.Learners().Named(n.Name)
		f.given, f.values = in.given("--learner", n.Given, of)
	}
}

// unknownFlag declares the flag about ids that are not in the data.
func (in *invocation) unknownIDsFlag(flags *pflag.FlagSet, p *ingest.UnknownIDs) {
	enumVar(in, flags, p, "unknown-ids", "", []string{"error", "skip"},
		[]ingest.UnknownIDs{ingest.ErrorUnknown, ingest.SkipUnknown}, "label lines whose id is unknown")
}

// How the kernels of several files become one. Both are kernels if these are.
const (
	sumOfKernels     = "sum"
	productOfKernels = "product"
)

func newGram(in *invocation) *cobra.Command {
	var f gramFlags
	classify := in.newCommand("classify K.npy... --labels L.tsv --learner SPEC -o OUT.npy", in.arguments("FILE of kernel values", 1, -1),
		"Learn from kernel values in files", func(cmd *cobra.Command, args []string) { in.checkGram(cmd, args, &f) },
		func(args []string) error { return in.runGram(args, &f) })
	flags := classify.Flags()
	flags.StringVarP(&f.out, "output", "o", "", "`FILE` of predictions: .tsv, .csv, .jsonl or .parquet; of scores alone .npy, .npz, .svm or .libsvm")
	in.labelFlags(flags, &f.labels, "`FILE` of node and label, one pair a line")
	in.learnerFlag(flags, &f.learnerFlags, "")
	in.choiceVar(flags, &f.combine, "combine", sumOfKernels, []string{sumOfKernels, productOfKernels}, "how to combine the kernels of several files")
	in.scoreFlags(flags, &f.scores)
	in.unknownIDsFlag(flags, &f.unknown)
	return in.newGroup("gram", "Learning from kernel values in a file", classify)
}

// checkGram finds the learner, and notes errors in the flags of f.
func (in *invocation) checkGram(cmd *cobra.Command, args []string, f *gramFlags) {
	flags := cmd.Flags()
	in.checkOutput("-o", f.out, gramFormats, append(args, f.labels)...)
	in.require(flags, "labels", "learner")
	in.refuse(flags,
		rule{len(args) == 1, "combine", "there is a single file; leave it out"},
	)
	matrix := matrixFormatOf(f.out, gramFormats) != nil
	switch {
	case !matrix && f.scores.kind != "":
		in.problem("--scores", "%s scores alone are a matrix; write -o FILE.npy, or give all, none or top=K", f.scores.kind)
	case matrix && f.scores.kind == "" && flags.Changed("scores"):
		in.problem("--scores", "a matrix has all of them; give raw or probability")
	}
	in.refuse(flags, rule{!matrix, "dtype", "makes a difference with -o FILE.npy only; leave it out"})
	if slices.Contains(args, "-") {
		in.problem("-", "stdin can be read once, and the kernel is read twice; give a file")
	}
	if flags.Changed("learner") {
		in.checkLearner(&f.learnerFlags)
	}
}

// gramFormats are the endings of predictions, and of scores alone.
var gramFormats = slices.Concat(tablefile.PredictionEndings, denseFormats)

// gramDocument is the JSON document of gram classify.
type gramDocument struct {
	learned
	Rows       int         `json:"rows"`
	Columns    []string    `json:"columns"`
	Learner    string      `json:"learner"`
	Parameters spec.Values `json:"parameters"`
}

// runGram learns from kernel values in files, and scores all rows.
func (in *invocation) runGram(files []string, f *gramFlags) error {
	o, err := in.beginProduct(f.out, matrixFormatOf(f.out, gramFormats))
	if err != nil {
		return err
	}
	k := &ongram.Files{
		Paths: files, Product: f.combine == productOfKernels, LabelFile: f.labels, Labelling: in.labelConfig(f.unknown, ""),
		Learner: f.learner, Values: f.values, Shares: f.scores.kind == "probability" || o.format == nil, Progress: in.progress.Phases(),
	}
	if err = k.Open(in.ctx); err == nil {
		err = k.Labels.Trainable()
	}
	if err != nil {
		return err
	}
	classes := len(k.Labels.Names)
	predictions := tablefile.Columns{Classes: k.Labels.Names, Top: f.scores.top}
	disk := o.predictionBytes(predictions, k.Rows)
	if o.format != nil {
		disk = o.format.Size(k.Rows.N, max(classes, classes*(classes-1)/2), "float64") + runFileBytes + idBytes(k.Rows)
	}
	if err := in.keepData(disk, k.Bytes()); err != nil {
		return err
	}
	columns, next, stop, err := k.Scores(in.ctx)
	if wrong := new(problem.Error); errors.As(err, &wrong) && !errors.Is(err, classify.ErrIterationLimit) {
		return fault.Data(files[0], "%s; are these the values of a kernel?", unlearned(wrong))
	}
	if err != nil {
		return learnError(err, files[0])
	}
	defer stop()
	if o.format == nil {
		err = writeGram(o, k, predictions, next)
	} else {
		err = o.fill(f.scores.dtype, &tablefile.Matrix{Rows: k.Rows, Cols: tablefile.AxisOf(columns)}, func(_ int, row []float64) error {
			_, err := next(row)
			return err
		})
	}
	if err != nil {
		return err
	}
	d := &gramDocument{learned: o.learned(k.Labels), Rows: k.Rows.N, Columns: columns, Learner: f.learner.Name, Parameters: f.values}
	return o.finish(d, nil, f.values, fmt.Sprintf("%s × %s of %s from %s%s", words.Counted(d.Rows, "row"), words.Counted(len(columns), "column"),
		d.Learner, words.Counted(d.Labelled, "label"), taken(&f.learner.Spec, f.values)), d.Skipped.String())
}

// writeGram writes predictions as for the nodes of a graph: a label and a score of each class
// for every row. next returns those of the next row, and the error ends the run.
func writeGram(o *product, k *ongram.Files, columns tablefile.Columns, next func(dst []float64) (class int, err error)) (err error) {
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
	return in.take(nil, func() (*requirements, error) {
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
