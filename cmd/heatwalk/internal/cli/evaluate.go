package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/regress"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/param"
)

// evaluateOptions are the options of evaluate.
type evaluateOptions struct {
	learning     learningFlags
	splitting    splitFlags
	tuningSplits int
	gridName     string
	values       string // file of numbers in place of labels
	regression   []regress.Method
}

func newEvaluate(run *session) *cobra.Command {
	cmd, c, flags := newCommand(run, "evaluate GRAPH --labels L.tsv",
		"Methods side by side on splits of the labelled nodes", checkEvaluate,
		runEvaluate)
	labelsFlag(&c.learning, flags)
	flags.addText(&c.values, "values", "`FILE` of node and number, to compare methods of heatwalk regress")
	flags.StringVar(&c.learning.listed, "method", "auto,cwk,lp", "`LIST` of methods joined by commas, with parameters as in diffusion:beta=2+rls,lp; see heatwalk methods")
	c.splitting = splitFlags{noun: "node", train: []float64{0.05, 0.1}, splits: 20}
	c.splitting.declare(flags)
	numberVar(flags, &c.tuningSplits, "tuning-splits", 10,
		param.Range{Most: 100_000}, "N",
		"further splits to choose parameters on, at each training size (0: inside each training set)")
	flags.StringVar(&c.gridName, "grid", "small", "parameters to choose from: paper (those of the methods' papers), small, none (defaults), or a `FILE` of values by method, see docs/formats.md")
	severalFlag(&c.learning, flags)
	learningFlagSet(&c.learning, flags)
	return cmd
}

// runEvaluate reads the inputs, compares the methods on splits, judges the results, and writes the report.
func runEvaluate(run *session, c *evaluateOptions, name string) error {
	in, err := readComparison(run, c, name)
	if err != nil {
		return err
	}
	report, err := compareMethods(run, in)
	if err != nil {
		return explainComparison(run.costs, in, err)
	}
	if classes, ok := report.(*evaluate.Report); ok {
		warnUnfinished(run.console, in.plan, classes)
	}
	return writeComparison(in, report)
}

// checkEvaluate validates the flags and records problems.
func checkEvaluate(line *commandLine, c *evaluateOptions, _ []string) {
	switch {
	case c.values != "":
		refuseBeside(line, &c.learning, "values",
			[]string{"method", "train", "folds", "splits", "split", "report",
				"node-features", "feature-ids"})
		if !line.command.Flags().Changed("method") {
			c.learning.listed = ""
		}
		c.regression = checkRegression(line, c.learning.listed)
	case c.learning.several:
		checkSeveral(line, &c.learning, "train", "folds", "splits", "report")
	default:
		checkLearning(line, &c.learning)
		settleMethods(line, &c.learning, c.gridName)
	}
}

// comparedDocument has the keys of the JSON documents of evaluate that are no measurements.
type comparedDocument struct {
	Graph      string              `json:"graph"`
	Skipped    skippedLines        `json:"skipped_label_lines"`
	Attributes *attributesDocument `json:"node_features,omitempty"`
	Closing
}

// evaluateDocument, valuesDocument and multiLabelDocument are the JSON documents of evaluate for classes, numbers and several
// labels of each node.
type (
	evaluateDocument struct {
		*evaluate.Report
		comparedDocument
	}
	valuesDocument struct {
		*evaluate.ValuesReport
		comparedDocument
	}
	multiLabelDocument struct {
		*evaluate.SeveralReport
		comparedDocument
	}
)

// comparison is what evaluate reads.
type comparison struct {
	f      *evaluateOptions
	data   *graphRun
	values *valuesRun       // nil: nodes have classes
	labels *nodefile.Labels // of the values too
	plan   *evaluate.Plan
}

