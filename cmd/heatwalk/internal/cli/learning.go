package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/param"
)

// learningFlags holds the flags of commands that learn from labels of nodes.
type learningFlags struct {
	graph      graphInputs
	walk       walkFlags
	attributes attributeFlags
	several    bool   // nodes have several labels
	listed     string // value of --method
	effort     string
	weight     string // of edges; "": chosen

	entries []method.Entry
	base    method.Settings // settings of all methods
}

// methodsOf returns the named methods.
func methodsOf(f *learningFlags) (list []method.Method) {
	for _, e := range f.entries {
		list = append(list, e.Method)
	}
	return list
}

// learningFlagSet declares the flags of f except those of labels and method.
func learningFlagSet(f *learningFlags, flags *flagSet) {
	f.walk.priorFlag(flags)
	flags.Lookup("prior").Usage = "known class shares: `FILE`, balanced; starts of walks: uniform, empirical, FILE of distributions"
	choiceVar(flags, &f.effort, "effort", "full", []string{"full", "low"},
		"features of auto: all, or random walks alone, which are faster")
	f.attributes.declare(flags)
	graphFlags(&f.graph, flags)
}

// labelsFlag declares the flag of the labels.
func labelsFlag(f *learningFlags, flags *flagSet) {
	labelFlags(&f.graph.tables, flags, &f.walk.labels, "`FILE` of node and label, one pair a line")
}

// severalFlag declares the flag of nodes with several labels.
func severalFlag(f *learningFlags, flags *flagSet) {
	flags.BoolVar(&f.several, "multi-label", false,
		"a node may have several labels, each on a line of its own")
	labelling := &f.graph.tables.labelling
	flags.addText(&labelling.Separator, "label-separator", "`TEXT` between several labels of a node on one line, such as '|' (default: a line has one label)")
	markInput(flags.Lookup("label-separator"))
	flags.addCheck(func(line *commandLine, _ []string) {
		line.refuse(rule{!f.several, "label-separator",
			"a node has one label; add --multi-label"})
	})
}

// checkLearning parses the methods and records problems of the flags.
func checkLearning(line *commandLine, f *learningFlags) {
	entries, err := method.Parse(f.listed)
	f.entries = entries
	if err != nil {
		line.problem("--method", "%s", withoutUsage(err))
	}
	checkForm(line, f.entries)
	line.require("labels")
	checkEffect(line, methodsOf(f))
	f.attributes.unused = !slices.ContainsFunc(methodsOf(f),
		func(m method.Method) bool { return slices.Contains(m.Takes(), "node_features") })
}

// settleMethods reads the grid, sets the candidates of all methods, and records problems.
func settleMethods(line *commandLine, f *learningFlags, grid string) {
	base, err := method.Settle(line.ctx, f.entries, grid)
	f.base = *base
	if list, several := err.(interface{ Unwrap() []error }); several {
		for _, err := range list.Unwrap() {
			checkGrid(line, grid, err)
		}
	}
}

// checkGrid records a problem of a grid, of a grid file, or of the values of a method.
func checkGrid(line *commandLine, name string, err error) {
	wrong := new(nodefile.ParseError)
	parameter := new(param.ParameterError)
	switch {
	case errors.As(err, &parameter):
		line.problem("--method", "%s", parameter.Error())
	case errors.As(err, &wrong):
		line.problem(name, "%s; correct the file", wrong.Msg)
	case errors.Is(err, fs.ErrNotExist):
		line.problem("--grid",
			"%s is neither paper, small or none nor a file (%s); give one of them",
			quote(name), cause(err))
	case errors.Is(err, split.ErrUsage):
		line.problem("--method", "%s", withoutUsage(err))
	default:
		line.problem("--grid", "%s cannot be read (%s); give another file", name,
			cause(err))
	}
}

// checkForm records a problem if the kernel of a method is not symmetric, because learners require it.
func checkForm(line *commandLine, entries []method.Entry) {
	for _, e := range entries {
		for _, d := range e.Method.Declarations() {
			wrong := new(param.ParameterError)
			if f := kernel.Families().Named(d.Name); f != nil &&
				errors.As(f.Asymmetric(f.Own(e.Own)), &wrong) {
				line.problem("--method", "%s", wrong.Error())
				return
			}
		}
	}
}

