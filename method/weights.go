package method

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/sides"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// GivenWeights are the weights of edges as they are in the graph.
const GivenWeights = "given"

// onesWeights are weights of 1 in place of those in the graph. Factors of kinds and times multiply them.
const onesWeights = "none"

// weighting is a function of the weights of edges.
type weighting struct {
	name  string
	value func(i, j int, w float64) float64 // 0 of 0
}

// weightings are the functions besides [GivenWeights].
var weightings = []weighting{
	{onesWeights, func(_, _ int, w float64) float64 {
		if w == 0 {
			return 0
		}
		return 1
	}},
	{"log", func(_, _ int, w float64) float64 { return math.Log1p(w) }},
}

// Weightings returns the values of Settings.Weights.
func Weightings() []string {
	names := []string{GivenWeights}
	for _, w := range weightings {
		names = append(names, w.name)
	}
	return names
}

// weightChooser is a method for which held-out labels choose the weights of edges.
type weightChooser interface{ choosesWeights(s *Settings) bool }

// choosesWeights reports true, because auto chooses everything.
func (automatic) choosesWeights(*Settings) bool {
	return true
}

// choosesWeights reports whether a parameter of label propagation is to be chosen.
func (labelPropagation) choosesWeights(s *Settings) bool {
	return s.leavesOpen(&propagationSpec)
}

// choosesWeights reports whether a parameter of beliefs is to be chosen.
func (blockBeliefs) choosesWeights(s *Settings) bool {
	return s.leavesOpen(&beliefsSpec)
}

// leavesOpen reports whether a parameter of a declaration is to be chosen.
func (s *Settings) leavesOpen(d *param.Spec) bool {
	return !s.Fixed && slices.ContainsFunc(d.Params,
		func(p param.Param) bool { return !s.Given.Has(p.Name) })
}

// choosesWeights reports whether held-out labels choose the weights for a method.
func choosesWeights(m Method, p *Problem, s *Settings) bool {
	chooser, ok := engineOf(m).(weightChooser)
	return ok && p.Weighted && !p.Signed && s.Weights == "" &&
		chooser.choosesWeights(s) && len(p.Row) >= leastLabels && !split.TooFew(p.Class)
}

// EdgeWeights are the weights of edges that a method has learned from. Weights is one of
// [Weightings].
type EdgeWeights = problem.EdgeWeights

// weighing is a method that predicts, and chooses parameters, on the problem of [Weigh].
type weighing struct{ engine }

// engine computes the predictions of a method on the edges of a problem as they are.
type engine interface {
	Name() string
	Takes() []string
	Declarations() []*param.Spec
	Predict(ctx context.Context, p *Problem, par *Parameters, s *Settings) (*Prediction, error)
}

// tuner is an engine that chooses parameters on splits.
type tuner interface {
	Tune(ctx context.Context, p *Problem, splits *split.Splits, s *Settings) (*Choice, error)
}

// Predict implements [Method].
func (m weighing) Predict(ctx context.Context, p *Problem, par *Parameters,
	s *Settings) (*Prediction, error) {
	p, err := Weigh(ctx, m, p, s)
	if err != nil {
		return nil, err
	}
	out, err := m.engine.Predict(ctx, p, par, s)
	if err == nil {
		out.Problem = p
		out.EdgeWeights = *p.Learned
	}
	return out, err
}

// Tune implements [Method]. An engine without it has nothing to choose on splits, or chooses
// inside each training set.
func (m weighing) Tune(ctx context.Context, p *Problem, splits *split.Splits,
	s *Settings) (*Choice, error) {
	t, tunes := m.engine.(tuner)
	if !tunes {
		return nil, nil
	}
	p, err := Weigh(ctx, m, p, s)
	if err != nil {
		return nil, err
	}
	return t.Tune(ctx, p, splits, s)
}

// engineOf returns the engine of a method of this package, or else the method itself.
func engineOf(m Method) engine {
	if w, isOwn := m.(weighing); isOwn {
		return w.engine
	}
	return m
}

