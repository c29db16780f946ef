package method

import (
	"cmp"
	"errors"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/method/problem"
)

// Cost is the estimated cost of a prediction.
type Cost struct {
	Bytes  int64 // of memory, the components of the graph included
	Scores int64 // of these, the scores and classes of all nodes
	Disk   int64 // of temporary files
}

// Bytes is the memory of [Engine.EstimateCost].
func (m *Engine) Bytes(p, tuned *Problem, s *Settings) (int64, error) {
	c, err := m.EstimateCost(p, tuned, s)
	return c.Bytes, err
}

// EstimateCost estimates the cost of a prediction by m, see [Engine].Cost.
// The error is an error of memory, see [sparse.ErrMemory], if the estimate
// exceeds Settings.Memory; the estimate then is a limit that is enough.
func (m *Engine) EstimateCost(p, tuned *Problem, s *Settings) (Cost, error) {
	set := s.WithDefaults()
	c, err := m.costWithin(p, tuned, &set)
	if err != nil || set.Memory == 0 || c.Bytes <= set.Memory {
		return c, err
	}
	enough := set
	for c.Bytes > enough.Memory { // because wider blocks are used within a larger limit
		enough.Memory = c.Bytes + c.Bytes/64
		if c, err = m.costWithin(p, tuned, &enough); err != nil {
			return Cost{}, err
		}
	}
	c.Bytes = enough.Memory
	return c, budget.Check(set.Memory, enough.Memory, "prediction by "+m.Name)
}

// costWithin estimates the cost of a prediction within the limit of the settings, which the memory
// may exceed.
func (m *Engine) costWithin(p, tuned *Problem, s *Settings) (c Cost, err error) {
	if choosesFactors(p, s) { // which are values of entries
		weighted := *p
		weighted.Weighted = true
		p = &weighted
	}
	c, err = m.fitCost(p, tuned, s)
	if over := new(budget.Error); errors.As(err, &over) {
		c.Bytes = max(c.Bytes, s.Memory+over.Need-over.Limit)
	} else if err != nil {
		return Cost{}, err
	}
	mapped, choice := m.weighBytes(p, s)
	c.Bytes = max(max(c.Bytes, c.Scores)+mapped, choice) + p.ComponentBytes()
	return c, nil
}

// fitCost returns the cost of the scores and of Predict itself, with the error of the method.
func (m *Engine) fitCost(p, tuned *Problem, s *Settings) (c Cost, err error) {
	if m.Cost != nil {
		c, err = m.Cost(p, tuned, s)
	}
	c.Scores = cmp.Or(c.Scores, scoreBytes(p))
	return c, err
}

// keepsHighest reports whether a prediction keeps the highest scores of a node only: those of all classes would take
// more than a quarter of the memory.
func keepsHighest(p *Problem, s *Settings) bool {
	bytes := 4 * int64(p.Rows()) * int64(len(p.Names))
	return s.Top > 0 && s.Memory > 0 && !s.Raw && p.Shares == nil && !p.Signed &&
		p.Team() == nil &&
		bytes > p.SubtractComponents(s.Memory)/4 && bytes > problem.HighestBytes(p.Rows())
}

// outputBytes is the memory of the classes and the scores of all nodes, of all classes or the highest ones.
func outputBytes(p *Problem, isHighest bool) int64 {
	if isHighest {
		return highestBytes(p)
	}
	return scoreBytes(p)
}

// scoreBytes is the memory of the scores of all classes and the classes of all nodes.
func scoreBytes(p *Problem) int64 {
	n := p.Rows()
	return budget.Block[float32](n, len(p.Names)) + 8*int64(n)
}

// highestBytes is the memory of the highest scores and the classes of all nodes.
func highestBytes(p *Problem) int64 {
	return problem.HighestBytes(p.Rows()) + 8*int64(p.Rows())
}
