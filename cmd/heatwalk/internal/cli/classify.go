package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/multilabel"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/shift"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/method/suggest"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// classifyOptions are the options of classify, and those of suggest.
type classifyOptions struct {
	learning  learningFlags
	method    method.Method
	out       string
	scores    scoreFlags
	unreached string
	truth     string
	targets   string // file of the nodes that can have a label
	suggest   int    // number of nodes to label next; 0: write predictions
	save      string
	model     string // of predict
	page      string // path of the report
	pageNodes string // file of nodes that the report has with their neighbours
}

// scoreFlags holds the flags for the scores in an output.
type scoreFlags struct {
	top   int    // tablefile.Columns.Top
	kind  string // kind of a matrix of scores: raw or probability, "" if not given
	dtype string
}

// declare declares the flags of f; textProbabilities says that text formats have probabilities.
func (f *scoreFlags) declare(flags *flagSet, textProbabilities bool) {
	variable(flags, "scores", "all|top=K|none", "all", "scores to write: of all classes, of the K best ones, or none; of scores alone raw or probability", func(s string) error {
		f.kind = ""
		if s == "raw" || s == "probability" {
			f.kind = s
			return nil
		}
		return parseScores(&f.top, s)
	})
	dtypeFlag(flags, &f.dtype, "float32", "precision of scores alone")
	flags.addCheck(func(line *commandLine, _ []string) {
		out := flags.Lookup("output")
		matrix := matrixFormatOf(out.Value.String(),
			out.Annotations[outputFile]) != nil
		switch {
		case !matrix && (f.kind == "raw" || f.kind != "" && !textProbabilities):
			line.problem("--scores",
				"%s scores alone are a matrix; write -o FILE.npy, or give all, none or top=K", f.kind)
		case matrix && f.kind == "" && flags.Changed("scores"):
			line.problem("--scores",
				"a matrix has all of them; give raw or probability")
		}
		line.refuse(rule{!matrix, "dtype",
			"makes a difference with -o FILE.npy only; leave it out"})
	})
}

func newClassify(run *session) *cobra.Command {
	cmd, c, flags := newCommand(run, "classify GRAPH --labels L.tsv -o OUT.tsv",
		"Predict the label of every node from the labels of some", checkClassify,
		runClassify)
	labelsFlag(&c.learning, flags)
	outputFlag(flags, &c.out, "output", "-", predictionUsage, scoreFormats)
	methodFlags(c, flags)
	predictionFlags(c, flags)
	targetsFlag(c, flags)
	sideFlag(flags, &c.save, "save-model", "`FILE` for the model, from which heatwalk predict gives the same predictions without learning again", nil)
	sideFlag(flags, &c.page, "report", "`FILE` for a page: map, accuracy, classes, reasons: .html", pageFormats)
	flags.addText(&c.pageNodes, "report-nodes", "`FILE` of ids of further nodes for the page")
	severalFlag(&c.learning, flags)
	learningFlagSet(&c.learning, flags)
	return cmd
}

// predictionUsage is the help text of a file of predictions.
const predictionUsage = "`FILE` of predictions: .tsv, .csv, .jsonl or .parquet, .npy or .npz for scores alone; - is stdout"

// predictionFlags declares the flags of scores and labels in predictions, and of true labels.
func predictionFlags(c *classifyOptions, flags *flagSet) {
	c.scores.declare(flags, false)
	choiceVar(flags, &c.unreached, "unreached", "blank", []string{"blank", "prior"},
		"label of a node that cannot be reached from a label")
	flags.addText(&c.truth, "truth", "`FILE` of true labels to score the predictions with")
}

// runClassify predicts one label for each node, or with --multi-label any number.
func runClassify(run *session, c *classifyOptions, name string) error {
	if c.learning.several {
		return predictSeveral(run, c, name)
	}
	return predict(run, c, name)
}

