package cwk

import (
	"fmt"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/sparse"
)

// Prior is the distribution over the classes in which a walk starts at nodes without a visible label. The zero value is 1/k
// for every class.
type Prior struct {
	// Given is an n×k block with the distribution of each node, non-negative and of sum 1 within 1e-6. It must not
	// change during a walk. If Given is nil, all nodes have a common distribution.
	Given *sparse.Block[float64]

	// Empirical makes the common distribution the share of each class among the seeds that the variant does not hide, with
	// Pseudo ≥ 0 added to each count:
	//
	//	(count_c + Pseudo) / (Σ count + k·Pseudo)
	Empirical bool
	Pseudo    float64
}

// Likeliest returns the class of a node that no label reaches. It is the likeliest class of the node's prior. If no
// class is likelier than class largest, or if all nodes have a common prior, it is largest.
func (p Prior) Likeliest(row, largest int) int {
	best := largest
	if p.Given == nil {
		return best
	}
	shares := p.Given.Row(row)
	for c, v := range shares {
		if v > shares[best] {
			best = c
		}
	}
	return best
}

// Distributions returns a function from rows to their distributions, for walks that hide no seed.
func (p Prior) Distributions(s Seeds) func(row int) []float64 {
	if p.Given != nil {
		return p.Given.Row
	}
	shared := p.commonDistribution(s, Variant{})
	return func(int) []float64 { return shared }
}

// commonDistribution returns the distribution of all nodes without a visible label, or nil if each node has its own
// distribution.
func (p Prior) commonDistribution(s Seeds, v Variant) []float64 {
	if p.Given != nil {
		return nil
	}
	pseudo := 1.0
	if p.Empirical {
		pseudo = p.Pseudo
	}
	total := float64(s.Classes) * pseudo
	dist := slices.Repeat([]float64{pseudo}, s.Classes)
	for i, c := range s.Class {
		if p.Empirical && !v.hides(i) {
			dist[c]++
			total++
		}
	}
	for c := range dist {
		dist[c] /= total
	}
	return dist
}

func (p Prior) problems(n int, team *sparse.Team, s Seeds,
	variants []Variant) []error {
	var list []error
	switch {
	case p.Given == nil && p.Empirical:
		if !(p.Pseudo >= 0) || math.IsInf(p.Pseudo, 0) {
			return append(list, fmt.Errorf("empirical prior: pseudo-count %v is not a number ≥ 0", p.Pseudo))
		}
		for g, v := range variants {
			if p.Pseudo == 0 && !s.seen(v) {
				list = append(list, fmt.Errorf("empirical prior: variant %d has no visible seed and the pseudo-count is 0", g))
			}
		}
	case p.Given != nil:
		if p.Given.Rows != n || p.Given.Cols != s.Classes {
			return append(list, fmt.Errorf("given prior: want a block of %d×%d", n,
				s.Classes))
		}
		for i := range n {
			if team.IsPadding(i) {
				continue
			}
			var sum float64
			for c, v := range p.Given.Row(i) {
				if !(v >= 0) {
					return append(list, fmt.Errorf("given prior: row %d, class %d: %v is no probability", i, c, v))
				}
				sum += v
			}
			if !(math.Abs(sum-1) <= 1e-6) {
				return append(list, fmt.Errorf("given prior: row %d sums to %v, not to 1", i, sum))
			}
		}
	}
	return list
}

func (s Seeds) seen(v Variant) bool {
	for i := range s.Row {
		if !v.hides(i) {
			return true
		}
	}
	return false
}
