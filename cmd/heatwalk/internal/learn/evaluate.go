package learn

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/param"
)

// evaluateOptions are the options of evaluate.
type evaluateOptions struct {
	learning     learningFlags
	splitting    shell.SplitFlags
	tuningSplits int
	gridName     string
	values       string // file of numbers in place of labels
	regression   []method.Entry
}

// NewEvaluate returns the command heatwalk evaluate.
func NewEvaluate(run *shell.Session) *cobra.Command {
	cmd, c, flags := shell.NewCommand(run, "evaluate GRAPH --labels L.tsv",
		"Methods side by side on splits of the labelled nodes", checkEvaluate,
		runEvaluate)
	c.learning.labelsFlag(flags)
	flags.AddInput(&c.values, "values", "of node and number, to compare methods of heatwalk regress")
	flags.StringVar(&c.learning.listed, "method", "auto,cwk,lp", "`LIST` of methods joined by commas, with parameters as in diffusion:beta=2+rls,lp; see heatwalk methods")
	c.splitting = shell.SplitFlags{Noun: "node", Train: []float64{0.05, 0.1}, Splits: 20}
	c.splitting.Declare(flags)
	shell.NumberVar(flags, &c.tuningSplits, "tuning-splits", 10,
		param.Range{Most: 100_000}, "N",
		"further splits to choose parameters on, at each training size (0: inside each training set)")
	flags.AddInputOrWord(&c.gridName, "grid", "small", []string{"paper", "small", "none"}, "parameters to choose from: paper (those of the methods' papers), small, none (defaults), or a `FILE` of values by method, see docs/formats.md")
	c.learning.severalFlag(flags)
	c.learning.learningFlagSet(flags)
	return cmd
}

// runEvaluate reads the inputs, compares the methods on splits, judges the results, and writes the report.
func runEvaluate(run *shell.Session, c *evaluateOptions, name string) error {
	in, err := readComparison(run, c, name)
	if err != nil {
		return err
	}
	report, err := compareMethods(run, in)
	if err != nil {
		return explainComparison(run.Costs, in, err)
	}
	if classes, ok := report.(*evaluate.Report); ok {
		run.Console.WarnUnfinished(in.plan, classes)
	}
	return in.writeComparison(report)
}

// checkEvaluate validates the flags and records problems.
func checkEvaluate(line *shell.CommandLine, c *evaluateOptions, _ []string) {
	switch {
	case c.values != "":
		refuseBeside(line, &c.learning, "values",
			[]string{"method", "train", "folds", "splits", "split", "report",
				"node-features", "feature-ids"})
		if !line.Command.Flags().Changed("method") {
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

// valuesDocument and multiLabelDocument are the JSON documents of evaluate for numbers and several labels of each node.
type (
	valuesDocument struct {
		*evaluate.ValuesReport
		shell.ComparedDocument
	}
	multiLabelDocument struct {
		*evaluate.SeveralReport
		shell.ComparedDocument
	}
)

// comparison is what evaluate reads.
type comparison struct {
	f      *evaluateOptions
	data   *shell.GraphRun
	values *valuesRun       // nil: nodes have classes
	labels *nodefile.Labels // of the values too
	plan   *evaluate.Plan
}

// readComparison reads the graph with one label of each node, with --multi-label any number, or with --values a number,
// and draws the splits.
func readComparison(run *shell.Session, c *evaluateOptions, name string) (*comparison, error) {
	in := &comparison{f: c}
	path := c.splitting.Report
	splits, phase := run.Progress.Parts("evaluating", "split")
	in.plan = &evaluate.Plan{Progress: splits, Settings: &method.Settings{
		RNGSeed: uint64(run.Seed), Workers: run.Threads, Progress: phase}}
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
		in.plan.Stratified = c.splitting.Draw == "stratified"
		in.plan.Settings, err = completeSettings(in.data, run, &c.learning.base, &c.learning, phase)
	}
	if err != nil {
		return nil, err
	}
	if in.values == nil {
		in.labels = in.data.Labels
	}
	run.Costs.Disk += shell.RunFileBytes
	return in, c.splitting.DrawSplits(in.data.Out, &c.learning.graph.Tables, in.plan,
		in.data.Graph.Nodes, in.labels)
}

// compareMethods compares methods that predict one label, several labels or a number for each node.
func compareMethods(run *shell.Session, in *comparison) (shell.Reporter, error) {
	g := in.data.Graph.Graph
	switch s := in.plan.Settings; {
	case in.values != nil:
		return heatwalk.CompareValues(run.Context, g, in.values.problem, in.values.methods, in.plan, s)
	case in.f.learning.several:
		return heatwalk.CompareSeveral(run.Context, g, problemWithShares(in.data), in.plan, s)
	}
	return heatwalk.Compare(run.Context, g, problemWithShares(in.data), in.plan)
}

// explainComparison adds the file, the flag or the graph to an error of a comparison.
func explainComparison(costs *shell.Costs, in *comparison, err error) error {
	name := in.data.Graph.Name
	switch {
	case in.values == nil:
		err = in.f.splitting.Explain(err, in.data.Graph.Nodes, in.labels)
		return costs.GraphError(err, name, shell.AnotherMethod)
	case errors.As(err, new(*split.SplitError)):
		return in.f.splitting.Explain(err, in.data.Graph.Nodes, in.labels)
	case errors.Is(err, problem.ErrConstant):
		return fault.Data(in.labels.File,
			"the training nodes of a split have the value %v alone; train on more of them", in.values.values.Value[0])
	}
	return valuesError(costs, err, in.values.values, name)
}

// writeComparison publishes the report.
func (in *comparison) writeComparison(report shell.Reporter) error {
	compared := shell.ComparedDocument{Graph: in.data.Graph.Name, Skipped: shell.CountSkipped(in.labels),
		Attributes: in.data.Graph.DescribeAttributes()}
	switch r := report.(type) {
	case *evaluate.ValuesReport:
		return in.data.Out.PublishReport(&valuesDocument{r, compared}, r, "values", compared.Graph,
			compared.Skipped.Describe("value"), compared.Attributes.String())
	case *evaluate.SeveralReport:
		return in.data.Out.PublishReport(&multiLabelDocument{r, compared}, r, "severallabels",
			compared.Graph)
	case *evaluate.Report:
		return in.data.Out.PublishClasses(&shell.EvaluateDocument{Report: r, ComparedDocument: compared})
	}
	return nil
}