// readComparison reads the graph with one label of each node, with --multi-label any number, or with --values a number,
// and draws the splits.
func readComparison(run *session, c *evaluateOptions, name string) (*comparison, error) {
	in := &comparison{f: c}
	path := c.splitting.report
	splits, phase := run.progress.Parts("evaluating", "split")
	in.plan = &evaluate.Plan{Progress: splits, Settings: &method.Settings{
		RNGSeed: uint64(run.seed), Workers: run.threads, Progress: phase}}
	var err error
	switch {
	case c.values != "":
		if in.values, err = beginValues(run, &c.learning.graph, name, c.values, path,
			&c.learning.attributes, c.regression); err != nil {
			return nil, err
		}
		in.data = in.values.data
		in.labels = in.values.values.Labels
	case c.learning.several:
		in.data, err = beginSeveral(run, &c.learning, name, path)
	default:
		if in.data, err = beginLearning(run, &c.learning, name, path); err != nil {
			return nil, err
		}
		in.plan.TuningSplits = c.tuningSplits
		in.plan.Methods = c.learning.entries
		in.plan.Stratified = c.splitting.draw == "stratified"
		in.plan.Settings, err = in.data.settings(run, &c.learning.base, &c.learning, phase)
	}
	if err != nil {
		return nil, err
	}
	if in.values == nil {
		in.labels = in.data.l
	}
	run.costs.disk += runFileBytes
	return in, c.splitting.drawSplits(in.data.out, &c.learning.graph.tables, in.plan,
		in.data.g.Nodes, in.labels)
}

// compareMethods compares methods that predict one label, several labels or a number for each node.
func compareMethods(run *session, in *comparison) (reporter, error) {
	g := in.data.g.Graph
	switch s := in.plan.Settings; {
	case in.values != nil:
		return heatwalk.CompareValues(run.ctx, g, in.values.problem, in.values.methods, in.plan, s)
	case in.f.learning.several:
		return heatwalk.CompareSeveral(run.ctx, g, in.data.problem(), in.plan, s)
	}
	return heatwalk.Compare(run.ctx, g, in.data.problem(), in.plan)
}

// explainComparison adds the file, the flag or the graph to an error of a comparison.
func explainComparison(costs *runCosts, in *comparison, err error) error {
	name := in.data.g.name
	switch {
	case in.values == nil:
		err = in.f.splitting.explain(err, in.data.g.Nodes, in.labels)
		return graphError(costs, err, name, another)
	case errors.As(err, new(*split.SplitError)):
		return in.f.splitting.explain(err, in.data.g.Nodes, in.labels)
	case errors.Is(err, problem.ErrConstant):
		return fault.Data(in.labels.File,
			"the training nodes of a split have the value %v alone; train on more of them", in.values.values.Value[0])
	}
	return valuesError(costs, err, in.values.values, name)
}

// writeComparison publishes the report.
func writeComparison(in *comparison, report reporter) error {
	compared := comparedDocument{Graph: in.data.g.name, Skipped: skippedOf(in.labels),
		Attributes: attributesOf(in.data.g)}
	switch r := report.(type) {
	case *evaluate.ValuesReport:
		return publishReport(in.data.out, &valuesDocument{r, compared}, r, "values", compared.Graph,
			compared.Skipped.text("value"), compared.Attributes.String())
	case *evaluate.SeveralReport:
		return publishReport(in.data.out, &multiLabelDocument{r, compared}, r, "severallabels",
			compared.Graph)
	case *evaluate.Report:
		return publishClasses(in.data.out, &evaluateDocument{r, compared})
	}
	return nil
}

// reporter is a report as text.
type reporter interface{ WriteText(w io.Writer) error }

// publishReport writes a report on a graph as JSON, HTML or text, publishes the file, and prints the document with
// --json, else the report and lines.
func publishReport(o *outputs, doc document, r reporter, page, graph string,
	lines ...string) error {
	run := o.run
	doc.closeWith(closingOfRun(run.console))
	var err error
	switch format := formatOf(o.path, reportFormats); {
	case o.path == "":
	case format == ".json":
		err = encodeDocument(o.w, doc)
	case format == ".html":
		err = writePage(run, o.w, page, doc, graph)
	default:
		err = r.WriteText(o.w)
	}
	if err == nil {
		err = o.publish(nil, nil)
	}
	if err == nil && run.console.json {
		return printDocument(run.console, doc)
	}
	run.progress.Close()
	if err == nil && o.path != "-" {
		err = r.WriteText(escapeWriter{run.console.stdout})
	}
	if err != nil {
		return err
	}
	o.print(summaryOf(run.console, o.path), lines)
	return run.console.stdout.err
}

// publishClasses publishes the report on predictions of classes.
func publishClasses(o *outputs, doc *evaluateDocument) error {
	return publishReport(o, doc, doc.Report, "evaluate", doc.Graph,
		doc.Skipped.String(), doc.Attributes.String())
}

