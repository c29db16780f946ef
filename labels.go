package heatwalk

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/ranked"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/conformal"
	"github.com/heatwalk/heatwalk/method/explain"
	"github.com/heatwalk/heatwalk/method/multilabel"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/shift"
	"github.com/heatwalk/heatwalk/method/suggest"
	"github.com/heatwalk/heatwalk/sparse"
)

// usualSeed is the default rng seed of folds, splits and samples, in the command too.
const usualSeed = 1

// ClassifyOptions choose the method of [Graph.Classify] and [Graph.Evaluate]. Nil means
// defaults.
type ClassifyOptions struct {
	// Method is the name of a method with its parameters, for example "auto" (the default)
	// or "diffusion:beta=2+rls". Parameters that are not given are chosen by
	// cross-validation. Evaluate takes several names, joined by commas.
	Method string

	// Grid names the candidates of parameters: "small" (the default), "none", "paper" or a
	// file.
	Grid string

	Seed uint64 // of folds, splits and samples; 0: 1, as in the command

	Train  []float64 // Evaluate: shares of labels to train with; nil: 0.1
	Splits int       // Evaluate: random splits for each of Train; 0: 20
}

// Prediction is the result of [Graph.Classify] and [Predict].
type Prediction struct {
	// Prediction has the classes and scores by row, the chosen parameters and the
	// cross-validated Accuracy of the method, with its standard error.
	*method.Prediction

	Classes []string // the names of the classes, in the order of the columns of scores

	Baselines   *method.Baselines    // nil unless they were asked for or the method is one of them
	Shift       *shift.Report        // how labelled nodes differ from others; nil without a cross-validated accuracy
	Suggestions []suggest.Suggestion // most useful first

	HeldOutScores *conformal.Scores // for [Prediction.Sets]; nil: there are none

	Reasons []Reasons // for the predictions of PredictOptions.Explain, in their order

	UnreachedComponents int // components of the nodes that are not reached

	g        *Graph
	job      *Job            // has ended
	problem  *method.Problem // with the weights that the method has learned from
	settings *method.Settings
	options  *PredictOptions
}

// Label returns the predicted label of a node, its own if it has one, "" if no label reaches
// it, unless [method.Prediction.IsForAll] is true, or the graph has no such node.
func (p *Prediction) Label(id string) string {
	row, ok := p.g.Nodes.Lookup(id)
	if !ok || !p.IsForAll && !p.Reached.Contains(uint32(row)) {
		return ""
	}
	return p.Classes[p.Class[row]]
}

// Scores returns the score of every class for a node; nil if the graph has no such node.
func (p *Prediction) Scores(id string) map[string]float64 {
	row, ok := p.g.Nodes.Lookup(id)
	if !ok {
		return nil
	}
	scores := make(map[string]float64, len(p.Classes))
	for c, name := range p.Classes {
		scores[name] = p.Prediction.Scores.At(row, c)
	}
	return scores
}

// Problem returns the graph with labels by id on some of its nodes, in the order of
// [nodefile.Labels.Sort]. A node with the label "" has none. The error is an [*IDError]
// for an id that is not in the graph.
func (g *Graph) Problem(labels map[string]string) (*method.Problem, error) {
	g.checkOpen()
	var l nodefile.Labels
	number := map[string]int{}
	for _, id := range slices.Sorted(maps.Keys(labels)) {
		if labels[id] == "" {
			continue
		}
		row, ok := g.Nodes.Lookup(id)
		if !ok {
			return nil, &IDError{id}
		}
		class, isNumbered := number[labels[id]]
		if !isNumbered {
			class = len(l.Names)
			number[labels[id]] = class
			l.Names = append(l.Names, labels[id])
		}
		l.Row = append(l.Row, row)
		l.Class = append(l.Class, class)
	}
	l.Sort(g.Nodes)
	return NewProblem(g, l.Row, l.Class, l.Names), nil
}

// NewProblem returns the graph with labels by row: the node rows[i] has the class
// names[classes[i]]. Folds and columns of scores follow the orders of rows and names.
func NewProblem(g *Graph, rows, classes []int, names []string) *method.Problem {
	g.checkOpen()
	return &method.Problem{
		Graph: &graph.Graph{A: g.A, Signed: g.Signed, Degrees: g.Degrees,
			TempDir: g.tempParent()}, Directed: g.Directed, Weighted: g.Weighted,
		Row: rows, Class: classes, Names: names,
		Edges: g.edges, Origin: g.Origin(),
	}
}

