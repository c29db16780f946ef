package choose

import (
	"cmp"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method/problem"
)

// Folds divides the labels of a problem into parts that are held out one after another. Labels of one node or of one group
// are in one fold, see [problem.Problem.Group].
//
// If the problem has times, the folds are intervals of time, of which fold 0 is the newest.
type Folds struct {
	Of    []int // fold of each label
	Count int

	// Measured is the number of folds, the first ones, whose held-out labels are predicted.
	Measured int

	isForward bool // folds are intervals of time
}

// AsIntervals returns p with intervals of its times as groups, by which settings are chosen. If all labels have one time, there
// are no groups.
func AsIntervals(p *problem.Problem) *problem.Problem {
	q := *p
	q.Time = nil
	if intervals := DrawFolds(p, choiceFolds, 0, 0); intervals.Count > 1 {
		q.Group = intervals.Of
	}
	return &q
}

// DrawFolds divides the labels of p into count folds, or fewer if there are fewer labels or groups. Folds differ by at most one
// label in size, and by at most one label of each class. Folds of groups differ by as little as a greedy division reaches.
// Each number gives another draw from the same seed. Renumbering the classes changes nothing.
func DrawFolds(p *problem.Problem, count int, seed, number uint64) *Folds {
	class := p.Class
	if class == nil {
		class = make([]int, len(p.Row))
	}
	rng := newRand(seed, streamFolds|number)
	f := &Folds{Of: make([]int, len(p.Row)), isForward: p.Time != nil}
	unit, members := unitsOf(p)
	count = max(1, min(count, len(members)))
	first := make([]int, len(members)) // class of the first label of each unit
	for u, labels := range members {
		first[u] = class[labels[0]]
	}
	fold := make([]int, len(members)) // fold of each unit
	switch {
	case p.Time != nil:
		fold, count = intervals(p, members, count)
	case p.Group != nil:
		divideGroups(fold, members, class, count, func(order []int) { shuffle(rng, order) })
	default:
		dealTo(fold, groupByClass(first), count, rng)
	}
	for i, u := range unit {
		f.Of[i] = fold[u]
	}
	f.Count = count
	f.Measured = count
	return f
}

// Groups returns the labels of each group of p, or of each node without groups.
func Groups(p *problem.Problem) [][]int {
	_, members := unitsOf(p)
	return members
}

// unitsOf returns the unit of each label and the labels of each unit. A unit is never divided: it has the labels of a group,
// or of a node.
func unitsOf(p *problem.Problem) (unit []int, members [][]int) {
	key := p.Group
	if key == nil {
		key = p.Row
	}
	number := make(map[int]int, len(key))
	for i, k := range key {
		u, isNumbered := number[k]
		if !isNumbered {
			u = len(members)
			number[k] = u
			members = append(members, nil)
		}
		unit = append(unit, u)
		members[u] = append(members[u], i)
	}
	return unit, members
}

// divideGroups stores the fold of each group. It begins with the largest group, and adds each group to the fold where the
// sum over folds and classes of n²/N increases least, with n labels of the class in the fold and N labels of the class.
func divideGroups(fold []int, members [][]int, class []int, count int, shuffle func([]int)) {
	total := countsOf(class)
	counts := make([][]float64, count) // labels of each class by fold
	sizes := make([]int, count)
	for f := range counts {
		counts[f] = make([]float64, len(total))
	}
	order := sched.UpTo(len(members))
	shuffle(order)
	slices.SortStableFunc(order, func(a, b int) int { return len(members[b]) - len(members[a]) })
	increase := func(f int, labels []int) (sum float64) {
		for _, i := range labels {
			c := class[i]
			sum += (2*counts[f][c] + 1) / float64(total[c])
			counts[f][c]++
		}
		for _, i := range labels {
			counts[f][class[i]]--
		}
		return sum
	}
	for _, u := range order {
		best := 0
		least := increase(0, members[u])
		for f := 1; f < count; f++ {
			if x := increase(f, members[u]); x < least || x == least && sizes[f] < sizes[best] {
				best = f
				least = x
			}
		}
		fold[u] = best
		sizes[best] += len(members[u])
		for _, i := range members[u] {
			counts[best][class[i]]++
		}
	}
}

// intervals returns the interval of time of each unit, the newest first, and the number of intervals. Intervals have about
// equal numbers of labels. Units of equal time are in one interval.
func intervals(p *problem.Problem, members [][]int, count int) (fold []int, folds int) {
	time := func(u int) float64 { return p.Time[members[u][0]] }
	order := sched.UpTo(len(members))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(time(b), time(a)) })
	fold = make([]int, len(members))
	newer := 0 // labels of newer units
	last := -1
	for i, u := range order {
		if i > 0 && time(order[i-1]) == time(u) {
			fold[u] = folds - 1
		} else {
			if interval := newer * count / len(p.Row); interval > last {
				last = interval
				folds++
			}
			fold[u] = folds - 1
		}
		newer += len(members[u])
	}
	return fold, folds
}

