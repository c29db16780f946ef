package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/kernel/graphs"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/ongraphs"
	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/sparse/shard"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/tablefile"
	"github.com/heatwalk/heatwalk/validate"
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
	l       *nodefile.Labels
	problem *method.Problem
	methods []method.Method
	with    *method.Settings
}

// beginGraphs reads a collection and its labels and plans the run, of whose output files
// bytes tells the size.
func (in *invocation) beginGraphs(name, out string, f *graphsLearnFlags, bytes func(g *learn) int64) (*learn, error) {
	r, err := in.readCollection(name, &f.collectionFlags, out, func(r *collectionRun) (*needs, error) { return r.planLearn(f, r.shape.Classes) })
	if err != nil {
		return nil, err
	}
	g := &learn{collectionRun: r, l: r.classLabels()}
	if f.labels != "" {
		if g.l, err = r.readClasses(f.labels); err != nil {
			return nil, err
		}
	} else if g.l == nil {
		return nil, usageOf("--labels", "%s says no class of its graphs; write --labels FILE with graph<TAB>class lines", name)
	}
	if err := g.l.Trainable(); err != nil {
		return nil, err
	}
	collection := &ongraphs.Collection{Graphs: r.c, Kernel: r.set, Cosine: f.values == "cosine"}
	if g.problem, err = collection.Problem(g.l.Row, g.l.Class, g.l.Names); err != nil {
		return nil, err
	}
	for _, k := range f.kernels {
		if err := r.elements(k, givenOf(&k.Spec, f.given)); err != nil {
			return nil, err
		}
		for _, l := range f.learners {
			g.methods = append(g.methods, ongraphs.New(collection, k, l))
		}
	}
	g.with = &method.Settings{Given: f.given, RNGSeed: uint64(in.seed), Workers: in.threads}
	n, err := r.fit(func(r *collectionRun) (*needs, error) { return r.planLearn(f, len(g.l.Names)) })
	if err != nil {
		return nil, err
	}
	n.disk = runFileBytes
	if in.estimating {
		n.disk += bytes(g)
	}
	return g, in.keepTo(n)
}

// planLearn plans all methods of f on so many classes: the values of every setting are kept,
// and beside them there is what one kernel is computed from, or what one learner takes.
func (r *collectionRun) planLearn(f *graphsLearnFlags, classes int) (*needs, error) {
	n, err := r.begin()
	reserve := func(bytes int64, what string) {
		if err == nil {
			err = n.Reserve(bytes, what)
		}
	}
	graphs := r.shape.Graphs
	reserve(learnerBytes+(splitBytes+4*int64(classes))*int64(graphs), "labels, splits and learner")
	for _, k := range f.kernels {
		settings, wrong := validate.Settings(&k.Spec, givenOf(&k.Spec, f.given), nil)
		if wrong != nil {
			return n, wrong
		}
		reserve(ongraphs.ValueBytes(graphs, len(settings)), "values of "+k.Name)
		var most []spec.Bytes
		for _, v := range settings {
			list, wrong := r.kernelBytes(k, v)
			if wrong != nil {
				return n, wrong
			}
			if spec.Sum(list) > spec.Sum(most) {
				most = list
			}
		}
		for _, b := range most {
			reserve(b.Bytes, b.What)
		}
		for _, b := range most {
			n.Release(b.What)
		}
	}
	for _, l := range f.learners {
		if l.Memory != nil {
			reserve(l.Memory(graphs, classes), l.Name)
			n.Release(l.Name)
		}
	}
	return n, err
}

// classLabels returns the classes that the collection says, nil for none.
func (r *collectionRun) classLabels() *nodefile.Labels {
	if r.c.Class == nil {
		return nil
	}
	l := &nodefile.Labels{File: r.name, Names: slices.Compact(slices.Sorted(slices.Values(r.c.Class)))}
	for i, class := range r.c.Class {
		at, _ := slices.BinarySearch(l.Names, class)
		l.Row, l.Class = append(l.Row, i), append(l.Class, at)
	}
	return l
}

// readClasses reads the classes of graphs. One that is called -1 is a class, as in many
// published collections.
func (r *collectionRun) readClasses(path string) (*nodefile.Labels, error) {
	var ids shard.NodesBuilder
	for _, id := range r.c.IDs {
		ids.Append(id)
	}
	nodes, err := ids.Nodes()
	if err != nil {
		return nil, err
	}
	return nodefile.ReadLabels(r.in.ctx, path, nodes, &nodefile.LabelConfig{
		Missing: nodefile.MissingLabels[1:], Stdin: r.in.stdin, Warn: func(text string) { r.in.warn("%s", text) },
	})
}

// graphsClassified is the JSON document of graphs classify.
type graphsClassified struct {
	Output     string             `json:"output"`
	Graphs     int                `json:"graphs"`
	Labelled   int                `json:"labelled"`
	Classes    []string           `json:"classes"`
	Method     string             `json:"method"`
	Parameters *method.Parameters `json:"parameters"`
	Settings   int                `json:"settings"`

	AccuracyEstimate *float64        `json:"accuracy_estimate,omitempty"`
	AccuracyStderr   *float64        `json:"accuracy_stderr,omitempty"`
	Truth            *evaluate.Truth `json:"truth,omitempty"`
	Closing
}