// Classify predicts the label of every node from the labels of some, by id.
func (g *Graph) Classify(ctx context.Context, labels map[string]string,
	o *ClassifyOptions) (*Prediction, error) {
	return g.classify(ctx, labels, o, nil)
}

// classify predicts labels by id; the options may ask for more than predictions.
func (g *Graph) classify(ctx context.Context, labels map[string]string,
	o *ClassifyOptions, options *PredictOptions) (*Prediction, error) {
	p, err := g.Problem(labels)
	if err != nil {
		return nil, err
	}
	entries, _, err := o.methods(ctx)
	if err != nil {
		return nil, err
	}
	if len(entries) > 1 {
		return nil, refuse("method", "%s are several; this takes one, Evaluate compares them", o.Method)
	}
	return Predict(ctx, g, p, entries[0].Method, entries[0].Settings, options)
}

// PredictOptions ask [Predict] for more than predictions. Nil means no more.
type PredictOptions struct {
	Baselines bool // cross-validated accuracy of label propagation and of the largest class
	Suggest   int  // number of nodes whose labels would improve the predictions most

	// Explain are the rows of nodes whose predictions are explained, Reasons the number of labelled nodes, attributes
	// and links that are listed for each; 0: 10. It needs one process.
	Explain []int
	Reasons int

	// Deferred leaves suggestions and reasons to [Prediction.AddSuggestions] and [Prediction.AddReasons], so that the
	// predictions can be written before them. Memory for reasons is reserved if Explain is not nil.
	Deferred bool

	// Targets are the rows of the nodes that could have a label: the labelled nodes are compared with these, and
	// suggestions are of these. Nil: all nodes. Several processes compare with all.
	Targets []int

	// Compared is the number of true labels that the caller holds and compares the predictions with. They are part of
	// the memory estimate.
	Compared int

	// Predicting is called when the graph is in memory and the prediction begins. Nil: not
	// called.
	Predicting func()
}

// compares reports whether baselines are measured. Those that explain without an estimate are not.
func (o *PredictOptions) compares(m *method.Engine) bool {
	return o.Baselines || m.IsBaseline() && o.Explain == nil
}

// Predict predicts the class of every node of a problem on the graph. It fills in the Memory
// and the Workers of the settings. The error of a prediction without labels, with one class or
// above the memory limit is that of the method.
func Predict(ctx context.Context, g *Graph, p *method.Problem, m *method.Engine,
	s *method.Settings, o *PredictOptions) (*Prediction, error) {
	if o == nil {
		o = new(PredictOptions)
	}
	set := *s
	options := *o
	set.Explain = o.Explain != nil
	if set.Explain {
		set.Raw = true
	}
	if g.options.Network != nil {
		if set.Explain {
			return nil, &problem.Error{Method: m.Name, Err: sparse.ErrDivided}
		}
		options.Targets = nil
		set.Top = 0
	}
	job, local, learned, err := g.beginLearning(ctx, p, &set, &Needs{
		Transpose: m.NeedsTranspose(), Reweighs: m.Reweighs(p, &set), Labels: o.Compared,
	}, func(local *method.Problem, s *method.Settings, plan *Plan) (int64, error) {
		cost, err := m.EstimateCost(local, nil, s)
		plan.Disk = cost.Disk
		return predictionBytes(local, m, &cost, s, &options), err
	})
	if err != nil {
		return nil, err
	}
	defer job.End()
	out := &Prediction{Classes: p.Names, g: g, job: job, settings: learned, options: o}
	out.problem, err = out.compute(ctx, local, m, learned, &options)
	if err != nil {
		return nil, err
	}
	if err := job.gatherPrediction(out.Prediction); err != nil {
		return nil, err
	}
	out.holdOut(p, set.RNGSeed)
	if job.division != nil || o.Deferred {
		return out, nil
	}
	if err = out.addSuggestions(ctx); err == nil && learned.Explain {
		err = out.addReasons(ctx, o.Explain)
	}
	return out, err
}

// AddSuggestions fills in the suggestions of [PredictOptions], if they were asked for. It waits for memory as
// [Graph.Begin] does.
func (p *Prediction) AddSuggestions(ctx context.Context) error {
	return p.again(ctx, func() error { return p.addSuggestions(ctx) })
}

// again calls do in the memory of the job of the prediction.
func (p *Prediction) again(ctx context.Context, do func() error) error {
	p.g.checkOpen()
	job := &Job{g: p.g, data: p.job.data, bytes: p.job.bytes}
	if err := job.enter(ctx); err != nil {
		return err
	}
	defer job.End()
	return do()
}

