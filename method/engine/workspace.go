package engine

import (
	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
)

// Declare returns the workspace of [Engine.Predict] and of later work, which needs the workspace after in addition to the
// prediction. The choice of edge weights, the prediction and the later work follow each other, so that only the largest
// workspace counts. The error is an error of the function m.Workspace.
func (m *Engine) Declare(p *Problem, s *Settings, after budget.Workspace) (w budget.Workspace, err error) {
	within, held := m.within(p, s)
	if m.Workspace != nil {
		w, err = m.Workspace(p, within)
	}
	set := m.weighingSettings(s)
	if m.choosesWeights(p, &set) {
		after = after.Or(evidenceOf(p, &set).Workspace(p.Rows()))
	}
	if choosesFactors(p, &set) {
		after = after.Or(p.Edges.Workspace(edgeLabels(p, &set)))
	}
	return w.Or(after).AndHeld(held), err
}

// DeclareTuning returns the workspace of [Engine.Tune] on splits of tuned, whose training sets resemble p.
func (m *Engine) DeclareTuning(p, tuned *Problem, s *Settings) (budget.Workspace, error) {
	set := s.WithDefaults()
	set.Tested = len(tuned.Row)
	return m.Declare(p, &set, budget.Workspace{})
}

// Disk returns the bytes of temporary files of [Engine.Predict].
func (m *Engine) Disk(p *Problem, s *Settings) int64 {
	if m.Temporary == nil {
		return 0
	}
	within, _ := m.within(p, s)
	return m.Temporary(p, within)
}

// within returns as held the memory of edge weights, components, scores and classes, and as within the settings s with
// held subtracted from Memory. If the scores of all classes take at most a quarter of the memory, Top becomes 0.
func (m *Engine) within(p *Problem, s *Settings) (within *Settings, held int64) {
	set := m.weighingSettings(s)
	n := int64(p.Rows())
	scores := budget.Block[float32](int(n), len(p.Names))
	highest := problem.HighestBytes(int(n))
	switch {
	case set.Columns && m.Extension != nil:
		scores += budget.Block[float64](int(n), len(p.Names)) + budget.Block[float32](int(n), m.Extension.Count(p, &set))
		set.Top = 0
	case set.Raw || set.Explain:
		scores += budget.Block[float64](int(n), len(p.Names))
		set.Top = 0
	case set.Memory == 0 || m.Highest == nil || p.Shares != nil || p.Signed || p.Team() != nil || !m.Highest(p, &set) ||
		scores <= max(set.Memory/4, highest):
		set.Top = 0
	case set.Top > 0:
		scores = highest
	}
	weights := int64(0)
	factors := p.Edges != nil && (choosesFactors(p, &set) || set.weighting().isBelowFactors(p, &set))
	if factors || p.Edges != nil && m.choosesWeights(p, &set) {
		weights = problem.FactorBytes(p.Graph, p.Edges, set.Memory, set.Workers)
	} else if p.Weighted && (set.weighting().value != nil || m.choosesWeights(p, &set)) {
		weights = 8*n + 2*sparse.MapValuesBytes(p.A)
	}
	held = budget.AllOf(weights, scores, (13+8)*n)
	out := s.WithDefaults()
	out.Top = set.Top
	out.Memory = budget.Subtract(out.Memory, held)
	return &out, held
}
