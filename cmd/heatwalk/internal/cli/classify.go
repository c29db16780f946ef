package cli

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/suggest"
	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/tablefile"
	"github.com/heatwalk/heatwalk/validate"
)

// classifyFlags are the flags of classify.
type classifyFlags struct {
	reading
	learning
	kernel, learner string // parts of the method's name, "" if not given
	method          method.Method

	out     string
	gram    gramFlags
	vectors vectorFlags

	attributes attributeFlags

	unknownValues string // of records to label: error or missing
	scores        int    // tablefile.Columns.Top
	kind          string // of scores alone: raw or probability, "" if not given
	unreached     string
	truth         string
	several       bool // labels a node
	suggest       int  // nodes to label next; 0: predictions are wanted
	slab          slabFlag
	parts         *trialParts // that the choice is made from; nil: from none
}

func newClassify(in *invocation) *cobra.Command {
	var f classifyFlags
	cmd := &cobra.Command{
		Use:   "classify GRAPH --labels L.tsv -o OUT.tsv",
		Short: "A label and scores for every node",
		Args: func(cmd *cobra.Command, args []string) error {
			return in.graphOrTable(f.gram.file+f.vectors.file)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case f.gram.file != "":
				in.checkGram(cmd, &f)
				return in.then(func() error { return in.runGram(&f) })
			case f.vectors.file != "":
				in.checkVectorClassify(cmd, &f)
				return in.then(func() error { return in.runVectorClassify(&f) })
			case f.several:
				in.checkSeveralClassify(cmd, args, &f)
				return in.then(func() error { return in.runSeveralClassify(args[0], &f) })
			}
			in.checkNoVectors(cmd.Flags(), f.kernel, effectFlags())
			in.checkScores(cmd.Flags(), &f)
			in.checkGraph(cmd, args, &f.reading)
			if f.slab.Of == 0 {
				in.checkFormat("-o", f.out, slices.Concat(predictionFormats, scoreFormats))
			}
			in.checkOutput("-o", f.out, append(args, f.labels, f.truth, f.attributes.file, f.attributes.ids)...)
			in.checkAttributes(&f.attributes)
			in.checkStdin(append(args, f.labels, f.truth)...)
			in.checkMethod(cmd.Flags(), &f)
			in.checkEffect(cmd.Flags(), f.methods())
			in.checkSuggest(cmd.Flags(), &f)
			in.checkTrials(args, &f)
			return in.then(func() error {
				if f.slab.Of > 0 {
					return in.runTrials(args[0], &f)
				}
				return in.runClassify(args[0], &f)
			})
		},
	}
	in.classifyFlags(cmd.Flags(), &f)
	return cmd
}

// classifyFlags declares the flags of f.
func (in *invocation) classifyFlags(flags *pflag.FlagSet, f *classifyFlags) {
	flags.StringVarP(&f.out, "output", "o", "-", "`FILE` of predictions: .tsv, .jsonl or .parquet, .npy or .npz for scores alone; - is stdout")
	in.walkFlags(flags, &f.walking, "")
	flags.StringVar(&f.listed, "method", "auto", "`NAME` of the method, with parameters behind it if need be, as in diffusion:beta=2 (default: auto, or cwk if one of its parameters is given): "+method.MethodList())
	flags.Lookup("method").DefValue = "" // it is told already
	in.choiceVar(flags, &f.kernel, "kernel", "", slices.Concat([]string{walkKernel}, kernel.Names(), vectorKernels()), "the method's kernel, in place of --method")
	in.choiceVar(flags, &f.learner, "learner", "", learnerNames(), "the learner: of the method, in place of --method, or of given kernel values")
	in.choiceVar(flags, &f.features, "features", "auto", []string{"auto", "honest", "plain"},
		"rows of labelled nodes: from a walk in which their own fold is unlabelled, or not; auto chooses")
	in.effortFlag(flags, &f.effort)
	ofMethods().flags(in, flags, "")
	in.gramFlags(flags, &f.gram)
	in.vectorFlags(flags, &f.vectors)
	in.choiceVar(flags, &f.unknownValues, "unknown-values", "error", []string{"error", "missing"}, "with --vectors: values that no record with a label has")
	in.variable(flags, "scores", "all|top=K|none", "all", "scores to write: of all classes, of the K best ones, or none; of scores alone raw or probability", func(s string) error {
		if f.kind = ""; s == "raw" || s == "probability" {
			f.kind = s
			return nil
		}
		return parseScores(&f.scores, s)
	})
	in.choiceVar(flags, &f.unreached, "unreached", "blank", []string{"blank", "prior"}, "label of a node that no labelled node can reach")
	in.attributeFlags(flags, &f.attributes)
	in.severalFlag(flags, &f.several)
	flags.StringVar(&f.truth, "truth", "", "`FILE` of true labels to score the predictions with")
	in.intVar(flags, &f.suggest, "suggest", 0, 1, 1<<20, "in place of predictions, so many nodes whose labels would teach most, the first ones more than the later")
	in.slabVar(flags, &f.slab, "the choice of cwk, a share of the absorptions each")
	in.readingFlags(flags, &f.reading)
}