// methodFlags declares the flags of a single method.
func methodFlags(c *classifyOptions, flags *flagSet) {
	choiceVar(flags, &c.learning.weight, "edge-weights", "", method.Weightings(),
		"edge weights: w as given, none: all 1, log: log(1 + w) (default: auto, lp and beliefs choose by held-out labels, others take w)")
	flags.addCheck(func(line *commandLine, _ []string) {
		config := &c.learning.graph.config
		config.Unweighted = c.learning.weight == "none" && !config.Signed
	})
	flags.StringVar(&c.learning.listed, "method", "auto", "`SPEC` of the method, as in diffusion:beta=2+rls; see heatwalk methods")
}

// targetsFlag declares the flag for the nodes that can have a label.
func targetsFlag(c *classifyOptions, flags *flagSet) {
	flags.addText(&c.targets, "targets", "`FILE` of ids of the nodes that can have a label, the only ones in OUT (default: all)")
}

// noRaw is the message about a method without scores other than probabilities.
const noRaw = "%s has probabilities alone; give probability"

// checkClassify parses the method and records problems of the flags.
func checkClassify(line *commandLine, c *classifyOptions, args []string) {
	if c.learning.several {
		checkSeveral(line, &c.learning, "output", "scores", "dtype", "unreached")
		line.refuse(rule{c.scores.kind == "raw", "scores",
			"there are probabilities alone with --multi-label; give probability"})
		return
	}
	line.refuse(rule{c.page == "", "report-nodes",
		"it is about the page of --report; add it"})
	checkMethod(line, c, args)
	if c.method != nil && c.scores.kind == "raw" && !method.HasRaw(c.method) {
		line.problem("--scores", noRaw, c.method.Name())
	}
}

// checkMethod parses the method and records problems of the flags about learning.
func checkMethod(line *commandLine, c *classifyOptions, _ []string) {
	checkLearning(line, &c.learning)
	if len(c.learning.entries) > 1 {
		line.problem("--method",
			"%s are several; this command takes one, evaluate compares them",
			c.learning.listed)
	}
	if len(c.learning.entries) == 1 {
		c.method = c.learning.entries[0].Method
		settleMethods(line, &c.learning, "small")
	}
}

// classifyDocument is the JSON document of classify.
type classifyDocument struct {
	labelsDocument
	Nodes      int                 `json:"nodes"`
	Attributes *attributesDocument `json:"node_features,omitempty"`
	Predicted  int                 `json:"predicted"`
	Reached    *int                `json:"nodes_reached,omitempty"` // nodes without a label to which accuracy_estimate applies
	Unreached  int                 `json:"unreached"`
	Components int                 `json:"unreached_components"`
	Method     string              `json:"method"`
	Parameters *method.Parameters  `json:"parameters,omitempty"`
	Settings   int                 `json:"settings,omitempty"`
	Model      any                 `json:"model,omitempty"` // of auto
	ModelText  string              `json:"model_text,omitempty"`
	Models     []mixedModel        `json:"models,omitempty"` // of auto, in words

	Suggested int                   `json:"suggested,omitempty"`
	LabelNext []labelNext           `json:"label_next,omitempty"`
	Summary   *evaluate.Predictions `json:"predictions,omitempty"`
	Several   *multilabel.Model     `json:"multi_label,omitempty"`

	AccuracyPropagation *float64 `json:"accuracy_propagation,omitempty"`
	AccuracyMajority    *float64 `json:"accuracy_majority,omitempty"`

	SampleText  string        `json:"label_sample_text,omitempty"`
	LabelSample *shift.Report `json:"label_sample,omitempty"` // how labelled nodes differ from others, if the labels are not a random sample

	Weights string `json:"weights,omitempty"` // of edges that the method has learned from
	factorsDocument
	BlockModel bool     `json:"block_model,omitempty"` // auto stopped at beliefs
	Omitted    []string `json:"omitted_stages,omitempty"`

	Sweeps int          `json:"sweeps"`
	Phases phaseSeconds `json:"seconds_by_phase"`
	Closing
}

// phaseSeconds are the seconds of the phases of a run.
type phaseSeconds struct {
	Read    float64 `json:"read"`    // graph, labels and attributes
	Compare float64 `json:"compare"` // label propagation and the largest class
	problem.PhaseSeconds
	Write float64 `json:"write"` // the predictions
}