// warnUnfinished warns about iterations that did not converge.
func warnUnfinished(console *streams, plan *evaluate.Plan, report *evaluate.Report) {
	for _, r := range report.Results {
		if r.Unfinished == "" {
			continue
		}
		advice := ""
		if i := slices.IndexFunc(plan.Methods,
			func(m method.Entry) bool { return m.Name == r.Method }); i >= 0 {
			advice = unfinishedAdvice(plan.Methods[i].Method)
		}
		console.warn("%s on %s of %d at %s: %s%s", r.Method,
			words.Counted(r.UnfinishedSplits, "split"), report.Splits, r.TrainedOn,
			r.Unfinished, advice)
	}
}

// splitFlags holds the flags of commands that compare methods, for training sets and reports.
type splitFlags struct {
	noun     string // noun for a labelled item: "node" or that of a kind of items
	train    []float64
	perClass []int
	folds    int
	draw     string
	splits   int
	split    string
	save     string // file for the splits
	report   string
}

// declare declares the flags of s; its fractions and folds are the defaults.
func (s *splitFlags) declare(flags *flagSet) {
	var fractions, folds string
	if s.train != nil {
		fractions = strings.Trim(strings.ReplaceAll(fmt.Sprint(s.train), " ",
			","), "[]")
	} else {
		folds = fmt.Sprintf(" (default: %d, where no other size is given)",
			itemFolds)
	}
	variable(flags, "train", "X[,X...]", fractions, "fractions of the labelled "+s.noun+"s to train on", func(text string) error {
		return parseList(&s.train, text, parseTraining)
	})
	variable(flags, "per-class", "N[,N...]", "", "numbers of "+s.noun+"s of each class to train on, instead of fractions", func(text string) error {
		return parseList(&s.perClass, text, parseCount)
	})
	numberVar(flags, &s.folds, "folds", 0, param.Range{Least: 2, Most: 100_000},
		"N", "number of folds of a cross-validation: train on all but one, test on that one"+folds)
	drawn := "random fractions, stratified folds"
	if s.noun != "node" {
		drawn = "stratified"
	}
	choiceVar(flags, &s.draw, "draw", "", []string{"random", "stratified"},
		"stratified: the same share of each class in every fraction or fold (default: "+drawn+")")
	numberVar(flags, &s.splits, "splits", s.splits,
		param.Range{Least: 1, Most: 100_000}, "N",
		"random splits for each training size; with --folds, partitions into folds, of which 1 is the default")
	flags.addText(&s.split, "split", "`FILE` of "+s.noun+"<TAB>train|test lines, or of such words for several splits, instead of random ones")
	sideFlag(flags, &s.save, "save-splits", "`FILE` for the splits, .tsv or .csv, which --split reads", tablefile.LineEndings)
	outputFlag(flags, &s.report, "report", "", "`FILE` for the whole report: .html, .json or .txt", reportFormats)
	flags.addCheck(s.check)
}

// parseTraining parses the fraction of the labelled nodes that a training set has, parseCount a number of them.
func parseTraining(s string) (float64, error) {
	x, err := parseNumber[float64](s, openUnit, "fraction")
	if n, notCount := strconv.Atoi(strings.TrimSuffix(s, "%")); err != nil &&
		notCount == nil && 0 < n && n < 100 {
		err = fmt.Errorf("%s is not a fraction; give %v for %d %%, or --per-class %[3]d for %[3]d of each class", s, float64(n)/100, n)
	}
	return x, err
}
func parseCount(s string) (int, error) {
	return parseNumber[int](s, param.Range{Least: 1, Most: 1 << 30}, "N")
}

// itemFolds is the default of --folds for items.
const itemFolds = 10

// parseList parses the parts of s between commas with one; a repeated part is an error.
func parseList[T comparable](list *[]T, s string,
	one func(text string) (T, error)) error {
	var values []T
	for _, text := range strings.Split(s, ",") {
		v, err := one(strings.TrimSpace(text))
		if err != nil {
			return err
		}
		if slices.Contains(values, v) {
			return fmt.Errorf("%v is named twice; leave one out", v)
		}
		values = append(values, v)
	}
	*list = values
	return nil
}

// reportFormats are the endings of a report.
var reportFormats = []string{".txt", ".json", ".html"}

