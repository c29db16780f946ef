package evaluate

// best returns the setting with the most hits. Of several the one with the
// highest mean over its neighbours in the grid wins (one value up or down in
// α, steps and cost), then the one that comes first by features, steps, cost
// and α.
func best(g *Grid, hits []int64) int {
	first := 0
	for i := range hits {
		if hits[i] > hits[first] || hits[i] == hits[first] && better(g, hits, i, first) {
			first = i
		}
	}
	return first
}

// better reports whether setting i is to be preferred to j, which has as many
// hits.
func better(g *Grid, hits []int64, i, j int) bool {
	// Means are compared as fractions of integers, exactly.
	sumI, countI := around(g, hits, i)
	sumJ, countJ := around(g, hits, j)
	if a, b := sumI*countJ, sumJ*countI; a != b {
		return a > b
	}
	a, b := g.at(i), g.at(j)
	switch {
	case a.Features != b.Features:
		return a.Features.rank() < b.Features.rank()
	case a.Steps != b.Steps:
		return a.Steps < b.Steps
	case a.Cost != b.Cost:
		return a.Cost < b.Cost
	}
	return a.Alpha < b.Alpha
}

// around returns the sum of hits over a setting and its neighbours, and how
// many these are.
func around(g *Grid, hits []int64, i int) (sum, count int64) {
	steps, costs, alphas := len(g.steps()), len(g.Cost), len(g.Alpha)
	c, s, rest := i%costs, i/costs%steps, i/costs/steps
	a, f := rest%alphas, rest/alphas
	for da := max(a-1, 0); da <= min(a+1, alphas-1); da++ {
		for ds := max(s-1, 0); ds <= min(s+1, steps-1); ds++ {
			for dc := max(c-1, 0); dc <= min(c+1, costs-1); dc++ {
				sum += hits[((f*alphas+da)*steps+ds)*costs+dc]
				count++
			}
		}
	}
	return sum, count
}