// unfinishedAdvice is the remedy for an iteration that ended at its limit.
func unfinishedAdvice(m method.Method) string {
	advice := "; longer ones do not count"
	next := "; give a "
	for _, s := range m.Declarations() {
		for _, p := range s.Params {
			if p.Sooner != "" {
				advice = next + p.Sooner + " " + p.Name
				next = advice + " or a "
			}
		}
	}
	return advice
}

// withoutUsage returns the message of an error of usage.
func withoutUsage(err error) string {
	if wrong := new(split.UsageError); errors.As(err, &wrong) {
		return wrong.Problem()
	}
	return err.Error()
}

// balanced is the value of --prior for equal shares of all classes: rare classes are predicted as readily as
// others, as with balanced weights of classes, and accuracies are those of a graph with such shares.
const balanced = "balanced"

// readPriorOrShares reads the prior of walks or the shares of the classes among all nodes.
func readPriorOrShares(run *session, f *learningFlags, in *inputs,
	d *graphRun) (cwk.Prior, error) {
	if f.walk.prior == balanced {
		d.shares = slices.Repeat([]float64{1 / float64(len(d.l.Names))},
			len(d.l.Names))
		return cwk.Prior{}, nil
	}
	if f.walk.prior != "-" && !slices.Contains(cwk.PriorParam.Words, f.walk.prior) {
		shares, err := nodefile.ReadShares(run.ctx, f.walk.prior, d.l.Names,
			listConfig(run.console, in, f.walk.prior))
		d.shares = shares
		if shares != nil || err != nil {
			return cwk.Prior{}, err
		}
		for _, m := range methodsOf(f) {
			if !slices.Contains(flagsOf(m), "prior") {
				return cwk.Prior{}, fault.Usage("--prior",
					"%s has no distribution for each node; give lines class<TAB>share", m.Name())
			}
		}
	}
	return f.walk.readPrior(run, in, d.g, d.l)
}

// settings completes the settings of a method with workers, memory, attributes and progress.
func (d *graphRun) settings(run *session, tried *method.Settings, f *learningFlags,
	progress func(stage string, done, total int64)) (*method.Settings, error) {
	prior, err := readPriorOrShares(run, f, &f.graph.tables, d)
	s := *tried
	s.Prior = prior
	s.RNGSeed = uint64(run.seed)
	s.LowEffort = f.effort == "low"
	s.Weights = f.weight
	s.Workers = run.threads
	s.Progress = progress
	return &s, err
}

// scoreFormats are the endings of a file of predictions, or of a matrix of scores alone.
var scoreFormats = slices.Concat(tablefile.PredictionEndings, tablefile.NPY.Endings,
	tablefile.NPZ.Endings)

func parseScores(top *int, s string) error {
	count, ranked := strings.CutPrefix(s, "top=")
	n, err := strconv.Atoi(count)
	switch {
	case s == "all":
		*top = 0
	case s == "none":
		*top = -1
	case ranked && err == nil && n > 0:
		*top = n
	default:
		return fmt.Errorf("%s is not a choice of scores; give all, none or top=K with K ≥ 1", quote(s))
	}
	return nil
}

// predictionBytes returns an upper bound of the size of a file of predictions, for estimates; 0 for
// real runs.
func predictionBytes(o *outputs, columns tablefile.Columns, ids axis) int64 {
	switch {
	case !o.run.costs.estimating:
		return 0
	case o.format != nil:
		return runFileBytes + 8*int64(ids.N)*int64(len(columns.Classes)) +
			idBytes(ids)
	}
	columns.Classes = slices.SortedFunc(slices.Values(columns.Classes),
		func(a, b string) int { return len(b) - len(a) })
	ending := strings.TrimSuffix(formatOf(o.path, tablefile.PredictionEndings), ".parquet") // Parquet is smaller than text
	linesBytes := func(n int) int64 {                                                       // size of n lines of the largest length, without ids
		var file byteCounter // never fails
		_ = tablefile.WritePredictions(o.run.ctx, &file, ending, columns, n, func(_ int, p *tablefile.Prediction) {
			p.Label = columns.Classes[0]
			for i := range p.Scores {
				p.Scores[i] = 1.23456e-10 // the longest text of a score
			}
		})
		return int64(file)
	}
	return runFileBytes + linesBytes(0) + idBytes(ids) +
		int64(ids.N)*(linesBytes(1)-linesBytes(0))
}