func newGraphsClassify(in *invocation) *cobra.Command {
	var (
		f   graphsLearnFlags
		out string
	)
	cmd := &cobra.Command{
		Use:   "classify INPUT --labels L.tsv -o OUT.tsv",
		Short: "A class and scores for every graph of a collection",
		Long: `Learns from the labelled graphs and classifies all others. Parameters that are not
given are chosen by cross-validation on the labelled graphs. OUT has a line for each
graph, as that of heatwalk classify has for nodes; scores are probabilities. Where
INPUT says the classes of graphs that L.tsv leaves out, the summary compares.`,
		Example: "  heatwalk graphs classify MUTAG/ --labels known.tsv --kernel propagation -o classes.tsv",
		Args:    in.arguments("INPUT", 1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.checkFormat("-o", out, predictionFormats)
			in.checkOutput("-o", out, append(args, f.labels, f.measure, f.base)...)
			in.checkGraphsLearn(cmd.Flags(), &f)
			if len(f.kernels) > 1 || len(f.learners) > 1 {
				in.problem("--kernel", "classify takes one kernel and one learner; evaluate compares them")
			}
			if f.labels == "" {
				in.problem("--labels", "learners need labels; write --labels FILE with graph<TAB>class lines")
			}
			if err := in.checked(); err != nil {
				return err
			}
			return in.runGraphsClassify(args[0], out, &f)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&out, "output", "o", "-", "`FILE` of predictions: .tsv, .jsonl or .parquet; - is stdout")
	flags.StringVar(&f.labels, "labels", "", "`FILE` of graph<TAB>class lines")
	in.graphsLearnFlags(flags, &f, "")
	return cmd
}

func (in *invocation) runGraphsClassify(name, out string, f *graphsLearnFlags) error {
	in.keeps(out)
	files := &outputs{in: in}
	defer files.abort()
	w, err := files.begin(out)
	if err != nil {
		return err
	}
	run, err := files.beside(out, "", ".run.json")
	if err != nil {
		return err
	}
	g, err := in.beginGraphs(name, out, f, func(g *learn) int64 {
		return predictionBytes(out, tablefile.Columns{Classes: g.l.Names}, g.axis())
	})
	if err != nil {
		return err
	}
	in.progress.begin("learning", whole, inShares)
	p, err := g.methods[0].Predict(in.ctx, g.problem, nil, g.with)
	if err != nil {
		return g.explain(err)
	}
	file := beginPredictions(w, formatOf(out, predictionFormats), tablefile.Columns{Classes: g.l.Names})
	line := tablefile.Prediction{Reached: true, Scores: make([]float64, len(g.l.Names))}
	for i, id := range g.c.IDs {
		line.Node, line.Label = id, g.l.Names[p.Class[i]]
		for c, s := range p.Scores.Row(i) {
			line.Scores[c] = float64(s)
		}
		if err := file.Write(&line); err != nil {
			return err
		}
	}
	if err := file.Close(); err != nil {
		return err
	}
	if err := in.writeRun(run, nil, &p.Parameters); err != nil {
		return err
	}
	if err := files.commit(); err != nil {
		return err
	}
	d := &graphsClassified{
		Output: out, Graphs: len(g.c.IDs), Labelled: len(g.l.Row), Classes: g.l.Names, Method: g.methods[0].Name(),
		Parameters: &p.Parameters, Settings: p.Settings,
	}
	if p.Tested > 0 {
		d.AccuracyEstimate, d.AccuracyStderr = &p.Accuracy, &p.Stderr
	}
	if known := g.classLabels(); known != nil {
		d.Truth = evaluate.Compare(p.Class, p.Reached, g.l, known)
	}
	if in.json {
		d.Closing = in.closing()
		return in.document(d)
	}
	return in.printGraphsClassified(d, in.summary(out))
}

func (in *invocation) printGraphsClassified(d *graphsClassified, w io.Writer) error {
	text := counted(int64(d.Graphs-d.Labelled), "graph") + " classified by " + d.Method
	if d.AccuracyEstimate != nil {
		text += fmt.Sprintf(" · cross-validated accuracy %.1f ± %.1f %%", 100**d.AccuracyEstimate, 100**d.AccuracyStderr)
	}
	fmt.Fprintln(w, text)
	fmt.Fprintln(w, chosen(*d.Parameters, d.Settings))
	if t := d.Truth; t != nil {
		fmt.Fprintf(w, "against the classes of the collection: accuracy %s of %s, macro-F1 %.3f\n", formatPercent(t.Accuracy), counted(int64(t.Nodes), "graph"), t.MacroF1)
	}
	fmt.Fprintf(w, "%s · %s\n", in.cost(), d.Output)
	return in.stdout.err
}

// graphsEvaluateFlags are the flags of graphs evaluate.
type graphsEvaluateFlags struct {
	graphsLearnFlags
	train    []float64
	perClass []int
	folds    int
	splits   int
	report   string
}

func newGraphsEvaluate(in *invocation) *cobra.Command {
	var f graphsEvaluateFlags
	cmd := &cobra.Command{
		Use:   "evaluate INPUT [--kernel A,B …]",
		Short: "Kernels between graphs side by side on random splits of a collection",
		Long: `Draws stratified training sets from the graphs with a class and scores every kernel
with every learner on all other such graphs: 10-fold cross-validation, or random splits
of given sizes (--train, --per-class), 10 of each if --splits says no other. Parameters
that are not given are chosen by cross-validation inside each training set. The report
is that of heatwalk evaluate.`,
		Example: "  heatwalk graphs evaluate MUTAG/ --kernel propagation,label-sequence --report report.html",
		Args:    in.arguments("INPUT", 1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.checkGraphsLearn(cmd.Flags(), &f.graphsLearnFlags)
			if f.report != "" {
				in.checkFormat("--report", f.report, reportFormats)
				in.checkOutput("--report", f.report, append(args, f.labels, f.measure, f.base)...)
			}
			in.checkGraphSplits(cmd.Flags(), &f)
			if err := in.checked(); err != nil {
				return err
			}
			return in.runGraphsEvaluate(args[0], &f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.labels, "labels", "", "`FILE` of graph<TAB>class lines (default: what the collection says)")
	in.intVar(flags, &f.folds, "folds", 10, 2, 100_000, "folds: train on all but one, test on that")
	in.variable(flags, "train", "X[,X...]", "", "fractions of the labelled graphs to train on, instead of folds", func(s string) error {
		return parseFractions(&f.train, s)
	})
	in.variable(flags, "per-class", "N[,N...]", "", "train on so many graphs of every class, instead of folds", func(s string) error {
		return parseCounts(&f.perClass, s)
	})
	in.intVar(flags, &f.splits, "splits", 0, 1, 100_000, "random splits for each training size; with folds, partitions into these (default 1)")
	flags.StringVar(&f.report, "report", "", "`FILE` for the whole report: .html, .json or .txt")
	in.graphsLearnFlags(flags, &f.graphsLearnFlags, ", or several joined by commas")
	return cmd
}

// checkGraphSplits notes flags of splits that contradict each other, and completes them.
func (in *invocation) checkGraphSplits(flags *pflag.FlagSet, f *graphsEvaluateFlags) {
	given := 0
	for _, name := range []string{"folds", "train", "per-class"} {
		if flags.Changed(name) {
			if given++; given == 2 {
				in.problem("--"+name, "how many graphs to train on is given twice; leave out one of --folds, --train and --per-class")
			}
		}
	}
	if len(f.train)+len(f.perClass) > 0 {
		if f.folds = 0; f.splits == 0 {
			f.splits = 10
		}
	}
}

func (in *invocation) runGraphsEvaluate(name string, f *graphsEvaluateFlags) error {
	files := &outputs{in: in}
	defer files.abort()
	var out, run io.Writer
	var err error
	if f.report != "" {
		in.keeps(f.report)
		if out, err = files.begin(f.report); err == nil {
			run, err = files.beside(f.report, "", ".run.json")
		}
		if err != nil {
			return err
		}
	}
	g, err := in.beginGraphs(name, f.report, &f.graphsLearnFlags, func(*learn) int64 { return 0 })
	if err != nil {
		return err
	}
	plan := &evaluate.Plan{
		Methods: evaluate.Entries(g.methods...), Fractions: f.train, PerClass: f.perClass, Folds: f.folds, Stratified: true, Splits: f.splits,
		Settings: g.with, Progress: in.showing("evaluating", "split"),
	}
	report, err := evaluate.Run(in.ctx, g.problem, plan)
	if err != nil {
		return g.explainSplit(err, f)
	}
	in.warnUnfinished(plan, report)
	c := in.closing()
	return in.publish(&evaluated{report, name, skippedOf(g.l), nil, c.Seconds, c.PeakMemoryBytes, c.Warnings}, f.report, out, func() error {
		if err := in.writeRun(run, nil, f.given); err != nil {
			return err
		}
		return files.commit()
	})
}

// explainSplit names classes and flags in errors about splits.
func (g *learn) explainSplit(err error, f *graphsEvaluateFlags) error {
	var fraction *validate.FractionError
	switch {
	case errors.As(err, &fraction) && fraction.Class >= 0 && fraction.Smallest > 0:
		return usageOf("--train", "%v of %s leaves class %q without a training graph; the smallest fraction that works is %v",
			fraction.Fraction, counted(int64(fraction.Nodes), "labelled graph"), g.l.Names[fraction.Class], fraction.Smallest)
	case errors.As(err, &fraction):
		return usageOf("--train", "%s", strings.ReplaceAll(fraction.Error(), "node", "graph"))
	case errors.Is(err, validate.ErrUsage):
		place := "--folds"
		if len(f.perClass) > 0 {
			place = "--per-class"
		}
		return usageOf(place, "%s", strings.ReplaceAll(strings.TrimPrefix(err.Error(), validate.ErrUsage.Error()+": "), "node", "graph"))
	}
	return g.explain(err)
}
