package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/progress"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/kernel/graphs"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/ongraphs"
	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/sparse/shard"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/tablefile"
)

// graphsLearnFlags are the flags of graphs classify and graphs evaluate.
type graphsLearnFlags struct {
	collectionFlags
	kernelNames, learnerNames string
	labels                    string
	kernels                   []*graphs.Kernel
	learners                  []*classify.Learner
	given                     spec.Values
}

// graphsLearnFlags declares the flags of f.
func (in *invocation) graphsLearnFlags(flags *pflag.FlagSet, f *graphsLearnFlags, several string) {
	flags.StringVar(&f.kernelNames, "kernel", "propagation", "`NAME` of the kernel"+several)
	flags.StringVar(&f.learnerNames, "learner", "svm", "`NAME` of the learner"+several)
	in.collectionFlags(flags, &f.collectionFlags, "cosine")
	ofLearners().flags(in, flags, "")
	in.tempFlag(flags)
	flags.SortFlags = false
}

// checkGraphsLearn notes what is wrong with the flags of f together.
func (in *invocation) checkGraphsLearn(flags *pflag.FlagSet, f *graphsLearnFlags) {
	f.kernels = in.graphKernels(f.kernelNames)
	var declared []*spec.Spec
	for _, k := range f.kernels {
		declared = append(declared, &k.Spec)
	}
	for name := range strings.SplitSeq(f.learnerNames, ",") {
		l := classify.LearnerOf(strings.TrimSpace(name))
		if l == nil || l.Fit == nil {
			in.problem("--learner", "there is no learner %s of kernel values; give one of %s", quoted(name), strings.Join(learnerNames(), ", "))
			continue
		}
		f.learners, declared = append(f.learners, l), append(declared, &l.Spec)
	}
	if len(f.kernels) > 0 && len(f.learners) > 0 {
		f.given = in.checkCollection(flags, &f.collectionFlags, declared)
	}
}

// learn is what graphs classify and graphs evaluate begin with.
type learn struct {
	*collectionRun
	l          *nodefile.Labels
	collection *ongraphs.Collection
	problem    *method.Problem
	methods    []method.Entry
	with       *method.Settings
}

// beginGraphs reads a collection and its labels and plans the run, which writes files of so
// many bytes.
func (in *invocation) beginGraphs(name, out string, f *graphsLearnFlags, files func(g *learn) int64) (_ *learn, err error) {
	g := new(learn)
	list := func(r *collectionRun) ([]spec.Bytes, error) {
		classes := r.shape.Classes
		if g.l != nil {
			classes = len(g.l.Names)
		}
		own := spec.Bytes{What: "labels, splits and learner", Bytes: learnerBytes + (evaluate.SplitBytes+4*int64(classes))*int64(r.shape.Graphs)}
		list, err := ongraphs.Memory(in.ctx, r.shape, r.c, f.kernels, f.learners, f.given, classes, in.threads)
		return append(list, own), err
	}
	if g.collectionRun, err = in.readCollection(name, &f.collectionFlags, out, list); err != nil {
		return nil, err
	}
	if f.labels != "" {
		g.l, err = g.readClasses(f.labels)
	} else if g.l = ongraphs.Labels(g.c, name); g.l == nil {
		err = fault.Usage("--labels", "%s says no class of its graphs; write --labels FILE with graph<TAB>class lines", name)
	}
	if err == nil {
		err = trainable(g.l)
	}
	if err != nil {
		return nil, err
	}
	g.collection = &ongraphs.Collection{Graphs: g.c, Kernel: g.set}
	if g.problem, err = g.collection.Problem(g.l.Row, g.l.Class, g.l.Names); err != nil {
		return nil, err
	}
	for _, k := range f.kernels {
		if err := g.set.ReadElements(in.ctx, g.c, k, f.given, f.measure, f.base); err != nil {
			return nil, g.explain(err)
		}
		for _, l := range f.learners {
			g.methods = append(g.methods, method.Entry{Method: ongraphs.New(g.collection, k, l)})
		}
	}
	g.with = &method.Settings{Given: f.given, RNGSeed: uint64(in.seed), Workers: in.threads}
	return g, g.keep(list, func(n *budget.Needs) error {
		n.Disk = files(g)
		return nil
	})
}

// nodes returns the graphs as nodes, for readers of files.
func (r *collectionRun) nodes() (*shard.Nodes, error) {
	return shard.StringNodes(slices.Values(r.c.IDs))
}

// readClasses reads the classes of graphs. One that is called -1 is a class, as in many
// published collections.
func (r *collectionRun) readClasses(path string) (*nodefile.Labels, error) {
	nodes, err := r.nodes()
	if err != nil {
		return nil, err
	}
	return nodefile.ReadLabels(r.in.ctx, path, nodes, &nodefile.LabelConfig{
		Missing: nodefile.MissingLabels[1:], Stdin: r.in.stdin, Warn: r.in.warnText,
	})
}

// graphsClassified is the JSON document of graphs classify.
type graphsClassified struct {
	learned
	Graphs     int                `json:"graphs"`
	Method     string             `json:"method"`
	Parameters *method.Parameters `json:"parameters"`
	Settings   int                `json:"settings"`
}

