package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/evaluate"
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
			if f.gram.file != "" {
				in.checkGram(cmd, &f)
				if err := in.checked(); err != nil {
					return err
				}
				return in.runGram(&f)
			}
			if f.vectors.file != "" {
				in.checkVectorClassify(cmd, &f)
				if err := in.checked(); err != nil {
					return err
				}
				return in.runVectorClassify(&f)
			}
			if f.several {
				in.checkSeveralClassify(cmd, args, &f)
				if err := in.checked(); err != nil {
					return err
				}
				return in.runSeveralClassify(args[0], &f)
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
			in.checkLearning(cmd.Flags(), &f.learning)
			if f.method != nil {
				in.checkEffect(cmd.Flags(), []method.Method{f.method})
			}
			in.checkSuggest(cmd.Flags(), &f)
			in.checkTrials(args, &f)
			if err := in.checked(); err != nil {
				return err
			}
			if f.slab.Of > 0 {
				return in.runTrials(args[0], &f)
			}
			return in.runClassify(args[0], &f)
		},
	}
	in.classifyFlags(cmd.Flags(), &f)
	return cmd
}

// classifyFlags declares the flags of f.
func (in *invocation) classifyFlags(flags *pflag.FlagSet, f *classifyFlags) {
	flags.StringVarP(&f.out, "output", "o", "-", "`FILE` of predictions: .tsv, .jsonl or .parquet, .npy or .npz for scores alone; - is stdout")
	in.learningFlags(flags, &f.learning)
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
	plan, err := in.fit(g, func() (*needs, error) {
		if settings, err = in.settings(&f.learning, g, l); err != nil {
			return nil, err
		}
		settings.Trials, settings.Raw = f.parts.outcomes(), f.kind == "raw"
		return in.planClassify(f, g, l, settings)
	})
	if err != nil {
		return err
	}
	if err := in.begin(g, plan); err != nil {
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
	if p.Unfinished != "" {
		in.warn("%s: %s%s", f.method.Name(), p.Unfinished, unfinishedAdvice(f.method))
	}
	if p.Settings > 0 && settings.Grid.Size() > 1 && validate.TooFew(l.Class) {
		in.warn("%s: too few labels to choose parameters: of two classes at least 2 nodes each are needed; using %v", l.File, p.Parameters)
	}
	if len(f.method.Takes()) == 0 {
		f.unreached = "prior" // it does not walk
	}
	var suggested []suggest.Suggestion
	if f.suggest > 0 {
		if suggested, err = suggest.Nodes(in.ctx, problem, p, f.suggest, settings); err != nil {
			return in.methodError(err, name)
		}
	}
	labels, format := f.labelsOf(p, l), formatOf(f.out, predictionFormats)
	if format != ".tsv" {
		in.warnBytes(f.out, format, g, l.Names)
	}
	if f.suggest > 0 {
		err = writeSuggestions(d.out, g, l.Names, suggested)
	} else if d.dense != nil {
		err = f.writeScores(d.dense, g, p, l.Names)
	} else {
		err = writePredictions(d.out, format, g, p, labelIn(labels, l.Names), tablefile.Columns{Classes: l.Names, Top: f.scores})
	}
	if err != nil {
		return err
	}
	r := &classified{
		Output: f.out, Nodes: len(labels), Labelled: len(l.Row), Skipped: skippedOf(l), Classes: l.Names, Method: f.method.Name(),
		Phases: p.Seconds, Attributes: attributesOf(g), Suggested: len(suggested),
	}
	if p.Settings > 0 {
		r.Parameters, r.Settings = &p.Parameters, p.Settings
	}
	r.estimates(f, p, reference)
	if err := in.countUnreached(r, problem, p); err != nil {
		return err
	}
	r.Sweeps = p.Work.Sweeps
	r.Predicted = r.Nodes - r.Labelled
	if f.unreached == "blank" {
		r.Predicted -= r.Unreached
	}
	if known != nil {
		in.warnUnseen(l, known)
		if r.Truth = evaluate.Compare(labels, p.Reached, l, known); r.Truth == nil {
			in.warn("%s: nothing to compare with; every node it labels is labelled in %s", known.File, l.File)
		}
	}
	if err := in.writeRun(d.run, storeOf(g.Manifest()), r.Parameters); err != nil {
		return err
	}
	if err := d.files.commit(); err != nil {
		return err
	}
	if in.json {
		r.Closing = in.closing()
		return in.document(r)
	}
	in.printClassified(r, f)
	return in.stdout.err
}

// estimates notes how often the written labels are right, and what simpler methods reach.
func (r *classified) estimates(f *classifyFlags, p *method.Prediction, reference *method.Reference) {
	e, propagation := p.Estimate, reference.Propagation
	if f.unreached == "blank" {
		e, propagation = p.Blank, reference.PropagationBlank
	}
	switch f.method.Name() {
	case "lp":
		e = propagation
	case "majority":
		e = reference.Majority
	}
	if e.Tested == 0 {
		return
	}
	r.AccuracyEstimate, r.AccuracyStderr = &e.Accuracy, &e.Stderr
	r.AccuracyPropagation, r.AccuracyMajority = &propagation.Accuracy, &reference.Majority.Accuracy
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
func (f *classifyFlags) labelsOf(p *method.Prediction, l *nodefile.Labels) []int {
	labels := make([]int, len(p.Class))
	for row, c := range p.Class {
		if !p.Reached.Contains(uint32(row)) && f.unreached == "blank" {
			c = evaluate.Unlabelled
		}
		labels[row] = c
	}
	for i, row := range l.Row {
		labels[row] = l.Class[i]
	}
	return labels
}

// countUnreached counts the nodes that no label reaches, and their components.
func (in *invocation) countUnreached(r *classified, problem *method.Problem, p *method.Prediction) error {
	unreached := roaring.Flip(p.Reached, 0, uint64(len(p.Class)))
	r.Unreached = int(unreached.GetCardinality())
	if r.Unreached == 0 {
		return nil
	}
	parts, err := problem.Components(in.ctx, in.threads, &p.Work)
	if err != nil {
		return err
	}
	counted := make([]bool, len(parts.Sizes))
	for row := range roaring.Values(unreached) {
		if part := parts.Of[row]; !counted[part] {
			counted[part] = true
			r.Components++
		}
	}
	return nil
}

// warnUnseen tells of known classes that no label has: nothing can predict
// them.
func (in *invocation) warnUnseen(seeds, known *nodefile.Labels) {
	size := known.Sizes()
	for c, name := range known.Names {
		if !slices.Contains(seeds.Names, name) {
			in.warn("%s: class %s (%s) has no training label and counts as wrong", known.File, quoted(name), counted(int64(size[c]), "node"))
		}
	}
}

func (in *invocation) printClassified(r *classified, f *classifyFlags) {
	w := in.summary(r.Output)
	if f.suggest > 0 {
		fmt.Fprintf(w, "%s to label next\n", counted(int64(r.Suggested), "node"))
	} else if r.Labelled == r.Nodes {
		fmt.Fprintf(w, "nothing to predict: all %s are labelled\n", counted(int64(r.Nodes), "node"))
	} else {
		parts := []string{counted(int64(r.Predicted), "node") + " labelled"}
		if r.Unreached > 0 {
			left := "left blank"
			if f.unreached == "prior" {
				left = "given the likeliest of the prior"
			}
			parts = append(parts, fmt.Sprintf("%s in %s without a label %s",
				formatCount(int64(r.Unreached)), counted(int64(r.Components), "component"), left))
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
		fmt.Fprintf(w, "%s, λ = %v; micro-F1 of labelled nodes left out one by one %s\n", counted(int64(m.Columns), "column"), m.Lambda, formatPercent(m.MicroF1))
	}
	if t := r.Truth; t != nil {
		fmt.Fprintf(w, "against %s: accuracy %s of %s, macro-F1 %.3f\n", f.truth, formatPercent(t.Accuracy), counted(int64(t.Nodes), "node"), t.MacroF1)
	}
	if r.Output == "-" {
		fmt.Fprintln(w, in.cost())
		return
	}
	fmt.Fprintf(w, "%s · %s\n", in.cost(), r.Output)
}

// chosen says with what parameters a prediction was made.
func chosen(p method.Parameters, settings int) string {
	if settings > 1 {
		return fmt.Sprintf("%v, chosen from %s", p, counted(int64(settings), "setting"))
	}
	return p.String()
}
