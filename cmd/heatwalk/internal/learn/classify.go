package learn

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/explain"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/sides"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// classifyOptions are the options of classify, suggest and predict.
type classifyOptions struct {
	learning     learningFlags
	method       *engine.Engine
	out          string
	scores       shell.ScoreFlags
	unreached    string
	truth        string
	coverage     float64 // coverage of prediction sets; 0: none
	precision    float64 // precision for which a threshold is asked; 0: none
	recall       float64 // recall for which a threshold is asked; 0: none
	targets      string  // file of the nodes that can have a label, or allTargets; "": the side of the labels
	suggest      int     // number of nodes to label next; 0: write predictions
	strategy     string  // strategy for choosing the nodes to label next
	save         string
	saveColumns  string // path of the columns to write; "": none
	model        string // path of the model of predict
	columns      string // path of the columns of predict; "": none
	edges        string // path of the edges of new nodes
	checks       bool   // only check the model
	kept         *heatwalk.Model
	opened       *heatwalk.Columns // nil: predict predicts a whole graph
	newNodes     []heatwalk.NewPrediction
	reasons      string  // path of the reasons of new nodes; "": none
	leastReached float64 // share of nodes that labels must reach
	page         string  // path of the report
	pageNodes    string  // file of nodes that the report shows with their neighbours
}

func NewClassify(run *shell.Session) *cobra.Command {
	cmd, c, flags := shell.NewCommand(run, "classify GRAPH --labels L.tsv -o OUT.tsv",
		"Predict the label of every node from the labels of some", checkClassify,
		runClassify)
	c.learning.labelsFlag(flags)
	flags.AddOutput(&c.out, "output", "-", shell.PredictionUsage, shell.ScoreFormats)
	c.methodFlags(flags)
	c.predictionFlags(flags)
	flags.AddCoverage(&c.precision, "precision", "probability that gives the rarest class precision X")
	flags.AddCoverage(&c.recall, "recall", "probability that gives the rarest class recall X")
	c.targetsFlag(flags)
	flags.AddSideOutput(&c.save, "save-model", "for the model, from which heatwalk predict gives the same predictions without learning again", nil)
	flags.AddSideOutput(&c.saveColumns, "save-columns", "for columns of the nodes, from which predict --new predicts new nodes by the model of --save-model", nil)
	c.pageFlags(flags)
	c.learning.severalFlag(flags)
	c.learning.learningFlagSet(flags)
	return cmd
}

func (c *classifyOptions) pageFlags(flags *shell.FlagSet) {
	flags.AddSideOutput(&c.page, "report", "for a page: map, accuracy, classes, reasons: .html", shell.PageFormats)
	flags.AddInput(&c.pageNodes, "report-nodes", "of ids of further nodes for the page")
	flags.AddCheck(func(line *shell.CommandLine, _ []string) {
		line.Refuse(c.page == "", "report-nodes", "it is about the page of --report; add it")
	})
}

func (c *classifyOptions) predictionFlags(flags *shell.FlagSet) {
	c.scores.Declare(flags, false)
	flags.AddChoice(&c.unreached, "unreached", "blank", []string{"blank", "prior"},
		"label of a node that cannot be reached from a label")
	flags.AddInput(&c.truth, "truth", "of true labels to score the predictions with")
	flags.AddCoverage(&c.coverage, "sets", "prediction sets with coverage X")
}

func (c *classifyOptions) methodFlags(flags *shell.FlagSet) {
	flags.AddChoice(&c.learning.weight, "edge-weights", "", engine.Weightings(),
		"edge weights: w as given, none: all 1, of lines with weight 0 in files too, log: log(1 + w) (default: auto chooses by held-out labels, others take w)")
	flags.AddCheck(func(line *shell.CommandLine, _ []string) {
		config := &c.learning.graph.Config
		config.Unweighted = c.learning.weight == "none" && !config.Signed
	})
	flags.StringVar(&c.learning.listed, "method", "auto", "`SPEC` of the method, as in diffusion:beta=2+rls; see heatwalk methods")
}