// checkMethod notes what is wrong with the flags of f that say how to learn, and finds the
// method.
func (in *invocation) checkMethod(flags *pflag.FlagSet, f *classifyFlags) {
	place := "--method"
	switch {
	case f.kernel != "" || f.learner != "":
		if flags.Changed("method") {
			in.problem("--method", "%s says all; leave out --kernel and --learner", f.listed)
		}
		if place = "--kernel"; f.kernel == "" {
			place = "--learner"
		}
		f.listed = cmp.Or(f.kernel, walkKernel) + "+" + cmp.Or(f.learner, string(method.KernelSVM))
	case !flags.Changed("method") && choosesWalks(flags):
		f.listed = walkKernel
	}
	in.checkLearning(flags, &f.learning, place)
	if len(f.entries) > 1 {
		in.problem("--method", "%s are several; classify takes one, evaluate compares them", f.listed)
	}
	if len(f.entries) != 1 {
		return
	}
	f.method = f.entries[0].Method
	for _, name := range slices.Sorted(maps.Keys(f.entries[0].Own)) {
		if flag := strings.ReplaceAll(name, "_", "-"); flags.Changed(flag) {
			in.problem("--"+flag, "--method gives %s too; leave out one of the two", name)
		}
	}
	in.try(flags, &f.learning, "small", nil)
}

// classified is the JSON document of classify.
type classified struct {
	Output     string              `json:"output"`
	Nodes      int                 `json:"nodes"`
	Labelled   int                 `json:"labelled"`
	Skipped    skippedLines        `json:"skipped_label_lines"`
	Attributes *attributesDocument `json:"node_features,omitempty"`
	Predicted  int                 `json:"predicted"`
	Unreached  int                 `json:"unreached"`
	Components int                 `json:"unreached_components"`
	Classes    []string            `json:"classes"`
	Method     string              `json:"method"`
	Parameters *method.Parameters  `json:"parameters"`
	Settings   int                 `json:"settings"`

	Suggested int                `json:"suggested,omitempty"`
	Several   *severalParameters `json:"multi_label,omitempty"`

	AccuracyEstimate    *float64 `json:"accuracy_estimate,omitempty"`
	AccuracyStderr      *float64 `json:"accuracy_stderr,omitempty"`
	AccuracyPropagation *float64 `json:"accuracy_propagation,omitempty"`
	AccuracyMajority    *float64 `json:"accuracy_majority,omitempty"`

	Truth  *evaluate.Truth     `json:"truth,omitempty"`
	Sweeps int                 `json:"sweeps"`
	Phases method.PhaseSeconds `json:"seconds_by_phase"`
	Closing
}

