package propagate

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// assignParam says how probabilities become classes.
var assignParam = param.Param{
	Name: "assign", Meaning: "each node its likeliest class, or each class its share of the nodes", Kind: param.Choice,
	Words: []string{"likeliest", "shares"}, Default: param.Of("likeliest"),
}

// Decide returns how the scores f of one group of seeds become classes. offset, if not nil, is
// added to the scores of each class before they are compared or turned into probabilities; it is no part of the scores, which are those of the formula. class, if not
// nil, holds the class of every node, where these are not the likeliest of each by itself.
//
// With assign = shares the classes have the same shares of the unlabelled nodes as of the
// labels, the n·μ_c rounded by largest remainder: in their order each takes those that are
// likeliest to be in it among the nodes that no class before has taken, of equals (to 9
// decimals) the lower one (Gärtner, Le and Smola 2006, section 1.5). Cost: to sort the
// nodes for each class. All of them must be in one process; the likeliest classes, and offsets, may be
// those of the rows that a process of team has.
func (l *Learner) Decide(team *sparse.Team, f *sparse.Block[float64], s cwk.Seeds,
	v param.Values) (offset []float64, class []int, err error) {
	if l.offset != nil {
		if offset, err = l.offset(team, f, s, v); err != nil {
			return nil, nil, fmt.Errorf("propagate: %s: %w", l.Name, err)
		}
	}
	if l.Param(assignParam.Name) != nil &&
		v[assignParam.Name] == param.Of("shares") {
		if team != nil {
			return nil, nil, fmt.Errorf("propagate: %s with %s = shares: %w",
				l.Name, assignParam.Name, sparse.ErrDivided)
		}
		class = l.assignShares(f, offset, s)
	}
	return offset, class, nil
}

// assignShares returns the class of every node with assign = shares.
func (l *Learner) assignShares(f *sparse.Block[float64], offset []float64,
	s cwk.Seeds) []int {
	class := slices.Repeat([]int{-1}, f.Rows)
	free := make([]int, 0, f.Rows)
	for i, row := range s.Row {
		class[row] = s.Class[i]
	}
	for i, c := range class {
		if c < 0 {
			free = append(free, i)
		}
	}
	weighed := make([]float64, f.Cols)
	share := make([]float64, f.Cols)
	likely := make([]float64, f.Rows)
	for c, quota := range quotas(countsOf(s), len(free)) {
		for _, i := range free {
			copy(weighed, f.Row(i))
			for j, x := range offset {
				weighed[j] += x
			}
			l.Probabilities(share, weighed, nil, 0)
			likely[i] = math.Round(share[c] * 1e9)
		}
		slices.SortFunc(free,
			func(a, b int) int { return cmp.Or(cmp.Compare(likely[b], likely[a]), cmp.Compare(a, b)) })
		for _, i := range free[:quota] {
			class[i] = c
		}
		free = free[quota:]
	}
	return class
}

// countsOf returns how many labels each class has.
func countsOf(s cwk.Seeds) []int {
	count := make([]int, s.Classes)
	for _, c := range s.Class {
		count[c]++
	}
	return count
}

// quotas divides n in the ratio of counts, by largest remainder, of equal ones the first.
func quotas(count []int, n int) []int {
	total := 0
	for _, m := range count {
		total += m
	}
	quota := make([]int, len(count))
	order := make([]int, len(count))
	left := n
	for c, m := range count {
		order[c] = c
		quota[c] = m * n / total
		left -= quota[c]
	}
	slices.SortStableFunc(order,
		func(a, b int) int { return cmp.Compare(count[b]*n%total, count[a]*n%total) })
	for _, c := range order[:left] {
		quota[c]++
	}
	return quota
}
