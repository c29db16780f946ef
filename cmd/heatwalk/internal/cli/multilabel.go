package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/multilabel"
	"github.com/heatwalk/heatwalk/method/split"
)

// severalSeparator separates the labels of a node in a file of predictions.
const severalSeparator = "|"

// checkSeveral records flags that cannot be used if nodes have several labels: all flags of the command except
// the given ones.
func checkSeveral(run *session, f *learningFlags, cmd *cobra.Command, takes ...string) {
	f.graph.tables.labelling.Several = true
	run.require(cmd.Flags(), "labels")
	refuseBeside(run, f, cmd, "multi-label", append(takes, "labels"))
}

// refuseBeside records flags that cannot be used with the given one: all flags of the command except those
// which it takes, and those for reading graphs and labels.
func refuseBeside(run *session, f *learningFlags, cmd *cobra.Command, flag string, takes []string) {
	takes = slices.Concat(takes, f.graph.names, []string{flag, "temp-dir", "label-fields", "missing", "unknown-ids"})
	cmd.Flags().Visit(func(item *pflag.Flag) {
		if cmd.InheritedFlags().Lookup(item.Name) == nil && !slices.Contains(takes, item.Name) {
			run.refuse(cmd.Flags(), rule{true, item.Name, "cannot be used with --" + flag + "; leave it out"})
		}
	})
}

// beginSeveral reads the graph, the labels and the attributes, and plans the run with its number of predictions.
func beginSeveral(run *session, f *learningFlags, name, path string, predictions int) (*graphRun, *method.Settings, error) {
	d, err := beginLearning(run, f, name, path)
	if err != nil {
		return nil, nil, err
	}
	for _, label := range d.l.Names {
		if strings.Contains(label, severalSeparator) {
			return nil, nil, fault.Data(d.l.File, "the label %s holds %s, which separates labels in predictions; rename it", quoted(label), severalSeparator)
		}
	}
	_, phase := run.progress.Parts("learning", "")
	s := &method.Settings{RNGSeed: uint64(run.seed), Workers: run.threads, Progress: phase}
	run.disk += runFileBytes
	err = heatwalk.Begin(run.ctx, d.g.Graph, func(p *heatwalk.Plan) error {
		_ = p.Reserve(learnerBytes+labelBytes*int64(len(d.l.Row)), "labels and learner") // the next part reports the error
		s.Memory = p.Room()
		return p.Reserve(multilabel.Bytes(d.problem()), "learning and predictions")
	})
	return d, s, err
}

func predictSeveral(run *session, c *classifyOptions, name string) error {
	d, s, err := beginSeveral(run, &c.learning, name, c.out, 1)
	if err != nil {
		return err
	}
	model, p, err := multilabel.Predict(run.ctx, d.problem(), s)
	if err != nil {
		return graphError(run, err, name, another)
	}
	r := &classifyRun{data: d, f: c, p: p, classifyDocument: classifyDocument{labelsDocument: learnedFrom(d.out, d.l), Method: "spectral", Several: model}}
	r.Labelled = model.Labelled
	if r.Components, err = d.problem().MissedComponents(run.ctx, p.Reached, run.threads, &p.Work); err != nil {
		return err
	}
	return r.finish(run, model, func(row int) string {
		if c.unreached != "prior" && !p.Reached.Contains(uint32(row)) {
			return ""
		}
		var names []string
		for _, c := range model.LabelsOf(p, row) {
			names = append(names, d.l.Names[c])
		}
		return strings.Join(names, severalSeparator)
	})
}

// multiLabelDocument is the JSON document of evaluate where nodes have several labels.
type multiLabelDocument struct {
	*multilabel.Report
	Graph   string       `json:"graph"`
	Skipped skippedLines `json:"skipped_label_lines"`
	Closing
}

func compareSeveral(run *session, c *evaluateOptions, name string) error {
	d, s, err := beginSeveral(run, &c.learning, name, c.splitting.report, len(c.splitting.train)*c.splitting.splits)
	if err != nil {
		return err
	}
	splits, _ := run.progress.Parts("evaluating", "split")
	report, err := multilabel.Evaluate(run.ctx, d.problem(), c.splitting.train, c.splitting.splits, s, splits)
	if shortage := new(split.SplitError); errors.As(err, &shortage) && shortage.Class >= 0 {
		return fault.Usage("--train", "%v of %s leaves no node to learn from; the smallest fraction that works is %v",
			shortage.Fraction, words.Counted(shortage.Items, "labelled node"), shortage.Smallest)
	}
	if err != nil {
		return graphError(run, c.splitting.explain(err, d.g.Nodes, d.l), name, another)
	}
	doc := &multiLabelDocument{Report: report, Graph: name, Skipped: skippedOf(d.l)}
	return publishReport(d.out, doc, report, name, storeOf(d.g.Store.Manifest), nil)
}