// classifyRun is a run of classify on a graph.
type classifyRun struct {
	data  *graphRun
	f     *classifyOptions
	p     *method.Prediction
	truth *nodefile.Labels // may be nil
	classifyDocument
	targets   []int                // rows that are written; nil: all
	suggested []suggest.Suggestion // nodes to label next, in place of predictions
	mapped    *heatwalk.Prediction // drawn on the page; nil: the graph is not drawn
	page      *outputs             // of the page; nil: none
	pageRows  []int                // further nodes that the page has with their neighbours, not nil with a page
	shift     string               // why the labels are not a random sample; "": they may be one
	notes     []string             // about the accuracy, for the summary
}

func predict(run *session, c *classifyOptions, name string) error {
	d, err := beginLearning(run, &c.learning, name, c.out)
	if err != nil {
		return err
	}
	l := d.l
	s, err := d.settings(run, c.learning.entries[0].Settings, &c.learning,
		run.console.progress.Phases())
	if err != nil {
		return err
	}
	r, err := beginPredictions(run, c, d, s)
	if err != nil {
		return err
	}
	if run.network == nil && !run.costs.estimating && c.save == "" &&
		len(l.Row) == len(d.g.Degrees) {
		r.take(labelsOf(l))
		return r.finishLabels(run, nil)
	}
	saved, err := beginModel(c, d, s)
	if err != nil {
		return err
	}
	compared := 0
	if r.truth != nil {
		compared = len(r.truth.Row)
	}
	p, err := heatwalk.Predict(run.ctx, d.g.Graph, d.problem(), c.method, s, &heatwalk.PredictOptions{
		Baselines: true, Compared: compared, Suggest: suggestedNodes(run, c, d.g),
		Targets: r.targets, Explain: r.pageRows, Deferred: c.page != "" &&
			run.network == nil,
		Predicting: func() {
			run.console.progress.Wait("computing baselines and choosing parameters of " +
				c.method.Name())
		},
	})
	if err != nil {
		return graphError(run.costs, err, name, another)
	}
	if err := writeModel(c, saved, p.Prediction, s); err != nil {
		return err
	}
	baselines := p.Baselines
	if baselines.Omitted > 0 {
		run.console.warn("label propagation is not compared with: it needs %s of memory",
			words.Bytes(baselines.Omitted))
	}
	warnPrediction(run.console, c, p.Prediction, l, s)
	if n := l.Numeric(); n == len(l.Row) && n >= mostNumericClasses {
		run.console.warn("%s: all %d labels are different numbers, and each is predicted as a class of its own; to predict numbers run heatwalk regress --values %s", l.File, n, l.File)
	}
	r.take(p)
	r.mapped = p
	r.Phases.Compare = baselines.Seconds
	r.suggested = p.Suggestions
	if c.suggest > 0 {
		r.Suggested = len(p.Suggestions)
	}
	var parameters any // parameters in the run file
	if p.Settings > 0 {
		r.Parameters = &p.Parameters
		r.Settings = p.Settings
		parameters = r.Parameters
	}
	estimate := p.Estimate
	propagation := baselines.Propagation
	if r.estimate(estimate.Accuracy, estimate.Stderr, estimate.Tested); estimate.Tested > 0 {
		r.Reached = &estimate.Reached
		r.AccuracyMajority = &baselines.Majority.Accuracy
		if propagation.Tested > 0 {
			r.AccuracyPropagation = &propagation.Accuracy
		}
		r.reportShift(run.console, p.Shift, estimate)
		if c.method != method.Majority {
			r.compareLargest(estimate)
		}
		if estimate.Unseen >= mostUnseen {
			run.console.warn("%s: some classes have a single label; if labels were drawn at random, others have none and about %.0f %% of the nodes, which the reported accuracy counts as wrong", l.File, 100*estimate.Unseen)
		}
		if c.suggest > 0 && propagation.Tested > 0 &&
			propagation.Accuracy-propagation.Stderr < baselines.Majority.Accuracy {
			run.console.warn("%s: these labels do not show that neighbours are alike (label propagation %s, largest class %s); where they differ labels of nodes drawn at random teach more",
				l.File, words.Percent(propagation.Accuracy),
				words.Percent(baselines.Majority.Accuracy))
		}
	}
	return r.finishLabels(run, parameters)
}

