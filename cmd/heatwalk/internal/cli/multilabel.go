package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/multilabel"
	"github.com/heatwalk/heatwalk/validate"
)

// severalSeparator stands between labels of a node in a file of predictions.
const severalSeparator = "|"

// checkSeveral notes flags that make no difference where nodes have several labels:
// those of the command but the given ones.
func (in *invocation) checkSeveral(cmd *cobra.Command, args []string, f *learning, takes ...string) {
	in.labelling.Several = true
	in.checkGraph(cmd, args, &f.reading)
	in.checkStdin(append(args, f.labels)...)
	in.require(cmd.Flags(), "labels")
	takes = slices.Concat(takes, f.names, []string{"multi-label", "temp-dir", "labels", "label-fields", "missing", "unknown-ids"})
	shared := cmd.InheritedFlags()
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if shared.Lookup(f.Name) == nil && !slices.Contains(takes, f.Name) {
			in.problem("--"+f.Name, "makes no difference with --multi-label; leave it out")
		}
	})
}

func (in *invocation) checkSeveralClassify(cmd *cobra.Command, args []string, f *classifyFlags) {
	in.checkSeveral(cmd, args, &f.learning, "output", "scores", "dtype", "unreached")
	in.checkScores(cmd.Flags(), f.out, &f.scores, false)
	in.refuse(cmd.Flags(), rule{f.scores.kind == "raw", "scores", "there are probabilities alone with --multi-label; give probability"})
	in.checkOutput("-o", f.out, scoreFormats, append(args, f.labels)...)
}

func (in *invocation) checkSeveralEvaluate(cmd *cobra.Command, args []string, f *evaluateFlags) {
	in.checkSeveral(cmd, args, &f.learning, "train", "splits", "report")
	in.checkOutput("--report", f.report, []string{".txt", ".json"}, append(args, f.labels)...)
}

// beginSeveral reads what there is to learn from and plans the run.
func (in *invocation) beginSeveral(name, path string, f *learning) (*graphRun, *method.Settings, error) {
	d, err := in.beginLearn(name, path, f)
	if err != nil {
		return nil, nil, err
	}
	for _, label := range d.l.Names {
		if strings.Contains(label, severalSeparator) {
			return nil, nil, fault.Data(d.l.File, "the label %s holds %s, which separates labels in predictions; rename it", quoted(label), severalSeparator)
		}
	}
	_, phase := in.progress.Parts("learning", "")
	s := &method.Settings{RNGSeed: uint64(in.seed), Workers: in.threads, Progress: phase}
	err = d.take(s, runFileBytes, func() (int64, error) {
		return multilabel.Bytes(d.problem(), s.Memory), nil
	})
	return d, s, err
}

func (in *invocation) runSeveralClassify(name string, f *classifyFlags) error {
	d, s, err := in.beginSeveral(name, f.out, &f.learning)
	if err != nil {
		return err
	}
	model, p, err := multilabel.Predict(in.ctx, d.problem(), s)
	if err != nil {
		return in.graphError(err, name, another)
	}
	r := &classifyRun{graphRun: d, f: f, p: p, classified: classified{learned: d.learned(d.l), Method: "spectral", Several: model}}
	r.Labelled = model.Labelled
	return r.finish(d.problem(), model, func(row int) string {
		if f.unreached != "prior" && !p.Reached.Contains(uint32(row)) {
			return ""
		}
		var names []string
		for _, c := range model.LabelsOf(p, row) {
			names = append(names, d.l.Names[c])
		}
		return strings.Join(names, severalSeparator)
	})
}

// severalEvaluated is the JSON document of evaluate where nodes have several labels.
type severalEvaluated struct {
	*multilabel.Report
	Graph   string       `json:"graph"`
	Skipped skippedLines `json:"skipped_label_lines"`
	Closing
}

func (in *invocation) runSeveralEvaluate(name string, f *evaluateFlags) error {
	d, s, err := in.beginSeveral(name, f.report, &f.learning)
	if err != nil {
		return err
	}
	splits, _ := in.progress.Parts("evaluating", "split")
	report, err := multilabel.Evaluate(in.ctx, d.problem(), f.train, f.splits, s, splits)
	if none := new(validate.SplitError); errors.As(err, &none) && none.Class >= 0 {
		return fault.Usage("--train", "%v of %s leaves no node to learn from; the smallest fraction that works is %v",
			none.Fraction, words.Counted(none.Items, "labelled node"), none.Smallest)
	}
	if err != nil {
		return in.graphError(f.explain(err, d.g.Nodes, d.l), name, another)
	}
	doc := &severalEvaluated{Report: report, Graph: name, Skipped: skippedOf(d.l)}
	return d.publishReport(doc, report, storeOf(d.g.Manifest), nil)
}