func (c *classifyOptions) targetsFlag(flags *shell.FlagSet) {
	flags.AddInputOrWord(&c.targets, "targets", "", []string{allTargets},
		"`FILE` of ids of the nodes that can have a label; OUT has no others; or all (default: all, or one side of a bipartite graph if the other side has no labels)")
}

// allTargets is the value of --targets for all nodes.
const allTargets = "all"

const noRaw = "%s has probabilities alone; give probability"

func checkClassify(line *shell.CommandLine, c *classifyOptions, args []string) {
	if c.learning.several {
		checkSeveral(line, &c.learning, "output", "scores", "dtype", "unreached", "sets", "save-model", "report", "truth", "targets")
		line.Refuse(c.scores.Kind == "raw", "scores",
			"there are probabilities alone with --multi-label; give probability")
		return
	}
	checkMethod(line, c, args)
	line.Refuse(c.saveColumns != "" && c.save == "", "save-columns", "columns are of use with the model alone; add --save-model")
	if c.saveColumns != "" && c.method != nil && c.method.Extension == nil {
		line.Problem("--save-columns", "%s predicts no new nodes; give one of %s with --method", c.method.Name, method.Extendable())
	}
	if c.method != nil && c.scores.Kind == "raw" && !c.method.HasRaw {
		line.Problem("--scores", noRaw, c.method.Name)
	}
}

func checkMethod(line *shell.CommandLine, c *classifyOptions, _ []string) {
	checkLearning(line, &c.learning)
	if len(c.learning.entries) > 1 {
		line.Problem("--method",
			"%s are several; this command takes one, evaluate compares them",
			c.learning.listed)
	}
	if len(c.learning.entries) == 1 {
		c.method = c.learning.entries[0].Method
		settleMethods(line, &c.learning, "small")
	}
}

type predictionInputs struct {
	f        *classifyOptions
	data     *shell.GraphRun
	settings *engine.Settings
	truth    *nodefile.Labels // may be nil
	targets  []int            // rows to write; nil: all
	side     *heatwalk.Side   // side of the labels, whose rows are the targets; nil: none
	page     *shell.Outputs   // nil: none
	pageRows []int            // further nodes of the page with their neighbours; not nil with a page
	seconds  float64

	rare     []choose.Ranked // rare classes, the rarest first
	sets     *heatwalk.Sets  // nil: none
	setNotes []string

	// isComplete means that all nodes have a label, so that nothing is computed.
	isComplete bool
}

func runClassify(run *shell.Session, c *classifyOptions, name string) error {
	if c.learning.several {
		return predictSeveral(run, c, name)
	}
	return predictLabels(run, c, name)
}

func predictLabels(run *shell.Session, c *classifyOptions, name string) error {
	in, err := readPredictionInputs(run, c, name)
	if err != nil {
		return err
	}
	p, err := predictInputs(run, in)
	if err != nil {
		return err
	}
	labels := c.writtenLabels(p.Prediction)
	doc := judge(run, in, p, labels)
	return writeLabelled(run, in, p, doc, func(row int) (string, int) {
		class := labels[row]
		if class == evaluate.Unlabelled {
			return "", class
		}
		return p.Classes[class], class
	})
}

// readLearned reads the graph, labels and attributes of a run that learns, and returns the settings of its
// method. A saved model replaces the labels.
func readLearned(run *shell.Session, c *classifyOptions, name string) (*shell.GraphRun,
	*engine.Settings, error) {
	progress := run.Progress.Phases()
	if c.model != "" {
		d, err := beginModelRun(run, c, name)
		return d, &engine.Settings{Workers: run.Threads, Progress: progress}, err
	}
	d, err := beginLearning(run, &c.learning, name, c.out)
	if err != nil {
		return nil, nil, err
	}
	s, err := completeSettings(d, run, c.learning.entries[0].Settings, &c.learning, progress)
	return d, s, err
}