// labelsOf returns the labels of a graph whose nodes all have one as predictions, without a computation.
func labelsOf(l *nodefile.Labels) *heatwalk.Prediction {
	n := len(l.Row)
	p := &method.Prediction{Class: make([]int, n),
		Scores: sparse.NewBlock[float32](n, len(l.Names)), Reached: roaring.New()}
	p.Reached.AddRange(0, uint64(n))
	for i, row := range l.Row {
		p.Class[row] = l.Class[i]
		p.Scores.Row(row)[l.Class[i]] = 1
	}
	return &heatwalk.Prediction{Prediction: p, Classes: l.Names}
}

// beginPredictions begins a run on a graph whose labels have been read: it reads the true labels, counts the
// bytes of the output, and completes the settings.
func beginPredictions(run *session, c *classifyOptions, d *graphRun,
	s *method.Settings) (*classifyRun, error) {
	r := &classifyRun{data: d, f: c,
		classifyDocument: classifyDocument{labelsDocument: learnedFrom(d.out, d.l),
			Method: c.method.Name(), Attributes: attributesOf(d.g)}}
	r.Phases.Read = time.Since(run.console.started).Seconds()
	if !slices.Contains(flagsOf(c.method), "unreached") {
		c.unreached = "prior"
	}
	s.Raw = c.scores.kind == "raw"
	if top := c.scores.top; c.suggest == 0 && c.page == "" && d.shares == nil &&
		top != 0 && top <= problem.HighestCount {
		s.Top = max(top, 1)
	}
	run.costs.disk += predictionBytes(d.out, predictionColumns(c, d.l), nodeAxis(d.g))
	var err error
	if c.targets != "" {
		if r.targets, err = readIDs(run, &c.learning.graph.tables, c.targets, d.g.Nodes); err != nil {
			return nil, err
		}
	}
	if c.page != "" && run.network == nil {
		r.pageRows = []int{}
	}
	if c.pageNodes != "" {
		if r.pageRows, err = readIDs(run, &c.learning.graph.tables, c.pageNodes,
			d.g.Nodes); err != nil {
			return nil, err
		}
	}
	if c.page != "" {
		r.page = newOutputs(run, c.page)
		if r.page.w, err = r.page.begin(c.page); err != nil {
			return nil, err
		}
	}
	if c.truth == "" {
		return r, nil
	}
	r.truth, err = readLabels(run, &c.learning.graph, c.truth, d.g, d.l)
	return r, err
}

// take stores predictions.
func (r *classifyRun) take(p *heatwalk.Prediction) {
	r.p, r.Phases.PhaseSeconds, r.Components = p.Prediction, p.Seconds,
		p.UnreachedComponents
	r.Weights, r.BlockModel, r.Omitted, r.Model = p.Weights, p.BlockModel,
		p.Omitted, p.Choice()
	r.factorsDocument = r.data.g.factorsOf(p.Factors)
}

// finishLabels compares the labels of the predictions with the true ones, and writes the output and the page.
func (r *classifyRun) finishLabels(run *session, parameters any) error {
	countPredictions(r)
	l := r.data.l
	labels := writtenLabels(r.f, r.p)
	r.Truth = compareTruth(run.console, labels, r.p.Reached, l, r.truth, "node")
	if r.f.page != "" || run.console.json && r.p.Scores != nil && r.f.suggest == 0 &&
		r.f.model == "" && run.network == nil {
		describePredictions(r, labels)
	}
	return r.finish(run, parameters, func(row int) string {
		if labels[row] == evaluate.Unlabelled {
			return ""
		}
		return l.Names[labels[row]]
	})
}

