package learn

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/shift"
	"github.com/heatwalk/heatwalk/param"
)

type classifyDocument struct {
	shell.LabelsDocument
	Nodes      int                       `json:"nodes"`                          // targets, or all nodes
	Others     int                       `json:"nodes_without_labels,omitempty"` // nodes on the side without labels, which are no targets
	Attributes *shell.AttributesDocument `json:"node_features,omitempty"`
	Predicted  int                       `json:"predicted"`
	Reached    *int                      `json:"nodes_reached,omitempty"` // nodes without a label to which accuracy_estimate applies
	Unreached  int                       `json:"unreached"`
	Components int                       `json:"unreached_components"`
	Method     string                    `json:"method"`
	Parameters *engine.Parameters        `json:"parameters,omitempty"`
	Settings   int                       `json:"settings,omitempty"`
	Model      any                       `json:"model,omitempty"` // model of auto
	ModelText  string                    `json:"model_text,omitempty"`
	Models     []mixedModel              `json:"models,omitempty"` // models of auto, in words

	Suggested int                      `json:"suggested,omitempty"`
	Strategy  string                   `json:"strategy,omitempty"` // strategy of suggest
	LabelNext []labelNext              `json:"label_next,omitempty"`
	Summary   *evaluate.Predictions    `json:"predictions,omitempty"`
	Several   *engine.LabelSetModel    `json:"multi_label,omitempty"`
	LabelSets *evaluate.SetPredictions `json:"label_sets,omitempty"`
	Sets      *heatwalk.Sets           `json:"sets,omitempty"`
	Rare      []choose.Ranked          `json:"rare_classes,omitempty"`

	AccuracyPropagation *float64 `json:"accuracy_propagation,omitempty"`
	AccuracyMajority    *float64 `json:"accuracy_majority,omitempty"`

	SampleText  string        `json:"label_sample_text,omitempty"`
	LabelSample *shift.Report `json:"label_sample,omitempty"` // how labelled nodes differ from others, if the labels are not a random sample

	Graph      *heatwalk.GraphFigures `json:"graph,omitempty"`       // graph of predict
	ModelGraph *heatwalk.GraphFigures `json:"model_graph,omitempty"` // graph that the model was learned from

	Weights string `json:"weights,omitempty"` // weights of edges that the method has learned from
	factorsDocument
	BlockModel bool         `json:"block_model,omitempty"` // auto stopped at beliefs
	Omitted    []string     `json:"omitted_stages,omitempty"`
	Unfit      []string     `json:"unfit_stages,omitempty"` // stages that the memory limit leaves out
	More       *engine.More `json:"high_effort,omitempty"`

	Sweeps int          `json:"sweeps"`
	Phases phaseSeconds `json:"seconds_by_phase"`
	shell.Closing

	unfit string   // what the memory limit leaves out
	shift string   // why the labels are not a random sample; "": they may be a random sample
	notes []string // notes about the accuracy, for the summary
}

type phaseSeconds struct {
	Read    float64 `json:"read"`    // time of reading graph, labels and attributes
	Compare float64 `json:"compare"` // time of label propagation and the largest class
	problem.PhaseSeconds
	Write float64 `json:"write"`
}

type mixedModel struct {
	Model      string  `json:"model"`
	Weight     float64 `json:"weight"`
	Parameters string  `json:"parameters"`
}

type labelNext struct {
	Node        string `json:"node"`
	Covers      string `json:"covers"`
	Label       string `json:"label"`
	Probability string `json:"probability"`
	Reason      string `json:"reason"`
}

// countPredictions returns the document of the predictions with only the counts set.
func (in *predictionInputs) countPredictions(p *heatwalk.Prediction,
	labelled int) *classifyDocument {
	d := &classifyDocument{
		LabelsDocument: in.data.Out.LearnedFrom(in.data.Labels), Nodes: len(p.Class),
		Sweeps: p.Work.Sweeps, Components: p.UnreachedComponents,
	}
	d.factorsDocument = factorsOf(in.data.Graph, p.Factors)
	d.Labelled = labelled
	d.Unreached = d.Nodes - int(p.Reached.GetCardinality())
	if in.targets != nil {
		isLabelled := sched.Mark(d.Nodes, in.data.Labels.Row)
		d.Nodes = len(in.targets)
		d.Labelled = 0
		d.Unreached = 0
		for _, row := range in.targets {
			if isLabelled[row] {
				d.Labelled++
			} else if !p.Reached.Contains(uint32(row)) {
				d.Unreached++
			}
		}
	}
	if in.side != nil {
		d.Others = in.side.Others
	}
	d.Predicted = d.Nodes - d.Labelled
	if in.f.unreached == "blank" {
		d.Predicted -= d.Unreached
	}
	return d
}

