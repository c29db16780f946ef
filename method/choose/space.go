package choose

import (
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/param"
)

// Axis is one parameter of the candidates of a [Space].
type Axis struct {
	Values  int
	Ordered bool // the accuracies of neighbouring values support each other
	Falling bool // later values, not earlier values, are simpler and preferred in ties
	Last    bool // the parameter breaks ties only after all other parameters
}

// Space is a grid of candidates. Candidate numbers count the values of the last axis fastest.
type Space struct {
	Axes  []Axis
	Usual int // candidate nearest to the defaults
}

// SpaceOf returns the space whose candidates are settings, which must be all combinations of values in the order of
// [Combinations]. Axes of words are not ordered. Space.Usual is the candidate nearest to the values usual in the first
// parameter, then in the second, and so on.
func SpaceOf(spec *param.Spec, settings []param.Values, usual param.Values) *Space {
	s := &Space{Usual: nearest(spec, settings, usual)}
	for i := range spec.Params {
		p := &spec.Params[i]
		var seen []param.Value
		for _, v := range settings {
			if x, ok := v[p.Name]; ok && (len(seen) == 0 || seen[len(seen)-1] != x) {
				if slices.Contains(seen, x) {
					break // the values repeat from here on
				}
				seen = append(seen, x)
			}
		}
		if len(seen) > 0 {
			s.Axes = append(s.Axes,
				Axis{Values: len(seen), Ordered: p.Kind == param.Real ||
					p.Kind == param.Whole})
		}
	}
	if s.Len() != len(settings) { // values of a parameter depend on another
		s.Axes = []Axis{{Values: len(settings)}}
	}
	return s
}

func nearest(spec *param.Spec, settings []param.Values, values param.Values) int {
	list := sched.UpTo(len(settings))
	for i := range spec.Params {
		p := &spec.Params[i]
		distance := func(i int) float64 {
			x, has := settings[i][p.Name]
			y, isWanted := values[p.Name]
			switch {
			case !isWanted || has && x == y:
				return 0
			case has && (p.Kind == param.Real || p.Kind == param.Whole):
				return math.Abs(settings[i].Number(p.Name) - values.Number(p.Name))
			}
			return math.Inf(1)
		}
		lowest := math.Inf(1)
		for _, i := range list {
			lowest = min(lowest, distance(i))
		}
		list = slices.DeleteFunc(list,
			func(i int) bool { return distance(i) > lowest })
	}
	return list[0]
}

// Len returns the number of candidates.
func (s *Space) Len() int {
	n := 1
	for _, a := range s.Axes {
		n *= a.Values
	}
	return n
}

func (s *Space) position(i int) []int {
	place := make([]int, len(s.Axes))
	for a := len(s.Axes) - 1; a >= 0; a-- {
		place[a] = i % s.Axes[a].Values
		i /= s.Axes[a].Values
	}
	return place
}

// Candidates within slack standard errors of the highest accuracy are equally good.
const slack = 1.0

// Best returns the candidate to use, by the rule of the package comment. A merit is the number of right predictions among
// the tested, less a loss, or −∞ for an impossible candidate.
func (s *Space) Best(merit []float64, tested int) int {
	share := min(1, max(0, slices.Max(merit)/float64(max(1, tested))))
	return s.BestWithin(merit, math.Sqrt(float64(tested)*share*(1-share)))
}

// BestWithin returns the candidate to use, as [Space.Best] does, if stderr is the standard error of the highest merit.
func (s *Space) BestWithin(merit []float64, stderr float64) int {
	highest := slices.Max(merit)
	if slices.Min(merit) == highest {
		return s.Usual
	}
	threshold := highest - slack*stderr
	best := -1
	bestSum := 0.0
	for i, m := range merit {
		if m < threshold {
			continue
		}
		if sum := s.around(merit, i); best < 0 || s.better(merit, i, sum, best, bestSum) {
			best = i
			bestSum = sum
		}
	}
	return best
}

// better reports whether candidate i is better than candidate j. sum and rivalSum are the sums of merits around i and j, see
// [Space.around].
func (s *Space) better(merit []float64, i int, sum float64, j int,
	rivalSum float64) bool {
	if sum != rivalSum {
		return sum > rivalSum
	}
	if merit[i] != merit[j] {
		return merit[i] > merit[j]
	}
	a, b := s.position(i), s.position(j)
	for _, isLast := range []bool{false, true} {
		for i, axis := range s.Axes {
			if axis.Last == isLast && a[i] != b[i] {
				return (a[i] < b[i]) != axis.Falling
			}
		}
	}
	return false
}

// around returns the sum of the merits of the candidates at most one step from i on every ordered axis. Beyond the edge of
// the grid it counts candidates at the edge again. The merit of an impossible candidate counts as 0.
func (s *Space) around(merit []float64, i int) float64 {
	place := s.position(i)
	var sum func(axis, number int) float64
	sum = func(axis, number int) float64 {
		if axis == len(s.Axes) {
			return max(0, merit[number])
		}
		a := s.Axes[axis]
		if !a.Ordered || a.Values == 1 {
			return sum(axis+1, number*a.Values+place[axis])
		}
		total := 0.0
		for x := place[axis] - 1; x <= place[axis]+1; x++ {
			total += sum(axis+1, number*a.Values+max(0, min(x, a.Values-1)))
		}
		return total
	}
	return sum(0, 0)
}