// Weigh returns the problem with the weights of edges that a method learns from, which are
// [problem.Problem.Learned]. Predict and Tune of the methods of this package begin with it. A nil
// method is a model that is no [Method], with the weights of Settings.Weights.
//
// Open factors of kinds and times are chosen by the labels, see package sides. Then come functions of the weights: that of
// Settings.Weights or, if it is empty, for auto, lp and beliefs those of w, 1 and log(1 + w) that predict held-out
// labels best, and w for other methods.
//
// Both have the evidence and the rule of package sides. Cost: [sides.Evidence.QualityOf] for each of the weights.
func Weigh(ctx context.Context, m Method, p *Problem,
	s *Settings) (*Problem, error) {
	if p.Learned != nil {
		return p, nil
	}
	set := weighingSettings(m, s)
	q, err := chooseFactors(ctx, p, &set)
	if err != nil || !q.Weighted {
		return q, err
	}
	if q.Learned.Weights == onesWeights {
		return q, nil
	}
	if choosesFactors(p, &set) && !p.Edges.Weighted {
		set.Weights = cmp.Or(set.Weights, GivenWeights)
	}
	if choosesWeights(m, q, &set) {
		return chooseWeights(ctx, q, p.Edges, &set)
	}
	for _, w := range weightings {
		if w.name != set.Weights {
			continue
		}
		if q.Signed {
			return nil, param.Refuse("edge-weights", "edge-weights",
				"%s has no meaning for negative weights; leave it out", w.name)
		}
		return w.problem(ctx, q, p.Edges, &set)
	}
	return q, nil
}

// weighingSettings returns the settings of a method, with those of a kept model.
func weighingSettings(m Method, s *Settings) Settings {
	set := s.WithDefaults()
	if keeper, hasModel := engineOf(m).(keptMethod); hasModel {
		return *keeper.m.settings(&set)
	}
	return set
}

// Reweighs reports whether [Weigh] gives a method other factors of kinds and times than those in the graph.
func Reweighs(m Method, p *Problem, s *Settings) bool {
	set := weighingSettings(m, s)
	return choosesFactors(p, &set) || countsOnes(p, &set)
}

// leastLabels is the number of labels from which on they choose functions of weights, and that of
// numbers from which on they choose factors of kinds and times.
const leastLabels = 2 * sides.Folds

// choosesFactors reports whether labels or numbers, or a kept model, have factors that A does not have.
func choosesFactors(p *Problem, s *Settings) bool {
	switch {
	case p.Edges == nil:
		return false
	case p.Edges.Differs(s.keptEdges()):
		return true
	case !p.Edges.IsOpen():
		return false
	case p.Value != nil:
		return len(p.Value) >= leastLabels
	}
	return s.model != nil || !split.TooFew(p.Class)
}

// countsOnes reports whether entries with kinds or times have the weight 1 before their factors. Without factors each pair of
// nodes has it.
func countsOnes(p *Problem, s *Settings) bool {
	return s.Weights == onesWeights && p.Edges != nil && p.Edges.HasFactors(s.keptEdges()) && !p.Signed
}

// keptEdges returns the factors of edges of a kept model; nil: there are none.
func (s *Settings) keptEdges() *sides.Kept {
	if s.model == nil {
		return nil
	}
	return s.model.Origin.Edges
}

// edgeLabels returns the labels or numbers as evidence of the weights of edges. All labels of a node
// are of one fold.
func edgeLabels(p *Problem, s *Settings) *sides.Labels {
	l := &sides.Labels{Row: p.Row, Class: p.Class, Classes: len(p.Names), Value: p.Value}
	var class []int           // of each node, its first one
	position := map[int]int{} // of a row in class
	for i, row := range p.Row {
		if _, isListed := position[row]; isListed {
			continue
		}
		position[row] = len(class)
		if p.Value != nil {
			class = append(class, 0)
		} else {
			class = append(class, p.Class[i])
		}
	}
	fold := split.Folds(class, sides.Folds, s.RNGSeed, 0)
	for _, row := range p.Row {
		l.Fold = append(l.Fold, fold[position[row]])
	}
	return l
}

// chooseFactors returns the problem with the given weights, and the factors of kinds and times that
// are given, or that a kept model has, or that labels or numbers choose.
func chooseFactors(ctx context.Context, p *Problem, s *Settings) (*Problem, error) {
	q := *p
	learned := new(EdgeWeights)
	q.Learned = learned
	if p.Edges != nil {
		learned.Factors = p.Edges.Given()
	}
	if q.Weighted {
		learned.Weights = GivenWeights
	}
	chooses := choosesFactors(p, s)
	ones := countsOnes(p, s)
	var err error
	switch {
	case !chooses && !ones:
		return &q, nil
	case !chooses:
	case s.model != nil:
		if learned.Factors, err = p.Edges.Restore(s.keptEdges()); err != nil {
			return nil, err
		}
	default:
		labels := edgeLabels(p, s)
		team := p.Team()
		labels.Row = make([]int, len(p.Row)) // of the store
		for i, row := range p.Row {
			labels.Row[i] = team.Row(row)
		}
		learned.Factors, err = p.Edges.Choose(ctx, labels, ones, s.Memory, s.Workers)
		if err != nil {
			return nil, err
		}
	}
	learned.Weights = GivenWeights
	if ones {
		learned.Weights = onesWeights
		learned.Factors = learned.Factors.CountOnes()
	}
	return withFactors(ctx, &q, p.Edges, s)
}