// readPredictionInputs reads the inputs, begins the page, counts the bytes of the output, and completes the
// settings.
func readPredictionInputs(run *shell.Session, c *classifyOptions, name string) (*predictionInputs,
	error) {
	d, s, err := readLearned(run, c, name)
	if err != nil {
		return nil, err
	}
	if c.coverage > 0 && d.Out.Format != nil {
		return nil, shell.SetsError(c.out)
	}
	in := &predictionInputs{f: c, data: d, settings: s}
	in.seconds = time.Since(run.Console.Started).Seconds()
	in.isComplete = c.model == "" && c.save == "" && run.Network == nil &&
		!run.Costs.DryRun && len(d.Labels.Row) == len(d.Graph.Degrees)
	if !slices.Contains(flagsOf(c.method), "unreached") {
		c.unreached = "prior"
	}
	s.Raw = c.scores.Kind == "raw"
	if top := c.scores.Top; c.suggest == 0 && c.page == "" && c.coverage == 0 && d.Shares == nil &&
		c.precision == 0 && c.recall == 0 && top != 0 && top <= problem.HighestCount {
		s.Top = max(top, 1)
	}
	run.Costs.Disk += d.Out.PredictionBytes(c.predictionColumns(d.Labels), d.Graph.NodeAxis())
	tables := &c.learning.graph.Tables
	if err := in.chooseTargets(run); err != nil {
		return nil, err
	}
	if c.page != "" && run.Network == nil {
		in.pageRows = []int{}
	}
	if c.pageNodes != "" {
		if in.pageRows, err = run.ReadIDs(tables, c.pageNodes, d.Graph.Nodes); err != nil {
			return nil, err
		}
	}
	return in, in.beginPage(run)
}

// beginPage begins the page, if there is one, and reads the true labels, if there are any.
func (in *predictionInputs) beginPage(run *shell.Session) (err error) {
	c := in.f
	if c.page != "" {
		in.page = shell.NewOutputs(run, c.page)
		if in.page.Writer, err = in.page.Begin(c.page); err != nil {
			return err
		}
	}
	if c.truth != "" {
		in.truth, err = run.ReadLabels(&c.learning.graph, c.truth, in.data.Graph, in.data.Labels)
	}
	return err
}

// chooseTargets reads the targets. Without --targets, they are the nodes on the side of the labels, if the graph has sides and
// labels on one alone.
func (in *predictionInputs) chooseTargets(run *shell.Session) (err error) {
	c := in.f
	g := in.data.Graph
	switch {
	case c.targets == allTargets || c.model != "" || run.Costs.DryRun:
	case c.targets != "":
		in.targets, err = run.ReadIDs(&c.learning.graph.Tables, c.targets, g.Nodes)
	default:
		in.side, err = g.LabelledSide(run.Context, in.data.Labels.Row)
		if in.side != nil {
			in.targets = in.side.Rows
		}
	}
	return err
}

// predictNodes predicts with the method of a run. Its errors name the file or the flag to change.
func predictNodes(run *shell.Session, c *classifyOptions, d *shell.GraphRun, s *engine.Settings,
	o *heatwalk.PredictOptions) (*heatwalk.Prediction, error) {
	p, err := heatwalk.Predict(run.Context, d.Graph.Graph, problemWithShares(d), c.method, s, o)
	switch {
	case errors.As(err, new(*sides.Difference)):
		return nil, originError(err, d.Graph, c.model)
	case errors.Is(err, engine.ErrNoColumns):
		return nil, shell.UsageError("--save-columns", "%v here; leave it out", err)
	case errors.Is(err, engine.ErrChanged):
		return nil, heatwalk.ModelDamage(c.model, err.Error())
	case errors.Is(err, explain.ErrNoForm):
		remedy := "take " + method.Explainable() + ", without a prior for each node"
		if d.Graph.Directed {
			remedy = "take auto or trees, the methods with reasons on a directed graph"
		}
		return nil, shell.UsageError("--method", "%s: %v here; %s", c.method.Name,
			explain.ErrNoForm, remedy)
	case err != nil:
		return nil, run.Costs.GraphError(err, d.Graph.Name, shell.AnotherMethod)
	}
	run.Origin = p.Origin()
	return p, nil
}