func (in *invocation) runClassify(name string, f *classifyFlags) error {
	d, err := in.beginLearn(name, f.out, f.labels, &f.reading, &f.attributes)
	if err != nil {
		return err
	}
	defer d.end()
	g, l := d.g, d.l
	if err := f.parts.check(g, l); err != nil {
		return err
	}
	var known *nodefile.Labels
	if f.truth != "" {
		if known, err = in.readLabels(f.truth, g, &f.reading); err != nil {
			return err
		}
	}
	var settings *method.Settings
	err = in.take(g, func() (*needs, error) {
		if settings, err = in.settings(f.tried[0], &f.learning, g, l, in.progress.Phases()); err != nil {
			return nil, err
		}
		settings.Trials, settings.Raw = f.parts.outcomes(), f.kind == "raw"
		return in.planClassify(f, g, l, settings)
	})
	if err != nil {
		return err
	}
	problem := problemOf(g, l)
	reference, err := method.Refer(in.ctx, f.method, problem, settings)
	if err != nil {
		return in.methodError(err, name)
	}
	p, err := f.method.Predict(in.ctx, problem, nil, settings)
	if err != nil {
		return in.methodError(err, name)
	}
	in.warnClassify(f, p, l, settings)
	if len(f.method.Takes()) == 0 {
		f.unreached = "prior" // it does not walk
	}
	labels := f.labelsOf(p)
	a := &answer{learnRun: d, f: f, problem: problem, p: p, labelOf: func(row int) string {
		if labels[row] == evaluate.Unlabelled {
			return ""
		}
		return l.Names[labels[row]]
	}}
	if f.suggest > 0 {
		if a.suggested, err = suggest.Nodes(in.ctx, problem, p, f.suggest, settings); err != nil {
			return in.methodError(err, name)
		}
	}
	r := &a.classified
	r.Labelled, r.Method, r.Phases, r.Attributes, r.Suggested = len(l.Row), f.method.Name(), p.Seconds, attributesOf(g), len(a.suggested)
	var parameters any // of the run file
	if p.Settings > 0 {
		r.Parameters, r.Settings = &p.Parameters, p.Settings
		parameters = r.Parameters
	}
	if own, propagation := p.Estimates(f.method, reference, f.unreached == "blank"); own.Tested > 0 {
		r.AccuracyEstimate, r.AccuracyStderr = &own.Accuracy, &own.Stderr
		r.AccuracyPropagation, r.AccuracyMajority = &propagation.Accuracy, &reference.Majority.Accuracy
	}
	r.Truth = in.compare(labels, p.Reached, l, known, "node")
	return a.finish(parameters)
}

// warnClassify tells of an iteration that ended at its limit, and of too few labels.
func (in *invocation) warnClassify(f *classifyFlags, p *method.Prediction, l *nodefile.Labels, s *method.Settings) {
	if p.Unfinished != "" {
		in.warn("%s: %s%s", f.method.Name(), p.Unfinished, unfinishedAdvice(f.method))
	}
	if p.Settings > 0 && s.Grid.Size() > 1 && validate.TooFew(l.Class) {
		in.warn("%s: too few labels to choose parameters: of two classes at least 2 nodes each are needed; using %v", l.File, p.Parameters)
	}
}

// answer is what classify predicted of a graph.
type answer struct {
	*learnRun
	f         *classifyFlags
	problem   *method.Problem
	p         *method.Prediction
	labelOf   func(row int) string // what is written, "" for a blank
	suggested []suggest.Suggestion // nodes to label next, in place of predictions
	classified
}

// finish writes the output, and prints what there is to say.
func (a *answer) finish(parameters any) (err error) {
	in, f, r := a.in, a.f, &a.classified
	if format := formatOf(f.out, predictionFormats); format != ".tsv" {
		in.warnBytes(f.out, format, a.g, a.l.Names)
	}
	switch {
	case f.suggest > 0:
		err = writeSuggestions(a.text, a.g, a.l.Names, a.suggested)
	case f.kind == "raw" && a.p.Raw == nil:
		err = usageOf("--scores", "%s has probabilities alone; give probability", f.method.Name())
	default:
		err = ofNodes(a.g, a.p, a.l.Names, a.labelOf).write(a.product, tablefile.Columns{Classes: a.l.Names, Top: f.scores}, f.kind == "raw", f.gram.dtype)
	}
	if err != nil {
		return err
	}
	r.Output, r.Nodes, r.Skipped, r.Classes = f.out, len(a.problem.Degrees), skippedOf(a.l), a.l.Names
	if r.Unreached, r.Components, err = a.problem.Unreached(in.ctx, a.p.Reached, in.threads, &a.p.Work); err != nil {
		return err
	}
	r.Sweeps = a.p.Work.Sweeps
	if r.Predicted = r.Nodes - r.Labelled; f.unreached == "blank" {
		r.Predicted -= r.Unreached
	}
	if err := a.publish(storeOf(a.g.Manifest()), parameters); err != nil {
		return err
	}
	return in.tell(r, func(w io.Writer) {
		r.print(w, f)
		in.printCost(w, f.out)
	}, f.out)
}

