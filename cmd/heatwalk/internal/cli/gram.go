package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/papers/ongram"
	"github.com/heatwalk/heatwalk/param"
)

// gramOptions are the options of gram classify.
type gramOptions struct {
	tables      inputs
	listed      string // value of --learner
	learner     *classify.Learner
	values      param.Values // given values and defaults
	out, labels string
	scores      scoreFlags
	files       []string
	sum         bool // of the kernels of several files
	product     bool
}

// labelLines is the help text of --unknown-ids for labels alone.
const labelLines = "label lines whose id is unknown"

// unknownIDsFlag declares the flag about ids that are not in the data.
func unknownIDsFlag(flags *flagSet, in *inputs, usage string) {
	enumVar(flags, &in.unknown, "unknown-ids", "", []string{"error", "skip"},
		[]ingest.UnknownIDs{ingest.ErrorUnknown, ingest.SkipUnknown}, usage)
}

func newGram(run *session) *cobra.Command {
	cmd, c, flags := newCommand(run,
		"classify K.npy... --labels L.tsv --learner SPEC -o OUT.npy",
		"Learn from kernel values in files", checkGram, runGram)
	outputFlag(flags, &c.out, "output", "", "`FILE` of predictions: .tsv, .csv, .jsonl or .parquet; of scores alone .npy, .npz, .svm or .libsvm", gramFormats)
	labelFlags(&c.tables, flags, &c.labels, "`FILE` of node and label, one pair a line")
	flags.addText(&c.listed, "learner", "`SPEC` of the learner, as in svm:cost=10; see heatwalk methods")
	flags.BoolVar(&c.product, "product", false, "the kernel is the product of those of several files")
	flags.BoolVar(&c.sum, "sum", false, "the kernel is the sum of those of several files")
	c.scores.declare(flags, false)
	unknownIDsFlag(flags, &c.tables, labelLines)
	return newGroup(run, "gram", "Learning from kernel values in files", cmd)
}

// checkGram parses the learner and records problems of the flags.
func checkGram(line *commandLine, c *gramOptions, args []string) {
	if line.require("labels", "learner"); c.listed != "" {
		if spec, n := parseNamed(line, "--learner", c.listed, learners()); spec != nil {
			c.learner = classify.Learners().Named(n.Name)
			_, c.values = parseGiven(line, "--learner", n.Given, spec)
		}
	}
	c.files = args
	line.refuse(rule{len(args) == 1, "sum product", "there is a single file; leave it out"},
		rule{c.sum, "product", "stands in place of --sum; give one of the two"})
	if len(args) > 1 && !c.sum && !c.product {
		line.problem(args[1],
			"several files are one kernel by their product or sum; add --product or --sum")
	}
	if slices.Contains(args, "-") {
		line.problem("-", "stdin can be read once, and the kernel is read twice; give a file")
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
	Combined   string       `json:"combined,omitempty"`
	Closing
}

// runGram learns from kernel values in a file, and scores all rows.
func runGram(run *session, c *gramOptions, _ string) error {
	name := strings.Join(c.files, ", ")
	o, err := beginOutputs(run, c.out, gramFormats)
	if err != nil {
		return err
	}
	k := &ongram.Files{
		Paths: c.files, Product: c.product, LabelFile: c.labels,
		Labelling: labelConfig(run.console, &c.tables,
			"label columns of "+name+" alone, or pass --unknown-ids=skip"),
		Learner: c.learner, Values: c.values,
		Calibrate: c.scores.kind == "probability" || o.format == nil,
		Progress:  run.progress.Phases(),
	}
	if err = k.Open(run.ctx); err == nil {
		err = k.Labels.Trainable()
	}
	if err != nil {
		return err
	}
	classes := len(k.Labels.Names)
	disk := predictionBytes(o,
		tablefile.Columns{Classes: k.Labels.Names, Top: c.scores.top}, k.Rows)
	if o.format != nil {
		disk = o.format.Size(k.Rows.N, max(classes, classes*(classes-1)/2),
			"float64") + runFileBytes + idBytes(k.Rows)
	}
	if err := keepData(run.costs, disk, k.Bytes()); err != nil {
		return err
	}
	r, err := k.Classify(run.ctx)
	if err == nil {
		err = r.Unfinished
	}
	if wrong := new(problem.Error); errors.As(err, &wrong) &&
		!errors.Is(err, classify.ErrIterationLimit) {
		return fault.Data(name, "%s: %v; are these the values of a kernel?",
			wrong.Method, wrong.Err)
	}
	if err != nil {
		return learnError(err, name)
	}
	if err := writeClassified(o, r, k.Rows, k.Labels, c.scores,
		c.scores.kind != "probability"); err != nil {
		return err
	}
	d := &gramDocument{labelsDocument: learnedFrom(o, k.Labels), Rows: k.Rows.N,
		Columns: r.ScoreNames, Learner: k.Learner.Name, Parameters: k.Values}
	if c.scores.kind == "probability" || o.format == nil {
		d.Columns = k.Labels.Names
	}
	text := fmt.Sprintf("%s × %s of %s from %s%s", words.Counted(d.Rows, "row"),
		words.Counted(len(d.Columns), "column"), d.Learner,
		words.Counted(d.Labelled, "label"), parameterText(&k.Learner.Spec, k.Values))
	if len(c.files) > 1 {
		d.Combined = "sum"
		if c.product {
			d.Combined = "product"
		}
		text += fmt.Sprintf(", on the %s of %d kernels", d.Combined, len(c.files))
	}
	return o.finish(d, k.Values, text, d.Skipped.String())
}