// predictInputs returns the predictions of the saved model if one is given, and otherwise of the method. It
// saves the model of the method with --save-model. It warns of what makes the predictions less reliable.
func predictInputs(run *shell.Session, in *predictionInputs) (*heatwalk.Prediction, error) {
	c := in.f
	d := in.data
	l := d.Labels
	if c.model != "" {
		if c.opened != nil {
			in.targets = c.opened.Rows(d.Graph.Nodes)
		}
		p, err := predictNodes(run, c, d, in.settings, &heatwalk.PredictOptions{Sets: c.coverage > 0})
		if err != nil {
			return nil, err
		}
		if err := c.checkReached(d, p.Reached); err != nil {
			return nil, err
		}
		if c.kept.Scores != nil {
			p.HeldOutScores = c.kept.Scores
		}
		if err := c.writeReasons(in); err != nil {
			return nil, err
		}
		return p, in.addSets(run, p)
	}
	if in.isComplete {
		return labelsOf(l), nil
	}
	if c.save != "" && in.settings.Prior.Given != nil {
		return nil, shell.UsageError("--save-model",
			"a model does not hold a prior of each node; give lines class<TAB>share with --prior, or uniform, empirical or balanced")
	}
	saved, err := beginModel(d, problemWithShares(d), c.save)
	if err != nil {
		return nil, err
	}
	columns, err := beginColumns(run, c, d, in.settings)
	if err != nil {
		return nil, err
	}
	o := &heatwalk.PredictOptions{
		Baselines: true, Sets: c.coverage > 0, Suggest: suggestedNodes(run, c, d.Graph), Strategy: c.strategy, Targets: in.targets, Columns: columns != nil,
		Explain: in.pageRows, Deferred: c.page != "" && run.Network == nil,
		Predicting: func() {
			run.Progress.Wait("computing baselines and choosing parameters of " + c.method.Name)
		},
	}
	if in.truth != nil {
		o.Compared = len(in.truth.Row)
	}
	p, err := predictNodes(run, c, d, in.settings, o)
	if err != nil {
		return nil, err
	}
	if err := in.addSets(run, p); err != nil {
		return nil, err
	}
	if c.suggest == 0 {
		if in.rare, err = p.RankClasses(run.Context, c.precision, c.recall); err != nil {
			return nil, err
		}
	}
	if err := c.writeModel(d, saved, p); err != nil {
		return nil, err
	}
	if columns != nil {
		run.Console.Note(describeColumns(c.saveColumns, p.Columns))
		if err := p.WriteColumns(columns, saved.f); err != nil {
			return nil, err
		}
	}
	if p.Unfinished != "" {
		run.Console.Warn("%s: %s%s", c.method.Name, p.Unfinished, shell.UnfinishedAdvice(c.method.Specs))
	}
	if p.Settings > 0 && c.choosesParameters(in.settings) && choose.TooFew(l.Class) {
		run.Console.Warn("%s: too few labels to choose parameters: of two classes at least 2 nodes each are needed; using %v", l.File, p.Parameters)
	}
	if n := l.Numeric(); n == len(l.Row) && n >= mostNumericClasses {
		run.Console.Warn("%s: all %d labels are different numbers, and each is predicted as a class of its own; to predict numbers run heatwalk regress --values %s", l.File, n, l.File)
	}
	return p, nil
}

func (c *classifyOptions) checkReached(d *shell.GraphRun, nodes *roaring.Bitmap) error {
	if reached := float64(nodes.GetCardinality()) / float64(len(d.Graph.Degrees)); reached < c.leastReached {
		return shell.DataError(d.Graph.Name, "labels reach %s of the nodes, less than --min-reached %v; check that the file is whole", words.Percent(reached), c.leastReached)
	}
	return nil
}

// labelsOf returns the labels as predictions, if all nodes have a label.
func labelsOf(l *nodefile.Labels) *heatwalk.Prediction {
	n := len(l.Row)
	p := &engine.Prediction{Class: make([]int, n),
		Scores: sparse.NewBlock[float32](n, len(l.Names)), Reached: roaring.New()}
	p.Reached.AddRange(0, uint64(n))
	for i, row := range l.Row {
		p.Class[row] = l.Class[i]
		p.Scores.Row(row)[l.Class[i]] = 1
	}
	return &heatwalk.Prediction{Prediction: p, Classes: l.Names}
}