// withFactors gives the problem q the factors of edges that it has learned, and returns it.
func withFactors(ctx context.Context, q *Problem, e *sides.Edges, s *Settings) (*Problem, error) {
	q.Weighted = true
	q.Edges = nil
	var err error
	q.Graph, err = problem.WithFactors(ctx, q.Graph, e, q.Learned.Factors, s.Memory, s.Workers)
	return q, err
}

// problem returns p with other weights, of the edges e if p has learned factors of these.
func (w *weighting) problem(ctx context.Context, p *Problem, e *sides.Edges,
	s *Settings) (*Problem, error) {
	q := *p
	learned := *p.Learned
	learned.Weights = w.name
	q.Learned = &learned
	if w.name == onesWeights && e != nil && e.HasFactors(s.keptEdges()) {
		learned.Factors = learned.Factors.CountOnes()
		return withFactors(ctx, &q, e, s)
	}
	a, err := sparse.MapValues(ctx, p.A, w.value)
	if err != nil {
		return nil, err
	}
	q.Graph = &graph.Graph{A: a, Components: p.Components}
	if p.In != nil {
		if q.In, err = sparse.MapValues(ctx, p.In, w.value); err != nil {
			return nil, err
		}
	}
	q.Degrees, err = sparse.Degrees(ctx, a, s.Workers)
	return &q, err
}

// evidenceOf returns the evidence of the labels for functions of the weights.
func evidenceOf(p *Problem, s *Settings) *sides.Evidence {
	return sides.NewEvidence(edgeLabels(p, s), sparse.EntriesOf(p.A), s.Memory, s.Workers)
}

// chooseWeights returns the problem with the weights that held-out labels choose.
func chooseWeights(ctx context.Context, p *Problem, e *sides.Edges, s *Settings) (*Problem, error) {
	evidence := evidenceOf(p, s)
	settings := []*Problem{p}
	best, err := evidence.Best(1+len(weightings),
		func(i int) (sides.Quality, error) {
			if i > 0 {
				q, err := weightings[i-1].problem(ctx, p, e, s)
				if err != nil {
					return nil, err
				}
				settings = append(settings, q)
			}
			return evidence.QualityOf(ctx, sparse.Transition, settings[i].A, nil)
		})
	if err != nil {
		return nil, err
	}
	return settings[best], nil
}

// FactorBytes returns the memory of the problem with chosen factors of kinds and times, and that of the choice with it.
func FactorBytes(p *Problem, s *Settings) (held, choice int64) {
	chooses := choosesFactors(p, s)
	if chooses || countsOnes(p, s) {
		held = problem.FactorBytes(p.Graph, p.Edges, s.Memory, s.Workers)
	}
	if chooses {
		choice = p.Edges.Bytes(edgeLabels(p, s), s.Memory)
	}
	return held, held + choice
}

// weighBytes returns the memory of [Weigh] that a prediction keeps, and that of the choice.
func weighBytes(m Method, p *Problem, s *Settings) (held, choice int64) {
	if _, hasModel := engineOf(m).(keptMethod); hasModel { // which counts it
		return 0, 0
	}
	held, choice = FactorBytes(p, s)
	if held > 0 && (s.Weights == onesWeights || !p.Edges.Weighted && s.Weights == "") {
		return held, choice
	}
	chooses := choosesWeights(m, p, s)
	if !p.Weighted || !chooses && (s.Weights == "" || s.Weights == GivenWeights) {
		return held, choice
	}
	mapped := 8*int64(len(p.Degrees)) +
		sparse.MapValuesBytes(p.A, sched.Workers(s.Workers))
	if p.In != nil {
		mapped += sparse.MapValuesBytes(p.In, sched.Workers(s.Workers))
	}
	if p.Edges != nil {
		mapped = max(mapped, problem.FactorBytes(p.Graph, p.Edges, s.Memory, s.Workers))
	}
	if chooses {
		choice = max(choice, held+2*mapped+evidenceOf(p, s).Bytes(p.Rows()))
	}
	return held + mapped, choice
}