// unfitText names the stages that the memory limit leaves out, and a limit that keeps them; "" if there are none.
func unfitText(run *shell.Session, p *heatwalk.Prediction) string {
	if p.Unfit == nil {
		return ""
	}
	return fmt.Sprintf("\nleft out to fit the memory limit: %s; a limit of %s keeps all stages", strings.Join(p.Unfit, ", "),
		run.Costs.LimitWithData(p.MissingMemory))
}

// judge returns the document of the predictions, compared with true labels and with held-out labels.
// labels[i] is the predicted class of row i.
func judge(run *shell.Session, in *predictionInputs, p *heatwalk.Prediction,
	labels []int) *classifyDocument {
	c := in.f
	g := in.data.Graph
	d := in.countPredictions(p, len(in.data.Labels.Row))
	d.Method = c.method.Name
	d.Attributes = g.DescribeAttributes()
	d.Weights = p.Weights
	d.BlockModel = p.BlockModel
	d.Omitted = p.Omitted
	d.Unfit = p.Unfit
	d.unfit = unfitText(run, p)
	d.More = p.More
	d.Model = p.Mixed
	d.Phases.Read = in.seconds
	d.Phases.PhaseSeconds = p.Seconds
	if c.model != "" && c.opened == nil {
		d.compareGraphs(run.Console, in, p)
	}
	if c.model == "" && !in.isComplete {
		d.Phases.Compare = p.Baselines.Seconds
		if c.suggest > 0 {
			d.Suggested = len(p.Suggestions)
			d.Strategy = p.Strategy()
			d.judgeLikeness(run.Console, in, p.Baselines)
		}
		if p.Settings > 0 {
			d.Parameters = &p.Parameters
			d.Settings = p.Settings
		}
		d.judgeHeldOut(run.Console, in, p)
	}
	d.Sets = in.sets
	d.Rare = in.rare
	d.notes = append(d.notes, in.setNotes...)
	d.Truth = run.Console.CompareTruth(labels, p.Reached, in.data.Labels, in.truth, "node")
	isDocumented := run.Console.JSON && p.Prediction.Scores != nil && c.suggest == 0 &&
		c.model == "" && run.Network == nil
	if c.page != "" || isDocumented {
		d.describe(in, p, labels)
	}
	return d
}

// compareGraphs adds the figures of the graph and of the model's graph, and warns if they differ.
func (d *classifyDocument) compareGraphs(console *shell.Console, in *predictionInputs, p *heatwalk.Prediction) {
	d.Graph = p.MeasureGraph()
	d.ModelGraph = in.f.kept.Graph
	if d.ModelGraph == nil {
		return
	}
	if list := d.ModelGraph.Differences(d.Graph); list != nil {
		console.Warn("%s: the graph differs from that of %s: %s", in.data.Graph.Name, in.f.model, strings.Join(list, "; "))
	}
}

// judgeHeldOut reports the accuracy at held-out labels, and warns if the accuracy at other nodes may differ.
func (d *classifyDocument) judgeHeldOut(console *shell.Console, in *predictionInputs,
	p *heatwalk.Prediction) {
	file := in.data.Labels.File
	estimate := p.Estimate
	if estimate.Tested == 0 {
		if p.Settings == 0 && choose.TooFew(in.data.Labels.Class) && in.f.model == "" && !in.isComplete {
			d.notes = append(d.notes, "no accuracy is estimated, because that needs at least 2 labelled nodes of each of two classes")
		}
		return
	}
	propagation := p.Baselines.Propagation
	majority := p.Baselines.Majority
	d.Estimate(estimate.Accuracy, estimate.Stderr, estimate.Tested)
	d.Reached = &estimate.Reached
	if in.targets != nil {
		reached := d.Nodes - d.Labelled - d.Unreached
		d.Reached = &reached
	}
	d.AccuracyMajority = &majority.Accuracy
	if propagation.Tested > 0 {
		d.AccuracyPropagation = &propagation.Accuracy
	}
	switch labels := p.Problem; {
	case labels.Time != nil:
		d.notes = append(d.notes, fmt.Sprintf("the accuracy is that of the newest %s, predicted from older ones", words.Counted(estimate.Tested, "label")))
	case labels.Group != nil:
		d.notes = append(d.notes, fmt.Sprintf("labels of a group are held out together: %s", words.Counted(len(choose.Groups(labels)), "group")))
	}
	d.reportShift(console, in.data.Labels, p)
	if in.f.method != engine.Majority {
		d.compareLargest(in.data.Labels, estimate)
	}
	if estimate.Unseen >= mostUnseen {
		console.Warn("%s: some classes have a single label; if labels were drawn at random, an estimated %.0f %% of the nodes are of classes without a label, and the reported accuracy counts them as wrong", file, 100*estimate.Unseen)
	}
}

