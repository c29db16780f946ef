package classify

import (
	"errors"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// Rest is the second class of a one-vs-rest [Pair]: all other classes.
const Rest = -1

// Pair names the two classes of a binary classifier. A decision > 0 means Positive, others mean
// Negative, which may be [Rest].
type Pair struct{ Positive, Negative int }

// Pairs lists the classifiers of a model in order: all of one class against
// another, or all of one class against [Rest].
type Pairs []Pair

// byVotes reports whether the classifiers are one-vs-one.
func (p Pairs) byVotes() bool { return len(p) > 0 && p[0].Negative != Rest }

// classes returns one more than the highest class of any classifier.
func (p Pairs) classes() int {
	top := -1
	for _, pair := range p {
		top = max(top, pair.Positive, pair.Negative)
	}
	return top + 1
}

// Predict returns the class that the decisions speak for: the one with most
// votes or, for classifiers against [Rest], with the largest decision. Ties go to
// the lowest class.
func (p Pairs) Predict(decisions []float64) int {
	if len(decisions) != len(p) {
		panic(badLength)
	}
	if !p.byVotes() {
		best := 0
		for m, d := range decisions {
			if d > decisions[best] {
				best = m
			}
		}
		return p[best].Positive
	}
	var buffer [32]int
	votes := buffer[:]
	if k := p.classes(); k > len(buffer) {
		votes = make([]int, k)
	}
	for m, pair := range p {
		if decisions[m] > 0 {
			votes[pair.Positive]++
		} else {
			votes[pair.Negative]++
		}
	}
	return slices.Index(votes, slices.Max(votes))
}

// ErrOneClass is returned if fewer than two classes have a training item.
var ErrOneClass = errors.New("fewer than two classes have an item to learn from")

// ErrIterationLimit is returned, with the best model so far, if a solver reaches its
// iteration limit before its tolerance.
var ErrIterationLimit = errors.New("iteration limit reached before the tolerance")

// ErrNotFinite is returned if kernel values or features are not finite numbers, or
// so large that their products are not.
var ErrNotFinite = errors.New("kernel values or features are not finite")

// groups holds the used items by class.
type groups struct {
	y       []int
	items   []int // by class, in increasing order within one
	start   []int // class c has items[start[c]:start[c+1]]
	present []int // the classes that have an item
}

func newGroups(y []int, classes int) *groups {
	g := new(groups)
	g.set(y, classes)
	return g
}

// newGroupsOfTwo groups the used items by class. It returns [ErrOneClass] if only one class has any.
func newGroupsOfTwo(items int, y []int, classes int) (*groups, error) {
	g := new(groups)
	return g, g.setTwo(items, y, classes)
}

// setTwo is newGroupsOfTwo in the memory of g.
func (g *groups) setTwo(items int, y []int, classes int) error {
	if len(y) != items {
		panic(badLength)
	}
	if g.set(y, classes); len(g.present) < 2 {
		return ErrOneClass
	}
	return nil
}

// set is newGroups in the memory of g.
func (g *groups) set(y []int, classes int) {
	g.y = y
	g.start = resize(g.start, classes+1)
	clear(g.start)
	for _, c := range y {
		if c < -1 || c >= classes {
			panic(badClass)
		}
		if c >= 0 {
			g.start[c+1]++
		}
	}
	g.present = g.present[:0]
	for c := range classes {
		if g.start[c+1] > 0 {
			g.present = append(g.present, c)
		}
		g.start[c+1] += g.start[c]
	}
	g.items = resize(g.items, g.start[classes])
	for i, c := range y {
		if c >= 0 {
			g.items[g.start[c]] = i
			g.start[c]++
		}
	}
	copy(g.start[1:], g.start[:classes])
	g.start[0] = 0
}

func (g *groups) class(c int) []int { return g.items[g.start[c]:g.start[c+1]] }
func (g *groups) count(c int) int   { return g.start[c+1] - g.start[c] }

// pairs appends the classifiers for the classes that have items.
func (g *groups) pairs(dst Pairs, oneVsRest bool) Pairs {
	if oneVsRest && len(g.present) > 2 {
		for _, c := range g.present {
			dst = append(dst, Pair{c, Rest})
		}
		return dst
	}
	for a, i := range g.present {
		for _, j := range g.present[a+1:] {
			dst = append(dst, Pair{i, j})
		}
	}
	return dst
}

// membersTo appends the items of a classifier, those of its positive class first,
// and returns how many these are.
func (g *groups) membersTo(dst []int, p Pair) (items []int, positive int) {
	dst = append(dst, g.class(p.Positive)...)
	positive = len(dst)
	if p.Negative != Rest {
		return append(dst, g.class(p.Negative)...), positive
	}
	dst = append(dst, g.items[:g.start[p.Positive]]...)
	return append(dst, g.items[g.start[p.Positive+1]:]...), positive
}

// largestFirst returns the classifiers by how many items they have: where workers share them,
// the last to begin should be short.
func (g *groups) largestFirst(pairs Pairs) (order []int) {
	items := func(m int) int {
		if pairs[m].Negative == Rest {
			return len(g.items)
		}
		return g.count(pairs[m].Positive) + g.count(pairs[m].Negative)
	}
	order = sched.UpTo(len(pairs))
	slices.SortStableFunc(order, func(a, b int) int { return items(b) - items(a) })
	return order
}

// factorsTo stores in dst the class weight of each item; nil weights are 1.
func (g *groups) factorsTo(dst []float64, items []int, weights []float64) []float64 {
	dst = resize(dst, len(items))
	for k, item := range items {
		dst[k] = 1
		if weights != nil {
			dst[k] = weights[g.y[item]]
		}
	}
	return dst
}

// resize returns s with length n, reallocated if it is too small. Its content
// is undefined.
func resize[E any](s []E, n int) []E {
	if cap(s) < n {
		return make([]E, n, n+n/4)
	}
	return s[:n]
}

// positive reports whether v is a positive finite number.
func positive(v float64) bool { return v > 0 && !math.IsInf(v, 1) }
