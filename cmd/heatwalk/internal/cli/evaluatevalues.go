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

// checkValues validates the flags where nodes have numbers and records problems.
func (c *evaluateCommand) checkValues(cmd *cobra.Command, args []string) {
	flags := cmd.Flags()
	c.graphInputs.check(cmd, args)
	inputs := append(args, c.values, c.attributes.file, c.attributes.ids)
	checkStdin(c.session, append(inputs, c.split, c.config.Nodes)...)
	c.attributes.check(c.session, flags)
	c.refuseBeside(cmd, "values", []string{"method", "train", "folds", "inverse", "splits", "split", "report", "node-features", "feature-ids"})
	c.splitFlags.check(c.session, flags, inputs...)
	if !flags.Changed("method") {
		c.listed = ""
	}
	c.regression = checkRegression(c.session, flags, c.listed)
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
func (c *evaluateCommand) compareValues(name string) error {
	d, err := c.beginValues(name, c.values, c.report, &c.attributes, c.regression)
	if err != nil {
		return err
	}
	v := d.values
	splits, phase := c.session.progress.Parts("evaluating", "split")
	plan := &evaluate.Plan{Fractions: c.train, Folds: c.folds, Inverse: c.inverse, Splits: c.splits, Progress: ofAllMethods(splits)}
	if c.split != "" {
		if err := c.readSplit(plan, d.g, v); err != nil {
			return err
		}
	}
	c.session.disk += runFileBytes
	s := &regress.Settings{RNGSeed: uint64(c.session.seed), Workers: c.session.threads, Progress: phase}
	result, err := heatwalk.CompareValues(c.session.ctx, d.g.Graph, d.problem, d.methods, plan, s)
	if wrong := new(split.SplitError); errors.As(err, &wrong) {
		return c.explain(err, d.g.Nodes, &nodefile.Labels{Names: []string{"number"}})
	}
	if errors.Is(err, regress.ErrConstant) {
		return fault.Data(v.File, "the training nodes of a split have the value %v alone; train on more of them", v.Value[0])
	}
	if err != nil {
		return c.valuesError(err, v, name)
	}
	doc := &valuesDocument{ValuesReport: result, Graph: name, Skipped: skippedOf(v.Labels), Attributes: attributesOf(d.g)}
	lines := []string{doc.Skipped.text("value"), ""}
	if doc.Attributes != nil {
		lines[1] = doc.Attributes.String()
	}
	return publishReport(d.outputs, doc, result, name, storeOf(d.g.Store.Manifest), nil, lines...)
}

// readSplit reads the split of the nodes with a value into a plan.
func (c *evaluateCommand) readSplit(plan *evaluate.Plan, g *openGraph, v *nodefile.Values) error {
	train, test, err := nodefile.ReadSplit(c.session.ctx, c.split, g.Nodes, c.listConfig(c.split))
	if err != nil {
		return err
	}
	split, _, err := split.GivenSplit(v.Row, v.Class, v.Names, train, test)
	plan.Given = &split
	return c.explain(err, g.Nodes, v.Labels)
}