// mostNumericClasses is the number of labels from which different numbers in all of them are unlikely
// to be classes.
const mostNumericClasses = 5

// mostUnseen is the estimated share of nodes of classes without a label from which a warning is printed.
const mostUnseen = 0.05

// warnPrediction warns about an iteration that did not converge, and about too few labels.
func warnPrediction(console *streams, c *classifyOptions, p *method.Prediction,
	l *nodefile.Labels, s *method.Settings) {
	if p.Unfinished != "" {
		console.warn("%s: %s%s", c.method.Name(), p.Unfinished,
			unfinishedAdvice(c.method))
	}
	if p.Settings > 0 && choosesParameters(c, s) && split.TooFew(l.Class) {
		console.warn("%s: too few labels to choose parameters: of two classes at least 2 nodes each are needed; using %v", l.File, p.Parameters)
	}
}

// choosesParameters reports whether parameters are left to be chosen.
func choosesParameters(c *classifyOptions, s *method.Settings) bool {
	open := func(p param.Param) bool {
		return len(p.Grid) > 1 && !s.Given.Has(p.Name)
	}
	return slices.ContainsFunc(c.method.Declarations(),
		func(spec *param.Spec) bool { return slices.ContainsFunc(spec.Params, open) })
}

// predictionColumns returns the columns of the predictions.
func predictionColumns(c *classifyOptions, l *nodefile.Labels) tablefile.Columns {
	return tablefile.Columns{Classes: l.Names, Top: c.scores.top}
}

// writtenLabels returns the label to write for every row, −1 for a blank.
func writtenLabels(c *classifyOptions, p *method.Prediction) []int {
	if c.unreached == "prior" {
		return p.Class
	}
	labels := slices.Clone(p.Class)
	for row := range labels {
		if !p.Reached.Contains(uint32(row)) {
			labels[row] = evaluate.Unlabelled
		}
	}
	return labels
}

// countPredictions counts the predictions of a run.
func countPredictions(r *classifyRun) {
	p := r.p
	r.Nodes, r.Sweeps = len(p.Class), p.Work.Sweeps
	r.Unreached = r.Nodes - int(p.Reached.GetCardinality())
	r.Predicted = r.Nodes - r.Labelled
	if r.f.unreached == "blank" {
		r.Predicted -= r.Unreached
	}
}

// finish publishes the output, in which every node has the label that labelOf returns, and then makes the page and prints the
// summary. An error or an interruption of the page leaves the output.
func (r *classifyRun) finish(run *session, parameters any,
	labelOf func(row int) string) (err error) {
	f := r.f
	p := r.p
	begun := time.Now()
	switch {
	case f.suggest > 0:
		err = tablefile.WriteLines(run.ctx, r.data.out.w, endingOf(f.out), suggest.Titles, len(r.suggested), func(i int, cells []string) {
			copy(cells, append([]string{r.data.g.Nodes.ID(r.suggested[i].Row)},
				r.suggested[i].Cells(r.data.l.Names)...))
		})
	case f.scores.kind == "raw" && p.Raw == nil:
		err = fault.Usage("--scores", noRaw, f.method.Name()) // pairs of classes have votes alone
	default:
		err = writePredictions(r.data.out, r.data.found(p, r.targets, labelOf),
			predictionColumns(f, r.data.l), f.scores.kind == "raw", f.scores.dtype)
	}
	if err != nil {
		return err
	}
	r.Phases.Write = time.Since(begun).Seconds()
	if err := r.data.out.publish(parameters, nil); err != nil {
		return err
	}
	missing := r.finishPage(run)
	lines := []string{r.headline(), r.Skipped.String(), r.Attributes.String(),
		r.modelText(), "", r.describeTruth(f.truth,
			"node"), r.weightsText(), r.data.g.edgesText(r.factorsDocument,
			cmp.Or(f.model, "held-out labels"))}
	if m := r.Several; m != nil {
		lines[4] = fmt.Sprintf("%s, λ = %v; micro-F1 of labelled nodes left out one by one %s", words.Counted(m.Columns, "column"), m.Lambda, words.Percent(m.MicroF1))
	}
	err = run.console.printResult(&r.classifyDocument,
		func(w io.Writer) { r.data.out.print(w, append(lines, r.notes...)) }, f.out)
	return cmp.Or(missing, err)
}