func newGraphsClassify(in *invocation) *cobra.Command {
	var (
		f   graphsLearnFlags
		out string
	)
	cmd := &cobra.Command{
		Use:   "classify INPUT --labels L.tsv -o OUT.tsv",
		Short: "A class and scores for every graph of a collection",
		Args:  in.arguments("INPUT", 1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.checkOutput("-o", out, predictionFormats, append(args, f.labels, f.measure, f.base)...)
			in.checkGraphsLearn(cmd.Flags(), &f)
			if len(f.kernels) > 1 || len(f.learners) > 1 {
				in.problem("--kernel", "classify takes one kernel and one learner; evaluate compares them")
			}
			in.require(cmd.Flags(), "labels")
			return in.then(func() error { return in.runGraphsClassify(args[0], out, &f) })
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&out, "output", "o", "-", "`FILE` of predictions: .tsv, .jsonl or .parquet; - is stdout")
	flags.StringVar(&f.labels, "labels", "", "`FILE` of graph<TAB>class lines")
	in.graphsLearnFlags(flags, &f, "")
	return cmd
}

func (in *invocation) runGraphsClassify(name, out string, f *graphsLearnFlags) error {
	o, err := in.beginProduct(out, tablefile.Other)
	if err != nil {
		return err
	}
	g, err := in.beginGraphs(name, out, f, func(g *learn) int64 {
		return o.predictionBytes(tablefile.Columns{Classes: g.l.Names}, g.axis())
	})
	if err != nil {
		return err
	}
	in.progress.Begin("learning", progress.Whole, progress.Shares)
	p, err := g.methods[0].Method.Predict(in.ctx, g.problem, nil, g.with)
	if err != nil {
		return g.explain(err)
	}
	items := &found{ids: g.axis(), line: func(i int, line *tablefile.Prediction) {
		line.Label, line.Reached = g.l.Names[p.Class[i]], true
		for c, s := range p.Scores.Row(i) {
			line.Scores[c] = float64(s)
		}
	}}
	if err := o.write(items, tablefile.Columns{Classes: g.l.Names}, false, ""); err != nil {
		return err
	}
	d := &graphsClassified{
		learned: o.learned(g.l), Graphs: len(g.c.IDs), Method: g.methods[0].Method.Name(), Parameters: &p.Parameters, Settings: p.Settings,
	}
	d.estimate(p.Accuracy, p.Stderr, p.Tested)
	if known := ongraphs.Labels(g.c, name); known != nil {
		d.Truth = evaluate.Compare(p.Class, p.Reached, g.l, known)
	}
	text := words.Counted(int64(d.Graphs-d.Labelled), "graph") + " classified by " + d.Method
	if estimated := d.estimated(); estimated != "" {
		text += " · " + estimated
	}
	return o.finish(d, nil, &p.Parameters, text, chosen(p.Parameters, p.Settings), d.compared("the classes of the collection", "graph"))
}

// graphsEvaluateFlags are the flags of graphs evaluate.
type graphsEvaluateFlags struct {
	graphsLearnFlags
	splitting
}

func newGraphsEvaluate(in *invocation) *cobra.Command {
	f := graphsEvaluateFlags{splitting: splitting{noun: "graph", splits: 10}}
	cmd := &cobra.Command{
		Use:   "evaluate INPUT [--kernel A,B …]",
		Short: "Kernels between graphs side by side on random splits of a collection",
		Args:  in.arguments("INPUT", 1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.checkGraphsLearn(cmd.Flags(), &f.graphsLearnFlags)
			in.checkStdin(f.labels, f.split)
			in.checkSplits(cmd.Flags(), &f.splitting, append(args, f.labels, f.measure, f.base)...)
			return in.then(func() error { return in.runGraphsEvaluate(args[0], &f) })
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.labels, "labels", "", "`FILE` of graph<TAB>class lines (default: what the collection says)")
	in.splitFlags(flags, &f.splitting)
	in.graphsLearnFlags(flags, &f.graphsLearnFlags, ", or several joined by commas")
	return cmd
}

func (in *invocation) runGraphsEvaluate(name string, f *graphsEvaluateFlags) error {
	o, err := in.beginProduct(f.report, tablefile.Other)
	if err != nil {
		return err
	}
	g, err := in.beginGraphs(name, f.report, &f.graphsLearnFlags, func(*learn) int64 { return runFileBytes })
	if err != nil {
		return err
	}
	plan := &evaluate.Plan{Methods: g.methods, Settings: g.with, Data: g.collection.Sum(), Progress: in.progress.Showing("evaluating", "split")}
	nodes, err := g.nodes()
	if err == nil {
		err = in.planTo(plan, &f.splitting, nodes, g.l)
	}
	if err != nil {
		return err
	}
	report, err := in.runPlan(g.problem, plan)
	if err != nil {
		return g.explain(f.splitting.explain(err, nodes, g.l))
	}
	return o.publishPlanned(&evaluated{Report: report, Graph: name, Skipped: skippedOf(g.l)}, nil, plan)
}
