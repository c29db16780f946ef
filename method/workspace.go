package method

import (
	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/method/problem"
)

// Declare returns the workspace of [Engine.Predict] and of what follows a prediction, which is held then: the choice of the
// weights of edges, the field Workspace, and after, one after the other. The error is that of the field.
func (m *Engine) Declare(p *Problem, s *Settings, after budget.Workspace) (w budget.Workspace, err error) {
	set := s.WithDefaults()
	if choosesFactors(p, &set) { // which are values of entries
		weighted := *p
		weighted.Weighted = true
		p = &weighted
	}
	_, choice := m.weightSpace(p, &set)
	if m.Workspace != nil {
		w, err = m.Workspace(p, m.within(p, &set))
	}
	return budget.Held(m.held(p, &set)).And(w.Or(choice).Or(after)), err
}

// DeclareTuning returns the workspace of [Engine.Tune] on splits of tuned, whose training sets are like p.
func (m *Engine) DeclareTuning(p, tuned *Problem, s *Settings) (budget.Workspace, error) {
	set := s.WithDefaults()
	set.tested = len(tuned.Row)
	return m.Declare(p, &set, budget.Workspace{})
}

// Disk returns the bytes of temporary files of [Engine.Predict].
func (m *Engine) Disk(p *Problem, s *Settings) int64 {
	if m.disk == nil {
		return 0
	}
	return m.disk(p, m.within(p, s))
}

// held is the memory that Predict holds while m computes: the weights of edges, the components, and the scores and classes of
// all nodes.
func (m *Engine) held(p *Problem, s *Settings) int64 {
	n := p.Rows()
	k := len(p.Names)
	weights, _ := m.weightSpace(p, s)
	scores := budget.Block[float32](n, k)
	switch {
	case m.keepsHighest(p, s):
		scores = problem.HighestBytes(n)
	case s.Raw || s.Explain:
		scores += budget.Block[float64](n, k)
	}
	return budget.AllOf(weights, p.ComponentBytes(), 8*int64(n), scores)
}

// within returns the settings of m, with the memory that [Engine.held] leaves, and with Top only if the prediction keeps the
// highest scores of a node.
func (m *Engine) within(p *Problem, s *Settings) *Settings {
	set := s.WithDefaults()
	if !m.keepsHighest(p, &set) {
		set.Top = 0
	}
	set.Memory = budget.Subtract(set.Memory, m.held(p, &set))
	return &set
}

// keepsHighest reports whether a prediction keeps the highest scores of a node only: those of all classes would take
// more than a quarter of the memory.
func (m *Engine) keepsHighest(p *Problem, s *Settings) bool {
	bytes := 4 * int64(p.Rows()) * int64(len(p.Names))
	return s.Top > 0 && s.Memory > 0 && !s.Raw && !s.Explain && p.Shares == nil && !p.Signed &&
		p.Team() == nil && m.highest != nil && m.highest(p, s) &&
		bytes > p.SubtractComponents(s.Memory)/4 && bytes > problem.HighestBytes(p.Rows())
}
