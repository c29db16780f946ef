package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/method/ongram"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
)

// gramOptions are the options of gram classify.
type gramOptions struct {
	tables   inputs
	learning learnerFlags
	out      string
	labels   string
	combine  string
	scores   scoreFlags
	unknown  ingest.UnknownIDs
	files    []string // of kernel values
}

// learnerFlags holds the flags of a learner and its parameters.
type learnerFlags struct {
	listed     string
	learner    *classify.Learner
	userValues param.Values
	values     param.Values // given values and defaults
}

// declare declares the flag and adds its check, which parses the learner and its parameters.
func (f *learnerFlags) declare(run *session, flags *pflag.FlagSet, initial string) {
	flags.StringVar(&f.listed, "learner", initial, "`SPEC` of the learner, as in svm:cost=10; see heatwalk methods")
	addCheck(run, flags, func(*cobra.Command, []string) {
		if f.listed == "" {
			return // which is recorded already
		}
		if spec, n := parseNamed(run, "--learner", f.listed, learners()); spec != nil {
			f.learner = classify.Learners().Named(n.Name)
			f.userValues, f.values = parseGiven(run, "--learner", n.Given, spec)
		}
	})
}

// unknownIDsFlag declares the flag about ids that are not in the data.
func unknownIDsFlag(run *session, flags *pflag.FlagSet, p *ingest.UnknownIDs) {
	enumVar(run, flags, p, "unknown-ids", "", []string{"error", "skip"},
		[]ingest.UnknownIDs{ingest.ErrorUnknown, ingest.SkipUnknown}, "label lines whose id is unknown")
}

// Combinations of the kernels of several files. Sums and products of kernels are kernels.
const (
	sumOfKernels     = "sum"
	productOfKernels = "product"
)

func newGram(run *session) *cobra.Command {
	cmd, c := newCommand(run, "classify K.npy... --labels L.tsv --learner SPEC -o OUT.npy", "Learn from kernel values in files", checkGram, runGram)
	cmd.Args = arguments(run, "FILE of kernel values", 1, -1)
	flags := cmd.Flags()
	outputFlag(flags, &c.out, "output", "", "`FILE` of predictions: .tsv, .csv, .jsonl or .parquet; of scores alone .npy, .npz, .svm or .libsvm", gramFormats)
	labelFlags(run, &c.tables, flags, &c.labels, "`FILE` of node and label, one pair a line")
	c.learning.declare(run, flags, "")
	choiceVar(run, flags, &c.combine, "combine", sumOfKernels, []string{sumOfKernels, productOfKernels}, "how to combine the kernels of several files")
	c.scores.declare(run, flags, false)
	unknownIDsFlag(run, flags, &c.unknown)
	return newGroup(run, "gram", "Learning from kernel values in a file", cmd)
}

// checkGram records problems of the flags.
func checkGram(run *session, c *gramOptions, cmd *cobra.Command, args []string) {
	c.files = args
	run.require(cmd.Flags(), "labels", "learner")
	run.refuse(cmd.Flags(), rule{len(args) == 1, "combine", "there is a single file; leave it out"})
	if slices.Contains(args, "-") {
		run.problem("-", "stdin can be read once, and the kernel is read twice; give a file")
	}
}

// gramFormats are the endings of predictions, and of scores alone.
var gramFormats = slices.Concat(tablefile.PredictionEndings, denseFormats)

// gramDocument is the JSON document of gram classify.
type gramDocument struct {
	labelsDocument
	Rows       int          `json:"rows"`
	Columns    []string     `json:"columns"`
	Learner    string       `json:"learner"`
	Parameters param.Values `json:"parameters"`
	Closing
}