// predictionRows holds the predictions for nodes or items, in the order of the output.
type predictionRows struct {
	ids  axis
	line func(i int, p *tablefile.Prediction) // stores label, reach and probabilities

	// predicted returns the class that is written for item i, -1 for a blank, and whether a label
	// reaches it; nil: archives do not hold these.
	predicted func(i int) (class int, reached bool)

	// raw stores the scores from which probabilities are computed, with the names rawNames; may be nil.
	raw      func(i int, row []float64)
	rawNames []string
}

// writePredictions writes predictions, or a matrix of scores only: raw scores, or probabilities.
func writePredictions(o *outputs, f *predictionRows, c tablefile.Columns, raw bool,
	dtype string) error {
	if o.format == nil {
		return tablefile.WritePredictions(o.run.ctx, o.w, endingOf(o.path), c, f.ids.N, func(i int, p *tablefile.Prediction) {
			p.Node = f.ids.ID(i)
			f.line(i, p)
		})
	}
	names := f.rawNames
	row := f.raw
	if !raw {
		names = c.Classes
		row = func(i int, row []float64) { f.line(i, &tablefile.Prediction{Scores: row}) }
	}
	return fillMatrix(o, dtype, &tablefile.Matrix{Rows: f.ids, Cols: tablefile.AxisOf(names), Predictions: f.predicted}, func(i int, values []float64) error {
		row(i, values)
		return nil
	})
}

// labelsDocument holds the common keys of the JSON documents of predictions.
type labelsDocument struct {
	Output   string       `json:"output"`
	Labelled int          `json:"labelled"`
	Skipped  skippedLines `json:"skipped_label_lines"`
	Classes  []string     `json:"classes"`

	AccuracyEstimate *float64        `json:"accuracy_estimate,omitempty"`
	AccuracyStderr   *float64        `json:"accuracy_stderr,omitempty"`
	Truth            *evaluate.Truth `json:"truth,omitempty"`
}

// learnedFrom returns the keys about the labels.
func learnedFrom(o *outputs, l *nodefile.Labels) labelsDocument {
	return labelsDocument{Output: o.path, Labelled: len(l.Row),
		Skipped: skippedOf(l), Classes: l.Names}
}

// estimate sets the estimated accuracy, unless tested is 0.
func (d *labelsDocument) estimate(accuracy, stderr float64, tested int) {
	if tested > 0 {
		d.AccuracyEstimate = &accuracy
		d.AccuracyStderr = &stderr
	}
}

// describeAccuracy returns the estimated accuracy as text, or "".
func (d *labelsDocument) describeAccuracy() string {
	if d.AccuracyEstimate == nil {
		return ""
	}
	accuracy := 100 * *d.AccuracyEstimate
	stderr := 100 * *d.AccuracyStderr
	if stderr > 25 { // few labels
		return fmt.Sprintf("cross-validated accuracy between %.1f and %.1f %%",
			max(0, accuracy-stderr), min(100, accuracy+stderr))
	}
	return fmt.Sprintf("cross-validated accuracy %.1f ± %.1f %%", accuracy, stderr)
}

// compareTruth compares the class of each node (noun: node or that of a kind of items) with its true label, unless truth
// is nil. It warns about classes that do not occur in training, because no prediction can be correct.
func compareTruth(console *streams, class []int, reached *roaring.Bitmap,
	l, truth *nodefile.Labels, noun string) *evaluate.Truth {
	if truth == nil {
		return nil
	}
	truth.Respell(l.Names)
	size := sizesOf(truth)
	for c, name := range truth.Names {
		if slices.Contains(l.Names, name) {
			size[c] = 0
		}
	}
	warnUntrained(console, truth.File, truth.Names, size, noun)
	t := evaluate.Compare(class, reached, l, truth)
	if t == nil {
		console.warn("%s: nothing to compare with; every %s it labels is labelled in %s",
			truth.File, noun, l.File)
	}
	return t
}

