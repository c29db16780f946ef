package engine

import (
	"context"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/sides"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// GivenWeights is the name of edge weights as they are in the graph.
const GivenWeights = "given"

// weighting is a function of edge weights.
type weighting struct {
	name   string
	values shard.Values
	value  func(i, j int, w float64) float64 // value(i, j, 0) must be 0; nil: w itself
}

// weightings are in the order of [shard.Values].
var weightings = []weighting{
	{GivenWeights, shard.Given, nil},
	{"none", shard.Ones, func(_, _ int, w float64) float64 {
		if w == 0 {
			return 0
		}
		return 1
	}},
	{"log", shard.Logs, func(_, _ int, w float64) float64 { return math.Log1p(w) }},
}

// weighting returns the function that s.Weights names, or else the given weights.
func (s *Settings) weighting() weighting {
	return weightings[max(0, slices.IndexFunc(weightings, func(w weighting) bool { return w.name == s.Weights }))]
}

// Weightings returns the possible values of Settings.Weights.
func Weightings() []string {
	var names []string
	for _, w := range weightings {
		names = append(names, w.name)
	}
	return names
}

// choosesWeights reports whether held-out labels choose the function of the weights, which they do only for engines that
// mix models.
func (m *Engine) choosesWeights(p *Problem, s *Settings) bool {
	return m.Mixture != nil && p.Weighted && !p.Signed && s.Weights == "" &&
		(!choosesFactors(p, s) || p.Edges.Weighted) && len(p.Row) >= leastLabels && !choose.TooFew(p.Class)
}

// EdgeWeights are the edge weights that a method learned from. Weights is one of [Weightings].
type EdgeWeights = problem.EdgeWeights

// Weigh returns p with the edge weights that a method learns from, described by [problem.Problem.Learned].
//
// The function of the weights is Settings.Weights. If Weights is empty, auto uses the function among w, 1 and log(1 + w)
// that predicts held-out labels best, and other methods use w. If factors of edge kinds and times were left to be chosen,
// see [sides.Edges], labels choose these factors for all methods, together with the function that is best with them.
//
// Both choices use the evidence and the rule of package sides. Cost: [sides.Evidence.QualityOf] for each of the functions.
func (m *Engine) Weigh(ctx context.Context, p *Problem,
	s *Settings) (*Problem, error) {
	if p.Learned != nil {
		return p, nil
	}
	set := m.weighingSettings(s)
	w := set.weighting()
	if p.Signed && w.value != nil {
		return nil, param.Refuse("edge-weights", "edge-weights",
			"%s has no meaning for negative weights; leave it out", w.name)
	}
	var err error
	var factors *sides.Choice
	chooses := m.choosesWeights(p, &set)
	switch {
	case choosesFactors(p, &set) && set.Model == nil:
		factors, err = chooseFactors(ctx, p, w, &set)
		if err == nil && chooses {
			w = weightings[factors.Book.Values]
		}
	case choosesFactors(p, &set):
		factors, err = p.Edges.Restore(set.keptEdges())
	case chooses:
		w, err = chooseWeighting(ctx, p, &set)
	}
	if err != nil {
		return nil, err
	}
	return w.problem(ctx, p, factors, &set)
}

// weighingSettings returns s with defaults, where the settings of a kept model of m replace settings of s.
func (m *Engine) weighingSettings(s *Settings) Settings {
	set := s.WithDefaults()
	if m.Model != nil {
		return *m.Model.settings(&set)
	}
	return set
}

// Reweighs reports whether [Engine.Weigh] builds a graph with other factors of edge kinds and times, or applies such
// factors anew to changed weights.
func (m *Engine) Reweighs(p *Problem, s *Settings) bool {
	set := m.weighingSettings(s)
	return choosesFactors(p, &set) || set.weighting().isBelowFactors(p, &set)
}

// A choice of a function or of factors needs at least leastLabels labels or known numbers.
const leastLabels = 2 * sides.Folds

// choosesFactors reports whether labels, numbers or a kept model decide factors that p.A does not contain
// yet.
func choosesFactors(p *Problem, s *Settings) bool {
	switch {
	case p.Edges == nil:
		return false
	case p.Edges.Differs(s.keptEdges()):
		return true
	case !p.Edges.IsOpen():
		return false
	case p.Value != nil:
		return len(p.Value) >= leastLabels && p.Validate() == nil
	}
	return s.Model != nil || !choose.TooFew(p.Class)
}

// isBelowFactors reports whether w changes weights that are then multiplied by factors of edge kinds and times.
func (w weighting) isBelowFactors(p *Problem, s *Settings) bool {
	return w.value != nil && p.Edges != nil && p.Edges.HasFactors(s.keptEdges())
}

// keptEdges returns the edge factors of the kept model, or nil without a kept model.
func (s *Settings) keptEdges() *sides.Kept {
	if s.Model == nil {
		return nil
	}
	return s.Model.Origin.Edges
}

// edgeLabels returns the labels or numbers of p as evidence; all labels of a node are in one fold.
func edgeLabels(p *Problem, s *Settings) *sides.Labels {
	l := &sides.Labels{Row: p.Row, Class: p.Class, Classes: len(p.Names), Value: p.Value}
	l.Fold = choose.ToFit(p, s.RNGSeed).Of
	return l
}

// chooseFactors returns the factors of edge kinds and times that labels or numbers choose for weights changed by w. If the
// settings name no function, labels choose w too, because weights of a wide range disturb the choice of factors.
func chooseFactors(ctx context.Context, p *Problem, w weighting, s *Settings) (*sides.Choice, error) {
	functions := []shard.Values{w.values}
	if s.Weights == "" && p.Edges.Weighted && !p.Signed {
		functions = []shard.Values{shard.Given, shard.Ones, shard.Logs}
	}
	labels := edgeLabels(p, s)
	team := p.Team()
	labels.Row = make([]int, len(p.Row))
	for i, row := range p.Row {
		labels.Row[i] = team.Row(row)
	}
	return p.Edges.Choose(ctx, labels, functions, s.Memory, s.Workers)
}

// problem returns p with edge weights changed by w and multiplied by factors. If factors is nil, problem keeps the factors
// in p.A.
func (w weighting) problem(ctx context.Context, p *Problem, factors *sides.Choice,
	s *Settings) (*Problem, error) {
	q := *p
	learned := &EdgeWeights{Factors: factors}
	q.Learned = learned
	if p.Weighted || factors != nil {
		learned.Weights = w.name
	}
	if p.Edges != nil && factors == nil {
		learned.Factors = p.Edges.Given()
	}
	var err error
	switch {
	case factors != nil || w.isBelowFactors(p, s):
		learned.Factors = learned.Factors.Of(w.values)
		learned.Weights = w.name
		q.Weighted = true
		q.Edges = nil
		q.Graph, err = problem.WithFactors(ctx, p.Graph, p.Edges, learned.Factors, s.Memory, s.Workers)
	case w.value != nil && p.Weighted:
		q.Graph, err = w.graph(ctx, p, s)
	}
	return &q, err
}

// graph returns the graph of p with the weights of pairs of nodes changed by w.
func (w weighting) graph(ctx context.Context, p *Problem, s *Settings) (*graph.Graph, error) {
	a, err := sparse.MapValues(ctx, p.A, w.value)
	if err != nil {
		return nil, err
	}
	g := &graph.Graph{A: a, Nodes: p.Graph.Nodes, Components: p.Components}
	if p.In != nil {
		if g.In, err = sparse.MapValues(ctx, p.In, w.value); err != nil {
			return nil, err
		}
	}
	g.Degrees, err = sparse.Degrees(ctx, a, s.Workers)
	return g, err
}

func evidenceOf(p *Problem, s *Settings) *sides.Evidence {
	return sides.NewEvidence(edgeLabels(p, s), sparse.EntriesOf(p.A), s.Memory, s.Workers)
}

// chooseWeighting returns the function of the weights that held-out labels choose.
func chooseWeighting(ctx context.Context, p *Problem, s *Settings) (weighting, error) {
	evidence := evidenceOf(p, s)
	best, _, err := evidence.Best(len(weightings),
		func(i int) (sides.Quality, error) {
			q, err := weightings[i].problem(ctx, p, nil, s)
			if err != nil {
				return nil, err
			}
			return evidence.QualityOf(ctx, sparse.Transition, q.A, nil)
		})
	return weightings[best], err
}
