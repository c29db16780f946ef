package method

import (
	"math"
	"slices"
)

// best returns the setting to use. Accuracies measured on few nodes tell
// neighbours in the grid apart by luck, so of all settings within one standard
// error of the highest it is the one in the best neighbourhood: the highest
// mean over the settings one value up or down in α, steps and the learner's path, where the
// grid's edge counts twice. Ties go to what comes first by hits, plain
// features, fewer steps, lower cost or higher λ, and lower α.
func best(g *Grid, hits []int64, tested int) int {
	most := slices.Max(hits)
	share := float64(most) / float64(tested)
	least := float64(most) - slack*math.Sqrt(float64(tested)*share*(1-share))
	first := -1
	for i := range hits {
		if float64(hits[i]) >= least && (first < 0 || better(g, hits, i, first)) {
			first = i
		}
	}
	return first
}

// slack is how many standard errors below the highest a setting may be.
const slack = 1.0

// better reports whether setting i is to be preferred to j.
func better(g *Grid, hits []int64, i, j int) bool {
	if a, b := around(g, hits, i), around(g, hits, j); a != b {
		return a > b
	}
	if hits[i] != hits[j] {
		return hits[i] > hits[j]
	}
	a, b, n := g.at(i), g.at(j), g.settings()
	switch {
	case a.Features != b.Features:
		return a.Features.rank() < b.Features.rank()
	case a.Steps != b.Steps:
		return a.Steps < b.Steps
	case i%n != j%n:
		return (i%n < j%n) == !(g.path != nil && g.path.Ridge)
	}
	return a.Alpha < b.Alpha
}

// around returns the sum of hits over a setting and its 26 neighbours with the
// same features.
func around(g *Grid, hits []int64, i int) int64 {
	steps, costs, alphas := len(g.steps()), g.settings(), len(g.alphas())
	c, s, rest := i%costs, i/costs%steps, i/costs/steps
	a, f := rest%alphas, rest/alphas
	var sum int64
	for da := a - 1; da <= a+1; da++ {
		for ds := s - 1; ds <= s+1; ds++ {
			for dc := c - 1; dc <= c+1; dc++ {
				na, ns, nc := clamp(da, alphas), clamp(ds, steps), clamp(dc, costs)
				sum += hits[((f*alphas+na)*steps+ns)*costs+nc]
			}
		}
	}
	return sum
}

func clamp(i, n int) int { return max(0, min(i, n-1)) }