// Split returns the labels of a fold as test set, and the other labels as training set. If folds are intervals of time, only
// older labels are training labels.
func (f *Folds) Split(number int) Split { return splitFolds(f.Of, number, f.isForward) }

func splitFolds(folds []int, number int, isForward bool) (s Split) {
	for i, fold := range folds {
		switch {
		case fold == number:
			s.Test = append(s.Test, i)
		case !isForward || fold > number || fold < 0:
			s.Train = append(s.Train, i)
		}
	}
	return s
}

// LeastGroups is the smallest number of groups of labels that can be held out one after another. With fewer groups the error
// of an accuracy is not known.
const LeastGroups = 5

// CheckGroups returns a [*UsageError] if the labels of p have too few groups, or times that do not divide them.
func CheckGroups(p *problem.Problem) error {
	switch {
	case p.Group != nil && p.Time != nil:
		return Usage("labels have groups and times; give one of them")
	case p.Group != nil:
		if _, members := unitsOf(p); len(members) < LeastGroups {
			return Usage("the labels have %d groups, and %d are needed to hold out one after another; label nodes of more groups", len(members), LeastGroups)
		}
	case p.Time != nil:
		newest := ToFit(p, 0)
		if newest.Count < 2 {
			return Usage("the labels have one time, and two are needed; label nodes of another time")
		}
		if train := newest.Split(0).Train; p.Class != nil && !severalClasses(p.Class, train) {
			return Usage("the %d older labels, which are learned from to predict the newer, have a single class, and two are needed; label more of the older nodes", len(train))
		}
	}
	return nil
}

// DrawApart draws splits as [Draw] does, but so that no group is in both sets of a split, or so that test labels are newer than
// training labels. With times, a fraction gives one split, and folds give a split for each interval but the oldest.
func DrawApart(p *problem.Problem, d Design, count int, seed uint64) (*Splits, error) {
	if p.Group == nil && p.Time == nil {
		return Draw(p.Class, d, count, seed)
	}
	if _, err := d.drawn(p.Class, seed, streamTest); err != nil {
		return nil, err
	}
	splits := &Splits{Len: count}
	n := len(p.Row)
	_, members := unitsOf(p)
	largest := int(math.Round(d.Fraction * float64(n)))
	switch {
	case d.PerClass > 0:
		return nil, Usage("a number for each class cannot be drawn by groups or times; give fractions or folds")
	case d.Folds > 0 && p.Group != nil && d.Folds > len(members):
		return nil, d.wrong("%d folds are more than the %d groups; give fewer", d.Folds, len(members))
	case d.Folds > 0:
		folds := DrawFolds(p, d.Folds, seed, 0)
		if p.Time != nil {
			splits.Len = folds.Count - 1
		}
		splits.At = func(i int) Split {
			if p.Time == nil && i >= d.Folds {
				return DrawFolds(p, d.Folds, seed, uint64(i/d.Folds)).Split(i % d.Folds)
			}
			return folds.Split(i)
		}
	case p.Time != nil:
		order := sched.UpTo(n)
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.Time[a], p.Time[b]) })
		cut := min(largest, n-1)
		for cut > 0 && p.Time[order[cut-1]] == p.Time[order[cut]] { // labels of one time stay together
			cut--
		}
		splits.Len = 1
		splits.At = func(int) Split { return sortSplit(slices.Clone(order[:cut]), slices.Clone(order[cut:])) }
	default:
		splits.At = func(i int) (s Split) {
			rng := newRand(seed, streamTest|uint64(i))
			for range attempts {
				order := sched.UpTo(len(members))
				shuffle(rng, order)
				s = Split{}
				for place, u := range order {
					if len(s.Train)+len(members[u])/2 < largest && place+1 < len(order) || place == 0 {
						s.Train = append(s.Train, members[u]...)
					} else {
						s.Test = append(s.Test, members[u]...)
					}
				}
				if severalClasses(p.Class, s.Train) && len(s.Test) > 0 {
					break
				}
			}
			return sortSplit(s.Train, s.Test)
		}
	}
	for i := range splits.Len {
		s := splits.At(i)
		if len(s.Test) == 0 || !severalClasses(p.Class, s.Train) {
			return nil, d.wrong("the groups or times of %d labels leave too few labels to learn from, or none to test on; take another fraction or number of folds, or label more", n)
		}
	}
	return splits, nil
}