// warnUntrained warns in one line about classes of a file that have items (noun: node or test node) without a training label.
func warnUntrained(console *streams, file string, names []string, items []int,
	noun string) {
	var classes []string
	total := 0
	for c, n := range items {
		if n > 0 {
			classes = append(classes, quote(names[c]))
			total += n
		}
	}
	switch count := len(classes); {
	case count == 1:
		console.warn("%s: class %s (%s) has no training label and counts as wrong",
			file, classes[0], words.Counted(total, noun))
	case count > 1:
		list := strings.Join(classes[:min(count, namedClasses)], ", ")
		if count > namedClasses {
			list += fmt.Sprintf(" and %d more", count-namedClasses)
		}
		console.warn("%s: %d classes (%s) have no training label and count as wrong: %s",
			file, count, words.Counted(total, noun), list)
	}
}

// namedClasses bounds the classes that a warning names.
const namedClasses = 3

// describeTruth returns the comparison with the labels of a file as text, or "".
func (d *labelsDocument) describeTruth(file, noun string) string {
	t := d.Truth
	if t == nil {
		return ""
	}
	text := fmt.Sprintf("against %s: accuracy %s of %s", file, words.Percent(t.All),
		words.Counted(t.Nodes, noun))
	if t.NodesReached < t.Nodes {
		text += fmt.Sprintf(", %s of the %s reached", words.Percent(t.Reached),
			words.Count(t.NodesReached))
	}
	return text + fmt.Sprintf(", macro-F1 %.3f", t.MacroF1)
}

// severalSeparator separates the labels of a node in a file of predictions.
const severalSeparator = "|"

// checkSeveral records flags that cannot be used if nodes have several labels: all flags of the command except
// the given ones.
func checkSeveral(line *commandLine, f *learningFlags, takes ...string) {
	f.graph.tables.labelling.Several = true
	line.require("labels")
	refuseBeside(line, f, "multi-label", append(takes, "labels"))
}

// refuseBeside records flags that cannot be used with the given one: all flags of the command except those
// which it takes, and those for reading graphs and labels.
func refuseBeside(line *commandLine, f *learningFlags, flag string, takes []string) {
	takes = slices.Concat(takes, f.graph.names,
		[]string{flag, "temp-dir", "label-fields", "label-separator", "missing",
			"unknown-ids", "kind-weights", "since", "until", "half-life"})
	line.command.Flags().Visit(func(item *pflag.Flag) {
		if line.command.InheritedFlags().Lookup(item.Name) == nil &&
			!slices.Contains(takes, item.Name) {
			line.refuse(rule{true, item.Name,
				"cannot be used with --" + flag + "; leave it out"})
		}
	})
}

// beginSeveral reads the graph, the labels and the attributes.
func beginSeveral(run *session, f *learningFlags,
	name, path string) (*graphRun, error) {
	d, err := beginLearning(run, f, name, path)
	if err != nil {
		return nil, err
	}
	for _, label := range d.l.Names {
		if strings.Contains(label, severalSeparator) {
			return nil, fault.Data(d.l.File,
				"the label %s holds %s, which separates labels in predictions; rename it", quote(label), severalSeparator)
		}
	}
	return d, nil
}

func predictSeveral(run *session, c *classifyOptions, name string) error {
	d, err := beginSeveral(run, &c.learning, name, c.out)
	if err != nil {
		return err
	}
	run.costs.disk += runFileBytes
	_, phase := run.progress.Parts("learning", "")
	model, p, err := heatwalk.PredictSeveral(run.ctx, d.g.Graph, d.problem(),
		&method.Settings{RNGSeed: uint64(run.seed), Workers: run.threads, Progress: phase})
	if err != nil {
		return graphError(run.costs, err, name, another)
	}
	in := &predictionInputs{f: c, data: d}
	doc := countPredictions(in, p, model.Labelled)
	doc.Method = "spectral"
	doc.Several = model
	return writeLabelled(run, in, p, doc, func(row int) (string, int) {
		if c.unreached != "prior" && !p.Reached.Contains(uint32(row)) {
			return "", -1
		}
		var names []string
		list := model.LabelsOf(p.Prediction, row)
		for _, class := range list {
			names = append(names, d.l.Names[class])
		}
		class := -1
		if len(list) == 1 {
			class = list[0]
		}
		return strings.Join(names, severalSeparator), class
	})
}