// judgeLikeness reports the strategy that --strategy auto has chosen, and whether the labels show that
// linked nodes share labels.
func (d *classifyDocument) judgeLikeness(console *shell.Console, in *predictionInputs, b *engine.Baselines) {
	if in.f.strategy != method.AutoStrategy || d.Suggested == 0 {
		return
	}
	l := in.data.Labels
	held := b.HeldOut()
	shown := fmt.Sprintf("label propagation predicts %.0f ± %.0f %% of %s, the largest class %.0f %%", 100*held.Accuracy,
		100*held.Stderr, words.Counted(held.Tested, "held-out label"), 100*b.Majority.Accuracy)
	switch {
	case len(l.Row) < engine.ShowingLabels:
		shown = fmt.Sprintf("%s do not show whether linked nodes share labels, which takes %d or more", words.Counted(len(l.Row), "label"), engine.ShowingLabels)
	case held.Tested == 0: // too few labels of a class, not enough memory, or no solution
		shown = "label propagation was not compared with the largest class"
	}
	if d.Strategy == method.CoverStrategy {
		d.notes = append(d.notes, shown+": nodes that cover the graph (--strategy cover)")
		return
	}
	console.Warn("%s: %s, so nodes are drawn at random; if linked nodes mostly share labels, pass --strategy cover", l.File, shown)
}

// mostUnseen is the least estimated share of nodes of classes without a label that causes a warning.
const mostUnseen = 0.05

// describe stores the statistics of the predictions in the document. labels[i] is the predicted class of row
// i. With --targets the statistics cover only the targets.
func (d *classifyDocument) describe(in *predictionInputs, p *heatwalk.Prediction, labels []int) {
	if in.targets != nil {
		predicted := labels
		labels = slices.Repeat([]int{evaluate.Unlabelled}, len(predicted))
		for _, row := range in.targets {
			labels[row] = predicted[row]
		}
	}
	d.Summary = evaluate.Summarize(p.Prediction, labels, in.data.Labels, in.truth, in.data.Graph.Nodes.ID)
	d.ModelText = d.describeModel(in.f.model, p)
	if d.shift != "" {
		d.SampleText = "T" + d.shift[1:] + "."
	}
	for _, m := range p.Models() {
		if m.IsFactor {
			m.Name = "factor: " + m.Name
		}
		d.Models = append(d.Models, mixedModel{m.Name, m.Weight, m.Parameters})
	}
}

// reportShift warns if the labels are not a random sample. Labels that suggest has chosen cause a note
// instead, because suggest chooses nodes that differ from other nodes.
func (d *classifyDocument) reportShift(console *shell.Console, l *nodefile.Labels,
	p *heatwalk.Prediction) {
	sample := p.Shift
	if sample == nil || !sample.Exceeds() {
		return
	}
	d.LabelSample = sample
	var titles []string
	for _, c := range l.Columns {
		titles = append(titles, c.Title)
	}
	isSuggested := method.AreSuggested(titles)
	reason := "heatwalk suggest has chosen them"
	if !isSuggested {
		reason = shiftText(p)
	}
	d.shift = fmt.Sprintf("the labels are no random sample because %s, so the accuracy at other nodes may differ", reason)
	if isSuggested {
		d.notes = append(d.notes, d.shift)
	} else {
		console.Warn("%s: %s", l.File, d.shift)
	}
}

// compareLargest adds a note if always predicting the largest class is, or may be, at least as accurate. It
// assumes that the class has the same share of the nodes as of the labels.
func (d *classifyDocument) compareLargest(l *nodefile.Labels, e problem.Estimate) {
	sizes := l.Sizes()
	largest := slices.Index(sizes, slices.Max(sizes))
	share := float64(sizes[largest]) / float64(len(l.Row))
	margin := largestErrors * e.Stderr
	comparison := "may be no better than"
	switch {
	case e.Accuracy-share >= margin:
		return
	case share-e.Accuracy > margin:
		comparison = "is lower than"
	}
	d.notes = append(d.notes, fmt.Sprintf("the accuracy %s that of always naming the largest class, if %s of all nodes are of class %s",
		comparison, words.Percent(share), shell.Quote(l.Names[largest])))
}

