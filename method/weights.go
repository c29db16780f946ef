package method

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/sides"
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

// weightings are the functions, [GivenWeights] first.
var weightings = []weighting{
	{name: GivenWeights},
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
	var names []string
	for _, w := range weightings {
		names = append(names, w.name)
	}
	return names
}

// leavesOpen reports whether a parameter of a declaration is to be chosen.
func (s *Settings) leavesOpen(d *param.Spec) bool {
	return !s.Fixed && slices.ContainsFunc(d.Params,
		func(p param.Param) bool { return !s.Given.Has(p.Name) })
}

// choosesWeights reports whether held-out labels choose the weights for a method.
func (m *Engine) choosesWeights(p *Problem, s *Settings) bool {
	return m.ChoosesWeights != nil && p.Weighted && !p.Signed && s.Weights == "" &&
		m.ChoosesWeights(s) && len(p.Row) >= leastLabels && !choose.TooFew(p.Class)
}

// EdgeWeights are the weights of edges that a method has learned from. Weights is one of
// [Weightings].
type EdgeWeights = problem.EdgeWeights

// Weigh returns the problem with the weights of edges that a method learns from, which are
// [problem.Problem.Learned]. [Engine.Predict] and [Engine.Tune] begin with it.
//
// Open factors of kinds and times are chosen by the labels, see package sides. Then come functions of the weights: that of
// Settings.Weights or, if it is empty, for auto, lp and beliefs those of w, 1 and log(1 + w) that predict held-out
// labels best, and w for other methods.
//
// Both have the evidence and the rule of package sides. Cost: [sides.Evidence.QualityOf] for each of the weights.
func (m *Engine) Weigh(ctx context.Context, p *Problem,
	s *Settings) (*Problem, error) {
	if p.Learned != nil {
		return p, nil
	}
	set := m.weighingSettings(s)
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
	if m.choosesWeights(q, &set) {
		return chooseWeights(ctx, q, p.Edges, &set)
	}
	for _, w := range weightings {
		if w.name != set.Weights {
			continue
		}
		if q.Signed && w.value != nil {
			return nil, param.Refuse("edge-weights", "edge-weights",
				"%s has no meaning for negative weights; leave it out", w.name)
		}
		return w.problem(ctx, q, p.Edges, &set)
	}
	return q, nil
}

// weighingSettings returns the settings of a method, with those of a kept model.
func (m *Engine) weighingSettings(s *Settings) Settings {
	set := s.WithDefaults()
	if m.model != nil {
		return *m.model.settings(&set)
	}
	return set
}

// Reweighs reports whether [Engine.Weigh] gives a method other factors of kinds and times than those in the graph.
func (m *Engine) Reweighs(p *Problem, s *Settings) bool {
	set := m.weighingSettings(s)
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
	return s.model != nil || !choose.TooFew(p.Class)
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
	fold := choose.Folds(class, sides.Folds, s.RNGSeed, 0)
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
func (w weighting) problem(ctx context.Context, p *Problem, e *sides.Edges,
	s *Settings) (*Problem, error) {
	if w.value == nil {
		return p, nil
	}
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
	settings := make([]*Problem, len(weightings))
	best, err := evidence.Best(len(weightings),
		func(i int) (_ sides.Quality, err error) {
			if settings[i], err = weightings[i].problem(ctx, p, e, s); err != nil {
				return nil, err
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
	s = cmp.Or(s, new(Settings))
	chooses := choosesFactors(p, s)
	if chooses || countsOnes(p, s) {
		held = problem.FactorBytes(p.Graph, p.Edges, s.Memory, s.Workers)
	}
	if chooses {
		choice = p.Edges.Bytes(edgeLabels(p, s), s.Memory)
	}
	return held, held + choice
}

// weighBytes returns the memory of [Engine.Weigh] that a prediction keeps, and that of the choice.
func (m *Engine) weighBytes(p *Problem, s *Settings) (held, choice int64) {
	if m.model != nil { // which counts it
		return 0, 0
	}
	held, choice = FactorBytes(p, s)
	if held > 0 && (s.Weights == onesWeights || !p.Edges.Weighted && s.Weights == "") {
		return held, choice
	}
	chooses := m.choosesWeights(p, s)
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