// mostNumericClasses is the number of labels from which a warning says that labels are probably numbers, if
// all labels are different numbers.
const mostNumericClasses = 5

func (c *classifyOptions) choosesParameters(s *engine.Settings) bool {
	open := func(p param.Param) bool {
		return len(p.Grid) > 1 && !s.Given.Has(p.Name)
	}
	return slices.ContainsFunc(c.method.Specs,
		func(spec *param.Spec) bool { return slices.ContainsFunc(spec.Params, open) })
}

func (c *classifyOptions) predictionColumns(l *nodefile.Labels) tablefile.Columns {
	return tablefile.Columns{Classes: l.Names, Top: c.scores.Top, Sets: c.coverage > 0}
}

// writtenLabels returns the class to write for each row, or −1 for a blank.
func (c *classifyOptions) writtenLabels(p *engine.Prediction) []int {
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

// labelling returns the label to write for a row, and its class, which is −1 without a label or with
// several.
type labelling func(row int) (label string, class int)

// writeLabelled publishes the output, then makes the page and prints the summary. If making the page fails or
// is interrupted, the output stays.
func writeLabelled(run *shell.Session, in *predictionInputs, p *heatwalk.Prediction,
	doc *classifyDocument, labelOf labelling) (err error) {
	c := in.f
	d := in.data
	begun := time.Now()
	switch {
	case c.suggest > 0:
		err = tablefile.WriteLines(run.Context, d.Out.Writer, shell.Ending(c.out), method.SuggestionTitles,
			len(p.Suggestions), func(i int, cells []string) {
				cells[0] = d.Graph.Nodes.ID(p.Suggestions[i].Row)
				copy(cells[1:], p.Suggestions[i].Cells(d.Labels.Names))
			})
	case c.scores.Kind == "raw" && in.isComplete:
		err = shell.UsageError("--scores", "all nodes have a label, so that %s computes no scores; give probability", c.method.Name)
	case c.scores.Kind == "raw" && p.Raw == nil:
		err = shell.UsageError("--scores", noRaw, c.method.Name) // pairs of classes have only votes
	default:
		err = d.Out.WritePredictions(in.predictionRows(p, labelOf),
			c.predictionColumns(d.Labels), c.scores.Kind == "raw", c.scores.Dtype)
	}
	if err != nil {
		return err
	}
	doc.Phases.Write = time.Since(begun).Seconds()
	var parameters any
	if doc.Parameters != nil {
		parameters = doc.Parameters
	}
	if doc.Several != nil {
		parameters = doc.Several
	}
	if err := d.Out.Publish(parameters, nil); err != nil {
		return err
	}
	missing := finishPage(run, in, p, doc)
	lines := append(doc.summary(in, p), doc.notes...)
	err = run.Console.PrintResult(doc, func(w io.Writer) { d.Out.Print(w, lines) }, c.out)
	return cmp.Or(missing, err)
}

// predictionRows returns the predictions to write, for the targets or, without targets, for all nodes.
func (in *predictionInputs) predictionRows(p *heatwalk.Prediction, labelOf labelling) *shell.PredictionRows {
	d := in.data
	rows := in.targets
	rowAt := d.Graph.Nodes.RowAt
	ids := d.Graph.NodeAxis()
	if rows != nil {
		rowAt = func(i int) int { return rows[i] }
		ids = d.Graph.SelectNodes(rows)
	}
	isKnown := sched.Mark(len(d.Graph.Degrees), d.Labels.Row)
	f := &shell.PredictionRows{IDs: ids, Line: func(i int, line *tablefile.Prediction) {
		row := rowAt(i)
		line.Label, _ = labelOf(row)
		line.Known = isKnown[row]
		p.LineTo(line, row, in.sets)
	}}
	f.Predicted = func(i int) (class int, reached bool) {
		row := rowAt(i)
		_, class = labelOf(row)
		return class, p.Reached.Contains(uint32(row))
	}
	if p.Raw != nil {
		f.RawNames = d.Labels.Names
		f.Raw = func(i int, row []float64) { copy(row, p.Raw.Row(rowAt(i))) }
	}
	return f
}