// largestErrors is the number of standard errors by which an accuracy must exceed the share of the largest
// class.
const largestErrors = 2

// shiftText describes the largest difference between labelled nodes and other nodes.
func shiftText(p *heatwalk.Prediction) string {
	d, isDegree := p.Shift.Largest()
	population := "other nodes"
	if p.Shift.OneKind {
		population = "other nodes of their kind"
	}
	quantity := "have more than " + words.Counted(int(d.Above), "edge")
	switch {
	case !isDegree:
		quantity = "are more than " + words.Counted(int(d.Above), "edge") + " away from another label"
	case p.Weights != "" || p.Factors != nil:
		quantity = "have edges of a total weight above " + words.Round(d.Above)
	}
	return fmt.Sprintf("%s of them and %s of %s %s", words.Percent(d.Labelled), words.Percent(d.Others), population, quantity)
}

func (d *classifyDocument) summary(in *predictionInputs, p *heatwalk.Prediction) []string {
	several := ""
	if m := d.Several; m != nil {
		several = fmt.Sprintf("%s, lambda = %v; micro-F1 of labelled nodes left out one by one %.1f ± %.1f %%",
			words.Counted(m.Columns, "column"), m.Lambda, 100*m.MicroF1, 100*m.Stderr)
	}
	if d.LabelSets != nil && d.LabelSets.Truth != nil {
		t := d.LabelSets.Truth
		several += fmt.Sprintf("\nagainst %s: micro-F1 %.1f ± %.1f %%, macro-F1 %.3f; all labels of %s of %s are right",
			in.f.truth, 100*t.MicroF1, 100*t.Stderr, t.MacroF1, words.Percent(t.AllRight), words.Counted(t.Nodes, "node"))
	}
	edges := edgesText(in.data.Graph, d.factorsDocument, cmp.Or(in.f.model, "held-out labels"))
	return []string{
		d.headline(in), d.rareText(), d.Skipped.Describe("label"), d.Attributes.String(), d.describeModel(in.f.model, p), several,
		d.DescribeTruth(in.f.truth, "node"), d.weightsText(in), edges,
	}
}

// rareText describes how well probabilities of the rarest class rank held-out labels, and its thresholds; "" if no class is
// rare.
func (d *classifyDocument) rareText() string {
	if len(d.Rare) == 0 {
		return ""
	}
	r := &d.Rare[0] // with targets, d.Labelled counts the labels of targets alone
	text := fmt.Sprintf("%s (%s of %s): average precision %.1f ± %.1f %%", shell.Quote(r.Class), words.Count(r.Labels),
		words.Counted(max(d.Labelled, r.Tested), "label"), 100*r.AveragePrecision, 100*r.Stderr)
	for i, f := range r.First {
		if i == 0 {
			text += " · precision"
		} else {
			text += ","
		}
		text += fmt.Sprintf(" %.0f ± %.0f %% in the first %s", 100*f.Precision, 100*f.Stderr, words.Count(f.Labels))
	}
	if len(r.First) > 0 {
		text += " held-out labels"
	}
	for _, o := range []struct {
		noun  string
		point *choose.OperatingPoint
	}{{"precision", r.ForPrecision}, {"recall", r.ForRecall}} {
		switch {
		case o.point == nil:
		case !o.point.IsReached:
			text += fmt.Sprintf("\nno threshold has a %s of %s on held-out labels", o.noun, words.Percent(o.point.Asked))
		default:
			text += fmt.Sprintf("\n%s of %s: probability of at least %.4g, which %s; held-out labels have a precision of %.1f ± %.1f %% and a recall of %.1f ± %.1f %%",
				o.noun, words.Percent(o.point.Asked), o.point.Threshold, words.Counted(o.point.Nodes, "node")+" reach", 100*o.point.Precision, 100*o.point.PrecisionStderr,
				100*o.point.Recall, 100*o.point.RecallStderr)
		}
	}
	return text
}