// weightsText reports other weights of edges than the given ones, for the summary.
func (r *classifyRun) weightsText() string {
	text := map[string]string{"log": "log(1 + w)", "none": "1"}[r.Weights]
	source := "held-out labels"
	if r.f.learning.weight != "" {
		source = "--edge-weights"
	}
	if r.f.model != "" {
		source = r.f.model
	}
	if text != "" {
		text = fmt.Sprintf("edge weights: %s in place of w (%s)", text, source)
	}
	return text
}

// headline returns the counts of the predictions for the summary.
func (r *classifyRun) headline() string {
	switch {
	case r.Labelled == r.Nodes:
		return fmt.Sprintf("nothing to predict: all %s are labelled",
			words.Counted(r.Nodes, "node"))
	case r.f.suggest > 0:
		return words.Counted(r.Suggested, "node") + " to label next"
	}
	text := fmt.Sprintf("%s · %s labelled · %s predicted",
		words.Counted(r.Nodes, "node"), words.Count(r.Labelled),
		words.Count(r.Predicted))
	if r.Unreached > 0 {
		left := "are left blank"
		if r.f.unreached == "prior" {
			left = "have the likeliest class of the prior"
		}
		fault := "cannot be reached from a label"
		if r.data.g.Directed && r.f.method != nil &&
			slices.ContainsFunc(r.f.method.Declarations(),
				func(s *param.Spec) bool { return s.Arcs == param.AlongArcs }) {
			fault = "reach no label along the arcs"
		}
		text += fmt.Sprintf(" · %s in %s %s and %s", words.Count(r.Unreached),
			words.Counted(r.Components, "component"), fault, left)
	}
	if r.AccuracyEstimate != nil {
		scope := ""
		if r.Unreached > 0 {
			scope = fmt.Sprintf(" of the %s reached",
				words.Counted(*r.Reached, "node"))
		}
		text += fmt.Sprintf(" · %s%s (largest class %.1f %%)", r.accuracyText(),
			scope, 100**r.AccuracyMajority)
	}
	return text
}

// describeParameters returns the parameters of a prediction as text.
func describeParameters(p method.Parameters, settings int) string {
	if settings > 1 {
		return fmt.Sprintf("%v, chosen from %s", p,
			words.Counted(settings, "setting"))
	}
	return p.String()
}

// found returns the predictions for the nodes on some rows, nil for all, with the labels of labelOf.
func (d *graphRun) found(p *method.Prediction, rows []int,
	labelOf func(row int) string) *predictionRows {
	rowAt := d.g.Nodes.RowAt
	ids := nodeAxis(d.g)
	if rows != nil {
		rowAt, ids = func(i int) int { return rows[i] }, nodesOf(d.g, rows)
	}
	isKnown := markLabelled(d.l, len(d.g.Degrees))
	f := &predictionRows{ids: ids, line: func(i int, line *tablefile.Prediction) {
		row := rowAt(i)
		line.Label, line.Reached, line.Known = labelOf(row),
			p.Reached.Contains(uint32(row)), isKnown[row]
		if p.Highest != nil {
			p.Highest.RowTo(line.Scores, row)
		} else {
			simd.ConvertTo(line.Scores, p.Scores.Row(row))
		}
	}}
	number := make(map[string]int, len(d.l.Names))
	for class, name := range d.l.Names {
		number[name] = class
	}
	f.predicted = func(i int) (class int, reached bool) {
		row := rowAt(i)
		class, isNumbered := number[labelOf(row)]
		if !isNumbered { // a blank, or several labels
			class = -1
		}
		return class, p.Reached.Contains(uint32(row))
	}
	if p.Raw != nil {
		f.rawNames = d.l.Names
		f.raw = func(i int, row []float64) { copy(row, p.Raw.Row(rowAt(i))) }
	}
	return f
}
