package method

import (
	"errors"
	"strings"

	"github.com/heatwalk/heatwalk/internal/blocks"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/propagate"
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

// Coster is implemented by methods that may store blocks in temporary files.
type Coster interface {
	// Cost returns the size of temporary files of Predict in bytes, and the number of its sweeps over the graph, −1 if
	// it depends on the data.
	Cost(p *Problem, s *Settings) (disk int64, sweeps int)
}

// Bytes estimates the memory of a prediction by m, see [Sizer]. The components of the graph
// are part of it. The error is an error of memory, see [sparse.ErrMemory], if the estimate
// exceeds Settings.Memory; the estimate then is a limit that is enough.
func Bytes(m Method, p, tuned *Problem, s *Settings) (int64, error) {
	set := s.WithDefaults()
	bytes, err := bytesWithin(m, p, tuned, &set)
	if err != nil || set.Memory == 0 || bytes <= set.Memory {
		return bytes, err
	}
	enough := set
	for bytes > enough.Memory { // because wider blocks are used within a larger limit
		enough.Memory = bytes + bytes/64
		if bytes, err = bytesWithin(m, p, tuned, &enough); err != nil {
			return 0, err
		}
	}
	over := &budget.Error{Need: enough.Memory, Limit: set.Memory,
		Largest: budget.Item{What: "prediction by " + m.Name(),
			Bytes: enough.Memory}}
	if p.Attributes == nil {
		over.Instead = smallerMethods(m, p, &set)
	}
	return enough.Memory, over
}

// smallerMethods returns the names of other methods that fit the memory limit, among those that many nodes and classes allow.
func smallerMethods(m Method, p *Problem, s *Settings) string {
	var names []string
	for _, other := range []Method{automatic{}, blockBeliefs{}, labelPropagation{},
		graphMethod{spreading{propagate.Learners().Named("lgc")}}} {
		spec := other.Declarations()[0]
		if other.Name() == m.Name() ||
			p.Directed && spec.Works&param.Directed == 0 ||
			param.CheckSigned(spec, p.Signed) != nil {
			continue
		}
		if bytes, err := bytesWithin(other, p, nil, s); err == nil && bytes <= s.Memory {
			names = append(names, other.Name())
		}
	}
	return strings.Join(names, " or ")
}

// bytesWithin estimates the memory of a prediction within the limit of the settings, which the estimate
// may exceed.
func bytesWithin(m Method, p, tuned *Problem, s *Settings) (int64, error) {
	if choosesFactors(p, s) { // which are values of entries
		weighted := *p
		weighted.Weighted = true
		p = &weighted
	}
	bytes := ScoreBytes(m, p, s)
	if sizer, ok := m.(Sizer); ok {
		needed, err := sizer.Bytes(p, tuned, s)
		if over := new(budget.Error); errors.As(err, &over) {
			needed = max(needed, s.Memory+over.Need-over.Limit)
		} else if err != nil {
			return 0, err
		}
		bytes = max(bytes, needed)
	}
	mapped, choice := weighBytes(m, p, s)
	return max(bytes+mapped, choice) + p.ComponentBytes(), nil
}

// keepsHighest reports whether a prediction keeps the highest scores of a node only: those of all classes would take
// more than a quarter of the memory.
func keepsHighest(p *Problem, s *Settings) bool {
	bytes := 4 * int64(p.Rows()) * int64(len(p.Names))
	return s.Top > 0 && s.Memory > 0 && !s.Raw && p.Shares == nil && !p.Signed &&
		problem.TeamOf(p) == nil &&
		bytes > p.SubtractComponents(s.Memory)/4 && bytes > problem.HighestBytes(p.Rows())
}

// ScoreBytes returns the memory of the scores and classes of all nodes in a prediction by m.
func ScoreBytes(m Method, p *Problem, s *Settings) int64 {
	if highest, ok := m.(interface {
		keepsHighest(p *Problem, s *Settings) bool
	}); ok && highest.keepsHighest(p, s) {
		return problem.HighestBytes(p.Rows()) + 8*int64(p.Rows())
	}
	return scoreBytes(p)
}

// scoreBytes is the memory of the scores of all classes and the classes of all nodes.
func scoreBytes(p *Problem) int64 {
	n := p.Rows()
	return blocks.BlockBytes[float32](n, len(p.Names)) + 8*int64(n)
}