// describeModel returns a text about the model. If saved is a file, the text is about the model in the file.
// Otherwise it is about the chosen parameters or about the models that auto combined.
func (d *classifyDocument) describeModel(saved string, p *heatwalk.Prediction) string {
	switch {
	case saved != "" && d.BlockModel:
		return d.Method + " of " + saved + ": beliefs of a block model"
	case saved != "":
		return d.Method + " of " + saved
	case d.BlockModel && d.unfit != "":
		return "beliefs of a block model" + d.unfit
	case d.BlockModel:
		return "beliefs of a block model, whose certainty agrees with held-out labels: no other model was fitted"
	case d.Parameters != nil:
		return d.Parameters.String() + chosenFrom(d.Settings)
	}
	const named = 3
	var terms []string
	list := p.Models()
	factor := ""
	if n := len(list) - 1; n >= 0 && list[n].IsFactor {
		factor = fmt.Sprintf(", times %s to the power of %.2f", list[n].Name,
			list[n].Weight)
		list = list[:n]
	}
	for _, m := range list[:min(named, len(list))] {
		terms = append(terms, fmt.Sprintf("%.2f %s", m.Weight, m.Name))
	}
	if n := len(list) - named; n > 0 {
		terms = append(terms, words.Counted(n, "other model"))
	}
	text := strings.Join(terms, " + ") + factor
	if m := d.More; m != nil {
		gains := slices.Clone(m.Stages)
		if m.Labels > 0 {
			all := ""
			if m.Labels == d.Labelled {
				all = "all "
			}
			gains = append(gains, "learning from "+all+words.Counted(m.Labels, "label"))
		}
		text += fmt.Sprintf("\n--effort high: some %.0f s more, with %s", m.Seconds, strings.Join(gains, ", "))
	}
	return text + d.unfit
}

// weightsText describes chosen weights of edges for the summary; "" if the edges keep their weights.
func (d *classifyDocument) weightsText(in *predictionInputs) string {
	text := map[string]string{"log": "log(1 + w)", "none": "1"}[d.Weights]
	source := cmp.Or(in.f.model, "held-out labels")
	if in.f.learning.weight != "" {
		source = "--edge-weights"
	}
	if text == "" {
		return ""
	}
	return fmt.Sprintf("edge weights: %s in place of w (%s)%s", text, source,
		in.data.Graph.DescribeZeros())
}

func (d *classifyDocument) headline(in *predictionInputs) string {
	switch {
	case in.f.opened != nil:
		return d.headlineOfNew(in.f.opened, in.f.newNodes)
	case d.Labelled == d.Nodes:
		return fmt.Sprintf("nothing to predict: all %s are labelled",
			words.Counted(d.Nodes, "node"))
	case in.f.suggest > 0:
		return words.Counted(d.Suggested, "node") + " to label next" + describeSide(in.side, "labels")
	}
	text := fmt.Sprintf("%s · %s labelled · %s predicted%s",
		words.Counted(d.Nodes, sideNoun(in.side)), words.Count(d.Labelled),
		words.Count(d.Predicted), describeSide(in.side, "labels"))
	if d.Unreached > 0 {
		left := "are left blank"
		if in.f.unreached == "prior" {
			left = "have the likeliest class of the prior"
		}
		fault := "cannot be reached from a label"
		if in.data.Graph.Directed && in.f.method != nil &&
			slices.ContainsFunc(in.f.method.Specs,
				func(s *param.Spec) bool { return s.Arcs == param.AlongArcs }) {
			fault = "reach no label along the arcs"
		}
		text += fmt.Sprintf(" · %s in %s %s and %s", words.Count(d.Unreached),
			words.Counted(d.Components, "component"), fault, left)
	}
	if d.AccuracyEstimate != nil {
		scope := ""
		if d.Unreached > 0 {
			scope = fmt.Sprintf(" of the %s reached",
				words.Counted(*d.Reached, "node"))
		}
		text += fmt.Sprintf(" · %s%s (largest class %.1f %%)", d.DescribeAccuracy(),
			scope, 100**d.AccuracyMajority)
	}
	return text
}

// sideNoun is the noun for the nodes of a side.
func sideNoun(side *heatwalk.Side) string {
	if side == nil || side.Name == "" {
		return "node"
	}
	return side.Name + " node"
}

// describeSide says that the nodes on the other side, which has no labels or seeds, are no targets.
func describeSide(side *heatwalk.Side, lacking string) string {
	if side == nil {
		return ""
	}
	noun := "node"
	kind := " on the side"
	if side.Other != "" {
		noun = side.Other + " node"
		kind = ""
	}
	return fmt.Sprintf(" · %s%s without %s left out (--targets all)", words.Counted(side.Others, noun), kind, lacking)
}

func chosenFrom(settings int) string {
	if settings <= 1 {
		return ""
	}
	return ", chosen from " + words.Counted(settings, "setting")
}