// runGram learns from kernel values in files, and scores all rows.
func runGram(run *session, c *gramOptions, _ string) error {
	o, err := beginOutputs(run, c.out, matrixFormatOf(c.out, gramFormats))
	if err != nil {
		return err
	}
	k := &ongram.Files{
		Paths: c.files, Product: c.combine == productOfKernels, LabelFile: c.labels, Labelling: labelConfig(run, &c.tables, c.unknown, ""),
		Learner: c.learning.learner, Values: c.learning.values, Shares: c.scores.kind == "probability" || o.format == nil, Progress: run.progress.Phases(),
	}
	if err = k.Open(run.ctx); err == nil {
		err = k.Labels.Trainable()
	}
	if err != nil {
		return err
	}
	classes := len(k.Labels.Names)
	predictions := tablefile.Columns{Classes: k.Labels.Names, Top: c.scores.top}
	disk := predictionBytes(o, predictions, k.Rows)
	if o.format != nil {
		disk = o.format.Size(k.Rows.N, max(classes, classes*(classes-1)/2), "float64") + runFileBytes + idBytes(k.Rows)
	}
	if err := keepData(run, disk, k.Bytes()); err != nil {
		return err
	}
	columns, next, stop, err := k.Scores(run.ctx)
	if wrong := new(problem.Error); errors.As(err, &wrong) && !errors.Is(err, classify.ErrIterationLimit) {
		return fault.Data(c.files[0], "%s: %v; are these the values of a kernel?", wrong.Method, wrong.Err)
	}
	if err != nil {
		return learnError(err, c.files[0])
	}
	defer stop()
	if o.format == nil {
		err = writeGram(o, k, predictions, next)
	} else {
		err = fillMatrix(o, c.scores.dtype, &tablefile.Matrix{Rows: k.Rows, Cols: tablefile.AxisOf(columns)}, func(_ int, row []float64) error {
			_, err := next(row)
			return err
		})
	}
	if err != nil {
		return err
	}
	d := &gramDocument{labelsDocument: learnedFrom(o, k.Labels), Rows: k.Rows.N, Columns: columns, Learner: c.learning.learner.Name, Parameters: c.learning.values}
	return o.finish(d, nil, c.learning.values, fmt.Sprintf("%s × %s of %s from %s%s", words.Counted(d.Rows, "row"), words.Counted(len(columns), "column"),
		d.Learner, words.Counted(d.Labelled, "label"), parameterText(&c.learning.learner.Spec, c.learning.values)), d.Skipped.String())
}

// writeGram writes predictions as for the nodes of a graph: a label and a score of each class for
// every row. next returns the class and stores the scores of the next row; its error ends the run.
func writeGram(o *outputs, k *ongram.Files, columns tablefile.Columns, next func(dst []float64) (class int, err error)) (err error) {
	scores := make([]float64, len(k.Labels.Names))
	isKnown := labelled(k.Labels, k.Rows.N)
	f := &predictionRows{ids: k.Rows, line: func(i int, p *tablefile.Prediction) {
		if err != nil {
			return
		}
		var class int
		if class, err = next(scores); err != nil {
			return
		}
		p.Label, p.Reached, p.Known = k.Labels.Names[class], true, isKnown[i]
		copy(p.Scores, scores)
	}}
	return cmp.Or(writePredictions(o, f, columns, false, ""), err)
}

// parameterText returns the values of parameters for a summary, after a comma, or "".
func parameterText(s *param.Spec, v param.Values) string {
	if text := s.Text(v); text != "" {
		return ", " + text
	}
	return ""
}

// keepData checks a run without a graph against the limits of disk and memory.
func keepData(run *session, disk, bytes int64) error {
	run.disk = disk
	return beginWith(run, learnerBytes+bytes, "data and learner")
}

// learnError adds the learner and the place of its data to an error of it.
func learnError(err error, place string) error {
	wrong := new(problem.Error)
	if !errors.As(err, &wrong) {
		return err
	}
	if errors.Is(err, classify.ErrIterationLimit) {
		return fault.Machine(err, place, "%s: the iteration limit came before the tolerance; give parameters that regularise more", wrong.Method)
	}
	return fault.Machine(err, place, "%s: %v; take another learner or kernel", wrong.Method, wrong.Err)
}