// planClassify returns what classify takes, and sets the memory of its settings.
func (in *invocation) planClassify(f *classifyFlags, g *openGraph, l *nodefile.Labels, s *method.Settings) (*needs, error) {
	n, err := in.planLearning(g, l, s)
	if err != nil {
		return n, err
	}
	beside := method.ReferMemory(problemOf(g, l), s)
	if err := n.reserveList(beside); err != nil {
		return n, err
	}
	n.releaseList(beside)
	list, sweeps, err := method.Memory(f.method, problemOf(g, l), nil, s)
	if err != nil {
		return n, err
	}
	n.sweeps = sweeps
	if err := n.reserveList(list); err != nil {
		return n, err
	}
	if in.estimating {
		n.disk += runFileBytes + predictionBytes(f.out, tablefile.Columns{Classes: l.Names, Top: f.scores}, nodesOf(g, slices.Collect(g.Nodes().Rows())))
	}
	n.releaseList(list)
	if f.suggest > 0 {
		list, err := suggest.Memory(problemOf(g, l), f.suggest, s.Memory)
		if err == nil {
			err = n.Reserve(spec.Least(list), list[0].What)
		}
		if err != nil {
			return n, err
		}
	}
	k := int64(len(l.Names))
	// Scores, classes and labels, which nodes are reached, and components, which
	// the prediction may have found.
	return n, n.Reserve(int64(len(g.Degrees()))*(4*k+16+1+8), "predictions")
}

// learnerBytes is what a learner takes beside its data: the part of the program
// that no other command needs, and its small tables.
const learnerBytes = 3 << 20

// planLearning returns what is taken before anything is learned, and gives the
// settings what that leaves.
func (in *invocation) planLearning(g *openGraph, l *nodefile.Labels, s *method.Settings) (*needs, error) {
	n := g.needs()
	if err := n.Reserve(learnerBytes+16*int64(len(l.Row)), "labels and learner"); err != nil {
		return n, err
	}
	if left, limited := n.Left(); limited {
		s.Memory = max(1, left)
	}
	return n, nil
}

// labelsOf returns the label to write for every row, −1 for a blank.
func (f *classifyFlags) labelsOf(p *method.Prediction) []int {
	if f.unreached == "prior" {
		return p.Class
	}
	labels := slices.Clone(p.Class)
	for row := range labels {
		if !p.Reached.Contains(uint32(row)) {
			labels[row] = evaluate.Unlabelled
		}
	}
	return labels
}

// print says what was predicted.
func (r *classified) print(w io.Writer, f *classifyFlags) {
	if f.suggest > 0 {
		fmt.Fprintf(w, "%s to label next\n", words.Counted(int64(r.Suggested), "node"))
	} else if r.Labelled == r.Nodes {
		fmt.Fprintf(w, "nothing to predict: all %s are labelled\n", words.Counted(int64(r.Nodes), "node"))
	} else {
		parts := []string{words.Counted(int64(r.Predicted), "node") + " labelled"}
		if r.Unreached > 0 {
			left := "left blank"
			if f.unreached == "prior" {
				left = "given the likeliest of the prior"
			}
			parts = append(parts, fmt.Sprintf("%s in %s without a label %s",
				words.Count(int64(r.Unreached)), words.Counted(int64(r.Components), "component"), left))
		}
		if r.AccuracyEstimate != nil {
			parts = append(parts, fmt.Sprintf("cross-validated accuracy %.1f ± %.1f %% (label propagation %.1f %%, largest class %.1f %%)",
				100**r.AccuracyEstimate, 100**r.AccuracyStderr, 100**r.AccuracyPropagation, 100**r.AccuracyMajority))
		}
		fmt.Fprintln(w, strings.Join(parts, " · "))
	}
	if text := r.Skipped.String(); text != "" {
		fmt.Fprintln(w, text)
	}
	if r.Attributes != nil {
		fmt.Fprintln(w, r.Attributes)
	}
	if r.Parameters != nil {
		fmt.Fprintln(w, chosen(*r.Parameters, r.Settings))
	}
	if m := r.Several; m != nil {
		fmt.Fprintf(w, "%s, λ = %v; micro-F1 of labelled nodes left out one by one %s\n", words.Counted(int64(m.Columns), "column"), m.Lambda, words.Percent(m.MicroF1))
	}
	printTruth(w, r.Truth, f.truth, "node")
}

// chosen says with what parameters a prediction was made.
func chosen(p method.Parameters, settings int) string {
	if settings > 1 {
		return fmt.Sprintf("%v, chosen from %s", p, words.Counted(int64(settings), "setting"))
	}
	return p.String()
}
