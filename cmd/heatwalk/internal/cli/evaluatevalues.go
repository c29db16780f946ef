package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/method/regress"
	"github.com/heatwalk/heatwalk/method/split"
)

// checkEvaluateValues validates the flags where nodes have numbers and records problems.
func checkEvaluateValues(run *session, c *evaluateOptions, cmd *cobra.Command, args []string) {
	flags := cmd.Flags()
	checkGraph(run, &c.learning.graph, cmd, args)
	inputs := append(args, c.values, c.learning.attributes.file, c.learning.attributes.ids)
	checkStdin(run, append(inputs, c.splitting.split, c.learning.graph.config.Nodes)...)
	c.learning.attributes.check(run, flags)
	refuseBeside(run, &c.learning, cmd, "values", []string{"method", "train", "folds", "inverse", "splits", "split", "report", "node-features", "feature-ids"})
	c.splitting.check(run, flags, inputs...)
	if !flags.Changed("method") {
		c.learning.listed = ""
	}
	c.regression = checkRegression(run, flags, c.learning.listed)
}

// valuesDocument is the JSON document of evaluate where nodes have numbers.
type valuesDocument struct {
	*evaluate.ValuesReport
	Graph      string              `json:"graph"`
	Skipped    skippedLines        `json:"skipped_label_lines"`
	Attributes *attributesDocument `json:"node_features,omitempty"`
	Closing
}

// compareValues compares methods that predict a number for each node.
func compareValues(run *session, c *evaluateOptions, name string) error {
	d, err := beginValues(run, &c.learning.graph, name, c.values, c.splitting.report, &c.learning.attributes, c.regression)
	if err != nil {
		return err
	}
	v := d.values
	splits, phase := run.progress.Parts("evaluating", "split")
	plan := &evaluate.Plan{Fractions: c.splitting.train, Folds: c.splitting.folds, Inverse: c.splitting.inverse, Splits: c.splitting.splits, Progress: ofAllMethods(splits)}
	if c.splitting.split != "" {
		if err := readValuesSplit(run, c, plan, d.data.g, v); err != nil {
			return err
		}
	}
	run.disk += runFileBytes
	s := &regress.Settings{RNGSeed: uint64(run.seed), Workers: run.threads, Progress: phase}
	result, err := heatwalk.CompareValues(run.ctx, d.data.g.Graph, d.problem, d.methods, plan, s)
	if wrong := new(split.SplitError); errors.As(err, &wrong) {
		return c.splitting.explain(err, d.data.g.Nodes, &nodefile.Labels{Names: []string{"number"}})
	}
	if errors.Is(err, regress.ErrConstant) {
		return fault.Data(v.File, "the training nodes of a split have the value %v alone; train on more of them", v.Value[0])
	}
	if err != nil {
		return valuesError(run, &c.learning.graph, err, v, name)
	}
	doc := &valuesDocument{ValuesReport: result, Graph: name, Skipped: skippedOf(v.Labels), Attributes: attributesOf(d.data.g)}
	lines := []string{doc.Skipped.text("value"), ""}
	if doc.Attributes != nil {
		lines[1] = doc.Attributes.String()
	}
	return publishReport(d.data.out, doc, result, name, storeOf(d.data.g.Store.Manifest), nil, lines...)
}

// readValuesSplit reads the split of the nodes with a value into a plan.
func readValuesSplit(run *session, c *evaluateOptions, plan *evaluate.Plan, g *openGraph, v *nodefile.Values) error {
	train, test, err := nodefile.ReadSplit(run.ctx, c.splitting.split, g.Nodes, listConfig(run, &c.learning.graph.tables, c.splitting.split))
	if err != nil {
		return err
	}
	split, _, err := split.GivenSplit(v.Row, v.Class, v.Names, train, test)
	plan.Given = &split
	return c.splitting.explain(err, g.Nodes, v.Labels)
}
