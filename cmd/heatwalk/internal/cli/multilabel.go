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
func (f *learningFlags) checkSeveral(cmd *cobra.Command, args []string, takes ...string) {
	f.labelling.Several = true
	f.graphInputs.check(cmd, args)
	checkStdin(f.session, append(args, f.labels)...)
	f.session.require(cmd.Flags(), "labels")
	f.refuseBeside(cmd, "multi-label", append(takes, "labels"))
}

// refuseBeside records flags that cannot be used with the given one: all flags of the command except those
// which it takes, and those for reading graphs and labels.
func (f *learningFlags) refuseBeside(cmd *cobra.Command, flag string, takes []string) {
	takes = slices.Concat(takes, f.names, []string{flag, "temp-dir", "label-fields", "missing", "unknown-ids"})
	shared := cmd.InheritedFlags()
	cmd.Flags().Visit(func(item *pflag.Flag) {
		if shared.Lookup(item.Name) == nil && !slices.Contains(takes, item.Name) {
			f.session.problem("--"+item.Name, "cannot be used with --%s; leave it out", flag)
		}
	})
}

func (c *classifyCommand) checkSeveral(cmd *cobra.Command, args []string) {
	c.learningFlags.checkSeveral(cmd, args, "output", "scores", "dtype", "unreached")
	c.scores.check(c.session, cmd.Flags(), c.out, scoreFormats, false)
	c.session.refuse(cmd.Flags(), rule{c.scores.kind == "raw", "scores", "there are probabilities alone with --multi-label; give probability"})
	checkOutput(c.session, "-o", c.out, scoreFormats, append(args, c.labels)...)
}

func (c *evaluateCommand) checkSeveral(cmd *cobra.Command, args []string) {
	c.learningFlags.checkSeveral(cmd, args, "train", "splits", "report")
	checkOutput(c.session, "--report", c.report, reportFormats, append(args, c.labels)...)
}

// beginSeveral reads the graph, the labels and the attributes, and plans the run with its number of predictions.
func (f *learningFlags) beginSeveral(name, path string, predictions int) (*graphRun, *method.Settings, error) {
	d, err := f.begin(name, path)
	if err != nil {
		return nil, nil, err
	}
	for _, label := range d.l.Names {
		if strings.Contains(label, severalSeparator) {
			return nil, nil, fault.Data(d.l.File, "the label %s holds %s, which separates labels in predictions; rename it", quoted(label), severalSeparator)
		}
	}
	_, phase := f.session.progress.Parts("learning", "")
	s := &method.Settings{RNGSeed: uint64(f.session.seed), Workers: f.session.threads, Progress: phase}
	f.session.disk += runFileBytes
	err = heatwalk.Begin(f.session.ctx, d.g.Graph, func(p *heatwalk.Plan) error {
		_ = p.Reserve(learnerBytes+labelBytes*int64(len(d.l.Row)), "labels and learner") // the next part reports the error
		s.Memory = p.Room()
		return p.Reserve(multilabel.Bytes(d.problem()), "learning and predictions")
	})
	return d, s, err
}

func (c *classifyCommand) predictSeveral(name string) error {
	d, s, err := c.learningFlags.beginSeveral(name, c.out, 1)
	if err != nil {
		return err
	}
	model, p, err := multilabel.Predict(c.session.ctx, d.problem(), s)
	if err != nil {
		return c.session.graphError(err, name, another)
	}
	r := &classifyRun{graphRun: d, f: c, p: p, classifyDocument: classifyDocument{labelsDocument: learnedFrom(d.outputs, d.l), Method: "spectral", Several: model}}
	r.Labelled = model.Labelled
	if r.Components, err = d.problem().MissedComponents(c.session.ctx, p.Reached, c.session.threads, &p.Work); err != nil {
		return err
	}
	return r.finish(model, func(row int) string {
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

func (c *evaluateCommand) compareSeveral(name string) error {
	d, s, err := c.learningFlags.beginSeveral(name, c.report, len(c.train)*c.splits)
	if err != nil {
		return err
	}
	splits, _ := c.session.progress.Parts("evaluating", "split")
	report, err := multilabel.Evaluate(c.session.ctx, d.problem(), c.train, c.splits, s, ofAllMethods(splits))
	if shortage := new(split.SplitError); errors.As(err, &shortage) && shortage.Class >= 0 {
		return fault.Usage("--train", "%v of %s leaves no node to learn from; the smallest fraction that works is %v",
			shortage.Fraction, words.Counted(shortage.Items, "labelled node"), shortage.Smallest)
	}
	if err != nil {
		return c.session.graphError(c.explain(err, d.g.Nodes, d.l), name, another)
	}
	doc := &multiLabelDocument{Report: report, Graph: name, Skipped: skippedOf(d.l)}
	return publishReport(d.outputs, doc, report, name, storeOf(d.g.Store.Manifest), nil)
}
