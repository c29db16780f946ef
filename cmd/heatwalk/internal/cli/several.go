package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/multilabel"
	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/validate"
)

// severalSeparator stands between labels of a node in a file of predictions.
const severalSeparator = "|"

// severalParameters are those that several labels a node were predicted with.
type severalParameters struct {
	evaluate.SeveralChoice
	MicroF1 float64 `json:"micro_f1"` // of labelled nodes, left out one by one
}

// checkSeveral notes flags that make no difference where nodes have several labels:
// those of the command but the given ones.
func (in *invocation) checkSeveral(cmd *cobra.Command, args []string, f *learning, takes ...string) {
	in.labelling.Several = true
	in.checkGraph(cmd, args, &f.reading)
	in.checkStdin(append(args, f.labels)...)
	in.require(cmd.Flags(), "labels")
	takes = slices.Concat(takes, f.names, []string{"multi-label", "temp-dir", "labels", "label-fields", "missing", "unknown-ids"})
	in.notTaken(cmd, takes, func(string) string { return "makes no difference with --multi-label; leave it out" })
}

func (in *invocation) checkSeveralClassify(cmd *cobra.Command, args []string, f *classifyFlags) {
	in.checkSeveral(cmd, args, &f.learning, "output", "scores", "dtype", "unreached")
	in.checkScores(cmd.Flags(), f)
	in.refuse(cmd.Flags(), rule{f.kind == "raw", "scores", "there are probabilities alone with --multi-label; give probability"})
	in.checkOutput("-o", f.out, scoreFormats, append(args, f.labels)...)
}

func (in *invocation) checkSeveralEvaluate(cmd *cobra.Command, args []string, f *evaluateFlags) {
	in.checkSeveral(cmd, args, &f.learning, "train", "splits", "report")
	in.checkOutput("--report", f.report, []string{".txt", ".json"}, append(args, f.labels)...)
}

// severalRun is a run that learns several labels a node.
type severalRun struct {
	*graphRun
	problem  *method.Problem
	settings *method.Settings
	columns  *multilabel.Columns
	row      []int // the labelled nodes
	sets     [][]int
}

// beginSeveral reads what there is to learn from, plans the run and makes its columns.
func (in *invocation) beginSeveral(name, path string, f *learning) (_ *severalRun, err error) {
	s := new(severalRun)
	if s.graphRun, err = in.beginLearn(name, path, f); err != nil {
		return nil, err
	}
	if err = s.plan(); err == nil {
		if s.columns, err = multilabel.NewColumns(in.ctx, s.problem, s.settings); err != nil {
			err = in.methodError(err, name)
		}
	}
	return s, err
}

func (s *severalRun) plan() error {
	if s.g.Manifest.Directed {
		return fault.Usage(s.name, "%s", asymmetric("--multi-label", ""))
	}
	for _, label := range s.l.Names {
		if strings.Contains(label, severalSeparator) {
			return fault.Data(s.l.File, "the label %s holds %s, which separates labels in predictions; rename it", quoted(label), severalSeparator)
		}
	}
	_, phase := s.in.progress.Parts("learning", "")
	s.settings = &method.Settings{RNGSeed: uint64(s.in.seed), Workers: s.in.threads, Progress: phase}
	s.row, s.sets = setsOf(s.l)
	err := s.take(s.settings, 16, runFileBytes, func() ([][]spec.Bytes, int, error) {
		list := multilabel.Memory(len(s.g.Degrees), len(s.row), len(s.l.Names), s.settings.Memory)
		return [][]spec.Bytes{list}, spec.UnknownSweeps, nil
	})
	s.problem = s.graphRun.problem()
	return err
}

// setsOf returns the labelled nodes, in the order of the file, and the classes of each of
// them, in increasing order.
func setsOf(l *nodefile.Labels) (row []int, sets [][]int) {
	at := map[int]int{}
	for i, v := range l.Row {
		place, there := at[v]
		if !there {
			place = len(row)
			at[v] = place
			row, sets = append(row, v), append(sets, nil)
		}
		sets[place] = append(sets[place], l.Class[i])
	}
	for _, set := range sets {
		slices.Sort(set)
	}
	return row, sets
}

func (in *invocation) runSeveralClassify(name string, f *classifyFlags) error {
	s, err := in.beginSeveral(name, f.out, &f.learning)
	if err != nil {
		return err
	}
	model, err := multilabel.Fit(in.ctx, s.columns, s.row, s.sets, len(s.l.Names), s.settings)
	if err != nil {
		return in.methodError(err, name)
	}
	p, err := model.Predict(in.ctx, s.problem, s.settings)
	if err != nil {
		return in.methodError(err, name)
	}
	several := &severalParameters{evaluate.SeveralChoice{Columns: model.Columns, Lambda: model.Lambda}, model.MicroF1}
	r := &classifyRun{graphRun: s.graphRun, f: f, p: p, classified: classified{learned: s.learned(s.l), Method: "spectral", Several: several}}
	r.Labelled = len(s.row)
	return r.finish(s.problem, several, severalLabels(p, s.l, s.row, s.sets, f.unreached == "prior"))
}

// severalLabels returns what is written for the labels of a row: its own, those that
// are likely, the likeliest first, or the likeliest; of a node that no label reaches "",
// unless it has its prior.
func severalLabels(p *method.Prediction, l *nodefile.Labels, row []int, sets [][]int, prior bool) func(row int) string {
	own := map[int][]int{}
	for i, v := range row {
		own[v] = sets[i]
	}
	var names []string
	return func(v int) string {
		names = names[:0]
		set, known := own[v]
		if !known {
			if !prior && !p.Reached.Contains(uint32(v)) {
				return ""
			}
			set = multilabel.Likely(p.Scores.Row(v))
		}
		for _, c := range set {
			names = append(names, l.Names[c])
		}
		return strings.Join(names, severalSeparator)
	}
}

// severalEvaluated is the JSON document of evaluate where nodes have several labels.
type severalEvaluated struct {
	*evaluate.SeveralReport
	Graph   string       `json:"graph"`
	Skipped skippedLines `json:"skipped_label_lines"`
	Closing
}

func (in *invocation) runSeveralEvaluate(name string, f *evaluateFlags) error {
	s, err := in.beginSeveral(name, f.report, &f.learning)
	if err != nil {
		return err
	}
	splits, _ := in.progress.Parts("evaluating", "split")
	report, err := evaluate.RunSeveral(in.ctx, s.problem, s.columns, s.row, s.sets, &evaluate.SeveralPlan{
		Fractions: f.train, Splits: f.splits, Settings: s.settings, Progress: splits,
	})
	if none := new(validate.DrawError); errors.As(err, &none) && none.Class >= 0 {
		return fault.Usage("--train", "%v of %s leaves no node to learn from; the smallest fraction that works is %v",
			none.Fraction, words.Counted(int64(none.Items), "labelled node"), none.Smallest)
	}
	if err != nil {
		return in.methodError(f.explain(err, s.g.Nodes, s.l), name)
	}
	doc := &severalEvaluated{SeveralReport: report, Graph: name, Skipped: skippedOf(s.l)}
	return s.publishReport(doc, report, storeOf(s.g.Manifest), nil)
}