// check validates the flags of s, records problems, and completes the flags.
func (s *splitFlags) check(line *commandLine, _ []string) {
	flags := line.command.Flags()
	const leaveOut = "; leave out one of the two"
	size := "how many " + s.noun + "s to train on"
	isGiven := s.split != ""
	folds := !isGiven && s.folds > 0
	classes := !isGiven && s.folds == 0 && len(s.perClass) > 0
	line.refuse(rule{isGiven, "train per-class folds draw splits tuning-splits",
		"the splits are given by --split" + leaveOut},
		rule{folds, "train per-class", size + " is given by --folds" + leaveOut},
		rule{classes && flags.Changed("train"), "per-class",
			"it says " + size + ", and so does --train" + leaveOut},
		rule{classes, "draw",
			"every class has the same number by --per-class" + leaveOut},
	)
	if s.train == nil && s.perClass == nil && s.split == "" && s.folds == 0 {
		s.folds = itemFolds
	}
	if s.folds > 0 && !flags.Changed("splits") {
		s.splits = 1
	}
	if s.draw == "" && (s.folds > 0 || s.noun != "node") {
		s.draw = "stratified"
	}
}

// readSplits stores the splits of --split in a plan, if they are given.
func (s *splitFlags) readSplits(run *session, in *inputs, plan *evaluate.Plan,
	nodes itemIDs, l *nodefile.Labels) error {
	if s.split == "" {
		return nil
	}
	list, err := nodefile.ReadSplits(run.ctx, s.split, nodes,
		listConfig(run.console, in, s.split))
	if err != nil {
		return err
	}
	untrained := make([]int, len(l.Names)) // test items of classes without a training item
	for _, rows := range list {
		splits, unseen, err := split.GivenSplit(l.Row, l.Class, l.Names,
			rows.Train, rows.Test)
		if err != nil {
			return s.explain(err, nodes, l)
		}
		for c, tests := range unseen {
			untrained[c] += tests
		}
		plan.Given = append(plan.Given, splits)
	}
	warnUntrained(run.console, s.split, l.Names, untrained, "test "+s.noun)
	return nil
}

// writeSplits writes the splits of a plan to the file of --save-splits, if it is given.
func (s *splitFlags) writeSplits(o *outputs, plan *evaluate.Plan, nodes itemIDs,
	l *nodefile.Labels) error {
	if s.save == "" {
		return nil
	}
	list, err := plan.SplitsOf(l.Class, uint64(o.run.seed))
	if err != nil {
		return s.explain(err, nodes, l)
	}
	uses := make([][]string, len(l.Row))
	for i, one := range list {
		for _, position := range one.Train {
			uses[position] = append(uses[position], "train")
		}
		for _, position := range one.Test {
			uses[position] = append(uses[position], "test")
		}
		for position := range uses {
			if len(uses[position]) == i {
				uses[position] = append(uses[position], "none")
			}
		}
	}
	w, err := o.begin(s.save)
	if err != nil {
		return err
	}
	return tablefile.WriteLines(o.run.ctx, w, endingOf(s.save), []string{"node", "split"}, len(l.Row), func(i int, cells []string) {
		cells[0], cells[1] = nodes.ID(l.Row[i]), strings.Join(uses[i], " ")
	})
}

// itemIDs are nodes or graphs by their ids.
type itemIDs interface {
	nodefile.Lookup
	ID(row int) string
}

// drawSplits completes a plan with the training sets for labels, reads those of --split, and writes all to the file of
// --save-splits.
func (s *splitFlags) drawSplits(o *outputs, in *inputs, plan *evaluate.Plan,
	nodes itemIDs, l *nodefile.Labels) error {
	plan.Fractions = s.train
	plan.PerClass = s.perClass
	plan.Folds = s.folds
	plan.Splits = s.splits
	return cmp.Or(s.readSplits(o.run, in, plan, nodes, l),
		s.writeSplits(o, plan, nodes, l))
}

// explain adds ids, classes, files and flags to errors about splits.
func (s *splitFlags) explain(err error, nodes itemIDs, l *nodefile.Labels) error {
	var splitError *split.SplitError
	switch {
	case errors.As(err, &splitError) && splitError.Row >= 0:
		return fault.Data(s.split, "%q %s; keep one line for each labelled %s",
			nodes.ID(splitError.Row), splitError.What, s.noun)
	case errors.As(err, &splitError) && s.split != "":
		return fault.Data(s.split, "%v; give it more lines", splitError)
	case errors.As(err, &splitError) && splitError.Folds > 0:
		return fault.Usage("--folds", "%v", splitError)
	case errors.As(err, &splitError):
		return fault.Usage("--train", "%v", splitError)
	case errors.Is(err, split.ErrUsage) && len(s.perClass) > 0:
		return fault.Usage("--per-class", "%s", withoutUsage(err))
	}
	return err
}
