package learn

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
)

type evaluateOptions struct {
	learning     learningFlags
	splitting    shell.SplitFlags
	tuningSplits int
	gridName     string
	values       string // file of numbers that replace labels
	regression   []engine.Entry
}

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
	flags.AddInputOrWord(&c.gridName, "grid", "small", []string{"paper", "small", "none"}, "parameters to choose from: paper (as in the papers), small, none (defaults), or a `FILE` of values by method, see docs/formats.md")
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
	report, err := heatwalk.Compare(run.Context, in.data.Graph.Graph, in.problem, in.plan)
	if err != nil {
		return explainComparison(run.Costs, in, err)
	}
	run.Console.WarnUnfinished(in.plan, report)
	return in.data.Out.PublishReport(&shell.EvaluateDocument{Report: report, ComparedDocument: shell.ComparedDocument{
		Graph: in.data.Graph.Name, Skipped: shell.CountSkipped(in.data.Labels), Attributes: in.data.Graph.DescribeAttributes()}})
}

func checkEvaluate(line *shell.CommandLine, c *evaluateOptions, _ []string) {
	switch {
	case c.values != "":
		refuseBeside(line, &c.learning, "values",
			[]string{"method", "train", "folds", "splits", "split", "report", "groups", "split-time"})
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

type comparison struct {
	f       *evaluateOptions
	data    *shell.GraphRun
	values  *valuesRun // nil: nodes have classes
	problem *engine.Problem
	plan    *evaluate.Plan
}

// readComparison reads the graph and the labels. A node has one label; with --multi-label it has any
// number of labels, and with --values a number.
func readComparison(run *shell.Session, c *evaluateOptions, name string) (*comparison, error) {
	in := &comparison{f: c}
	path := c.splitting.Report
	splits, phase := run.Progress.Parts("evaluating", "split")
	in.plan = &evaluate.Plan{Progress: splits, Settings: &engine.Settings{
		RNGSeed: uint64(run.Seed), Workers: run.Threads, Progress: phase}}
	var err error
	switch {
	case c.values != "":
		if in.values, err = beginValues(run, &c.learning.graph, name, c.values, path,
			&c.learning.attributes, &c.learning.heldOut, c.regression); err != nil {
			return nil, err
		}
		in.data = in.values.data
		in.problem = in.values.problem
		in.plan.Methods = in.values.methods
	case c.learning.several:
		in.data, err = beginSeveral(run, &c.learning, name, path)
		in.plan.Several = true
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
		in.problem = problemWithShares(in.data)
	}
	run.Costs.Disk += shell.RunFileBytes
	return in, c.splitting.DrawSplits(in.data.Out, &c.learning.graph.Tables, in.plan,
		in.data.Graph.Nodes, in.data.Labels, in.problem)
}

// explainComparison adds the file, the flag or the graph to an error of a comparison.
func explainComparison(costs *shell.Costs, in *comparison, err error) error {
	name := in.data.Graph.Name
	err = in.f.splitting.Explain(err, in.data.Graph.Nodes)
	switch {
	case in.values == nil:
		return costs.GraphError(err, name, shell.AnotherMethod)
	case errors.Is(err, problem.ErrConstant):
		return shell.DataError(in.data.Labels.File,
			"the training nodes of a split have the value %v alone; train on more of them", in.values.values.Value[0])
	}
	return valuesError(costs, err, in.values.values, name)
}
