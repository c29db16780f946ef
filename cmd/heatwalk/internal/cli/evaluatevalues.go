package cli

import (
	"errors"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/method/regress"
	"github.com/heatwalk/heatwalk/method/split"
)

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
	plan := &evaluate.Plan{Fractions: c.splitting.train, Folds: c.splitting.folds, Inverse: c.splitting.inverse, Splits: c.splitting.splits, Progress: splits}
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
	return publishReport(d.data.out, doc, result, name, storeOf(d.data.g.Store.Manifest), nil, doc.Skipped.text("value"), doc.Attributes.String())
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