// addSuggestions is AddSuggestions within a job.
func (p *Prediction) addSuggestions(ctx context.Context) (err error) {
	if p.options.Suggest > 0 {
		p.Suggestions, err = suggest.Nodes(ctx, p.problem, p.Prediction,
			p.options.Suggest, p.options.Targets, p.settings)
	}
	return err
}

// LeastCertain returns the rows of targets of [PredictOptions] without a label that labels reach, at most number of them: those
// with the least probability of their class, least first.
func (p *Prediction) LeastCertain(number int) []int {
	certainty := func(row int) float64 { return p.Prediction.Scores.At(row, p.Class[row]) }
	var rows []int
	for _, row := range problem.ListUnlabelled(p.problem, p.options.Targets) {
		if p.Reached.Contains(uint32(row)) {
			rows = ranked.Insert(rows, row, number,
				func(a, b int) int { return cmp.Compare(certainty(a), certainty(b)) })
		}
	}
	return rows
}

// compute predicts with m, and compares the labelled nodes with the others. It returns the problem with the
// weights of edges that m has learned from.
func (p *Prediction) compute(ctx context.Context, problem *method.Problem,
	m *method.Engine, set *method.Settings,
	o *PredictOptions) (*method.Problem, error) {
	if o.Predicting != nil {
		o.Predicting()
	}
	var err error
	if o.compares(m) {
		p.Prediction, p.Baselines, err = m.PredictCompared(ctx, problem, set)
	} else {
		p.Prediction, err = m.Predict(ctx, problem, nil, set)
	}
	if err != nil {
		return nil, err
	}
	problem = cmp.Or(p.Prediction.Problem, problem)
	if err := m.AdaptToShares(ctx, problem, p.Prediction, set); err != nil {
		return nil, err
	}
	if o.Explain != nil && !o.Deferred {
		return problem, nil
	}
	if p.UnreachedComponents, err = problem.MissedComponents(ctx, p.Reached,
		set.Workers, &p.Work); err != nil {
		return nil, err
	}
	start := time.Now()
	p.Shift, err = shift.Check(ctx, m, problem, p.Prediction, p.Estimate, o.Targets, set)
	p.Seconds.Choose += time.Since(start).Seconds()
	return problem, err
}

// learningPart names the memory of learning in a plan.
const learningPart = "learning and predictions"

// predictionBytes returns the memory of a prediction: the largest of the baselines, the method,
// and its output or the suggestions that follow from it.
func predictionBytes(p *method.Problem, m *method.Engine, cost *method.Cost,
	s *method.Settings, o *PredictOptions) int64 {
	bytes := cost.Bytes
	if o.compares(m) {
		if compare := method.BaselineBytes(p, s); s.Memory == 0 || compare <= s.Memory {
			bytes = max(bytes, compare)
		}
	}
	output := cost.Scores + 17*int64(len(p.Degrees)) // reached nodes too
	output += shift.Bytes(p)
	if o.Suggest > 0 {
		output += suggest.Bytes(p, o.Suggest, s.Memory)
	}
	if s.Explain {
		output += explain.Bytes(len(p.Degrees), len(p.Names))
	}
	return max(bytes, output)
}

// Evaluate compares methods on random splits of the labels: all of them are trained on the
// same labels and scored on the same others.
func (g *Graph) Evaluate(ctx context.Context, labels map[string]string,
	o *ClassifyOptions) (*evaluate.Report, error) {
	p, err := g.Problem(labels)
	if err != nil {
		return nil, err
	}
	entries, set, err := o.methods(ctx)
	if err != nil {
		return nil, err
	}
	plan := &evaluate.Plan{Methods: entries, Fractions: []float64{0.1},
		Settings: set}
	if o != nil {
		if err := checkShares("train", o.Train); err != nil {
			return nil, err
		}
		if o.Splits < 0 {
			return nil, refuse("splits", "%d is out of range; give 1 or more, or 0 for 20", o.Splits)
		}
		plan.Splits = o.Splits
		if o.Train != nil {
			plan.Fractions = o.Train
		}
	}
	return Compare(ctx, g, p, plan)
}

