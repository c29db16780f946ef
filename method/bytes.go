package method

import (
	"errors"
	"strings"

	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/propagate"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// Sizer is implemented by methods that allocate more than the scores of all nodes.
type Sizer interface {
	// Bytes returns an upper bound of the memory of Predict in bytes, within a factor of
	// two, without the problem and with the prediction. If tuned is not nil it includes Tune
	// on splits of tuned whose training sets are like p. It assumes the largest setting that
	// may be chosen, and that blocks are cut as Settings.Memory requires. It reads only the
	// dimensions of the matrix. The error is that of settings which the method refuses.
	Bytes(p, tuned *Problem, s *Settings) (int64, error)
}

// Cost is the estimated cost of a prediction.
type Cost struct {
	Bytes  int64 // of memory, the components of the graph included
	Scores int64 // of these, the scores and classes of all nodes
	Disk   int64 // of temporary files
}

// planner is implemented by methods that may store blocks in temporary files.
type planner interface {
	plan(p *Problem, s *Settings) (Cost, error)
}

// Bytes is the memory of [EstimateCost].
func Bytes(m Method, p, tuned *Problem, s *Settings) (int64, error) {
	c, err := EstimateCost(m, p, tuned, s)
	return c.Bytes, err
}

// EstimateCost estimates the cost of a prediction by m, see [Sizer] for the memory.
// The error is an error of memory, see [sparse.ErrMemory], if the estimate
// exceeds Settings.Memory; the estimate then is a limit that is enough.
func EstimateCost(m Method, p, tuned *Problem, s *Settings) (Cost, error) {
	set := s.WithDefaults()
	c, err := costWithin(m, p, tuned, &set)
	if err != nil || set.Memory == 0 || c.Bytes <= set.Memory {
		return c, err
	}
	enough := set
	for c.Bytes > enough.Memory { // because wider blocks are used within a larger limit
		enough.Memory = c.Bytes + c.Bytes/64
		if c, err = costWithin(m, p, tuned, &enough); err != nil {
			return Cost{}, err
		}
	}
	c.Bytes = enough.Memory
	over := &budget.Error{Need: enough.Memory, Limit: set.Memory,
		Largest: budget.Item{What: "prediction by " + m.Name(),
			Bytes: enough.Memory}}
	if p.Attributes == nil {
		over.Instead = smallerMethods(m, p, &set)
	}
	return c, over
}

// smallerMethods returns the names of other methods that fit the memory limit, among those that many nodes and classes allow.
func smallerMethods(m Method, p *Problem, s *Settings) string {
	var names []string
	for _, candidate := range []engine{automatic{}, blockBeliefs{}, labelPropagation{},
		graphMethod{spreading{propagate.Learners().Named("lgc")}}} {
		spec := candidate.Declarations()[0]
		if candidate.Name() == m.Name() ||
			p.Directed && spec.Works&param.Directed == 0 ||
			param.CheckSigned(spec, p.Signed) != nil {
			continue
		}
		if c, err := costWithin(weighing{candidate}, p, nil, s); err == nil && c.Bytes <= s.Memory {
			names = append(names, candidate.Name())
		}
	}
	return strings.Join(names, " or ")
}

// costWithin estimates the cost of a prediction within the limit of the settings, which the memory
// may exceed.
func costWithin(m Method, p, tuned *Problem, s *Settings) (c Cost, err error) {
	if choosesFactors(p, s) { // which are values of entries
		weighted := *p
		weighted.Weighted = true
		p = &weighted
	}
	c, err = ownCost(engineOf(m), p, tuned, s)
	if over := new(budget.Error); errors.As(err, &over) {
		c.Bytes = max(c.Bytes, s.Memory+over.Need-over.Limit)
	} else if err != nil {
		return Cost{}, err
	}
	mapped, choice := weighBytes(m, p, s)
	c.Bytes = max(max(c.Bytes, c.Scores)+mapped, choice) + p.ComponentBytes()
	return c, nil
}

// ownCost returns the cost of the scores and of Predict itself, with the error of the method.
func ownCost(m engine, p, tuned *Problem, s *Settings) (c Cost, err error) {
	if m, ok := m.(planner); ok {
		return m.plan(p, s)
	}
	c = Cost{Scores: scoreBytes(p)}
	if m, ok := m.(interface {
		highest(p *Problem, s *Settings) bool
	}); ok && m.highest(p, s) {
		c.Scores = highestBytes(p)
	}
	if m, ok := m.(Sizer); ok {
		c.Bytes, err = m.Bytes(p, tuned, s)
	}
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

// scoreBytes is the memory of the scores of all classes and the classes of all nodes.
func scoreBytes(p *Problem) int64 {
	n := p.Rows()
	return blocks.BlockBytes[float32](n, len(p.Names)) + 8*int64(n)
}

// highestBytes is the memory of the highest scores and the classes of all nodes.
func highestBytes(p *Problem) int64 {
	return problem.HighestBytes(p.Rows()) + 8*int64(p.Rows())
}