// Compare compares the methods of a plan on splits of the labels of a problem. It fills in the
// Memory and the Workers of their settings.
func Compare(ctx context.Context, g *Graph, p *method.Problem,
	plan *evaluate.Plan) (*evaluate.Report, error) {
	needs := &Needs{
		Transpose: slices.ContainsFunc(plan.Methods,
			func(e method.Entry) bool { return e.Method.NeedsTranspose() }),
		Reweighs: slices.ContainsFunc(plan.Methods,
			func(e method.Entry) bool { return e.Method.Reweighs(p, plan.Settings) }),
	}
	complete := func(s *method.Settings) *evaluate.Plan {
		out := *plan
		out.Settings = s
		out.Methods = mergeSettings(plan.Methods, s)
		return &out
	}
	job, local, settings, err := g.beginLearning(ctx, p, plan.Settings, needs,
		func(local *method.Problem, s *method.Settings, _ *Plan) (int64, error) {
			return evaluate.Bytes(local, complete(s))
		})
	if err != nil {
		return nil, err
	}
	defer job.End()
	report, err := evaluate.Run(ctx, local, complete(settings))
	if err == nil {
		err = job.result()
	}
	return report, err
}

// mergeSettings returns methods whose own settings are completed by those of all.
func mergeSettings(methods []method.Entry, settings *method.Settings) []method.Entry {
	methods = slices.Clone(methods)
	for i := range methods {
		if specific := methods[i].Settings; specific != nil {
			merged := *settings
			merged.Given = specific.Given
			merged.Lists = specific.Lists
			merged.Fixed = specific.Fixed
			methods[i].Settings = &merged
		}
	}
	return methods
}

// PredictSeveral predicts the labels of the nodes of a problem that may have several, each of which is a label of the
// problem. It fills in the Memory and the Workers of the settings.
func PredictSeveral(ctx context.Context, g *Graph, p *method.Problem,
	s *method.Settings) (*multilabel.Model, *Prediction, error) {
	job, q, set, err := g.beginLearning(ctx, p, s, new(Needs), severalBytes)
	if err != nil {
		return nil, nil, err
	}
	defer job.End()
	model, predicted, err := multilabel.Predict(ctx, q, set)
	if err != nil {
		return nil, nil, err
	}
	out := &Prediction{Prediction: predicted, Classes: p.Names, g: g}
	out.UnreachedComponents, err = q.MissedComponents(ctx, out.Reached,
		set.Workers, &out.Work)
	return model, out, err
}

// CompareSeveral measures predictions of several labels on splits of the labelled nodes, see [evaluate.CompareSeveral].
func CompareSeveral(ctx context.Context, g *Graph, p *method.Problem,
	plan *evaluate.Plan, s *method.Settings) (*evaluate.SeveralReport, error) {
	job, q, set, err := g.beginLearning(ctx, p, s, new(Needs), severalBytes)
	if err != nil {
		return nil, err
	}
	defer job.End()
	return evaluate.CompareSeveral(ctx, q, plan, set)
}

// severalBytes returns the memory of predictions of several labels of a node.
func severalBytes(p *method.Problem, s *method.Settings, _ *Plan) (int64, error) {
	keptBytes, choice := method.FactorBytes(p, s)
	return max(multilabel.Bytes(p)+keptBytes, choice), nil
}

// beginLearning begins a job on a problem. It returns the problem on the rows of the job, and the settings with its
// memory; bytes estimates the memory.
func (g *Graph) beginLearning(ctx context.Context, p *method.Problem,
	s *method.Settings, n *Needs,
	bytes func(*method.Problem, *method.Settings, *Plan) (int64, error),
) (*Job, *method.Problem, *method.Settings, error) {
	set := *s
	set.Workers = g.options.Workers
	local := func(j *Job) *method.Problem {
		q := j.Problem(p)
		if n.Structure {
			q.Graph = j.Graph
		}
		return q
	}
	n.Named = [][]int{p.Row}
	n.Labels += len(p.Row)
	n.Part = learningPart
	n.Bytes = func(j *Job, plan *Plan) (int64, error) {
		limited := set
		limited.Memory = j.Memory
		return bytes(local(j), &limited, plan)
	}
	job, err := g.Begin(ctx, n)
	if err != nil {
		return nil, nil, nil, err
	}
	set.Memory = job.Memory
	set.Prior.Given = job.Part(set.Prior.Given)
	return job, local(job), &set, nil
}

// methods returns the methods that the options name, with their settings, and the settings
// of all.
func (o *ClassifyOptions) methods(ctx context.Context) ([]method.Entry, *method.Settings, error) {
	if o == nil {
		o = new(ClassifyOptions)
	}
	entries, err := method.Parse(cmp.Or(o.Method, "auto"))
	if err != nil {
		return nil, nil, err
	}
	settings, err := method.Settle(ctx, entries, cmp.Or(o.Grid, "small"))
	if err != nil {
		return nil, nil, err
	}
	settings.RNGSeed = cmp.Or(o.Seed, usualSeed)
	for _, e := range entries {
		e.Settings.RNGSeed = settings.RNGSeed
	}
	return entries, settings, nil
}
