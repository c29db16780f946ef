package method

import (
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/kernel"
)

// kernelGrid returns the parameters that a kernel is tried with on a graph of so
// many nodes, but for those that are given, or nil for what is no symmetric
// kernel.
func kernelGrid(name string, given kernel.Parameters, nodes int) []kernel.Parameters {
	powers := make([]float64, 0, 15)
	for e := -7; e <= 7; e++ {
		powers = append(powers, math.Ldexp(1, e))
	}
	shares := []float64{0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 0.98, 0.99, 0.999}
	grid := []kernel.Parameters{{}}
	cross := func(count int, set func(p *kernel.Parameters, i int)) {
		var wider []kernel.Parameters
		for _, p := range grid {
			for i := range count {
				set(&p, i)
				wider = append(wider, p)
			}
		}
		grid = wider
	}
	beta := func() {
		cross(len(powers), func(p *kernel.Parameters, i int) { p.Beta = powers[i] })
	}
	alpha := func(values []float64) {
		cross(len(values), func(p *kernel.Parameters, i int) { p.Alpha = values[i] })
	}
	switch name {
	case "diffusion":
		grid[0].Laplacian = kernel.Normalized
		beta()
	case "exponential":
		grid[0].Matrix = kernel.NormalizedAdjacency
		beta()
	case "von-neumann":
		alpha(shares)
	case "regularized-laplacian":
		grid[0].Laplacian = kernel.Normalized
		alpha(powers)
	case "pseudo-inverse":
		grid[0].Laplacian = kernel.Normalized
	case "regularized-commute-time":
		alpha(shares)
	case "pagerank":
		grid[0].Symmetric = true
		alpha(shares)
	case "heat-pagerank":
		grid[0].Symmetric = true
		beta()
	case "p-step":
		steps := []int{1, 2, 3, 5, 7, 10, 20}
		cross(len(steps), func(p *kernel.Parameters, i int) { p.Steps = steps[i] })
	case "matern":
		grid[0].Laplacian = kernel.Normalized
		nu, kappa := []float64{0.5, 1.5, 2.5}, []float64{1, 2, 4, 8, 16}
		cross(len(nu), func(p *kernel.Parameters, i int) { p.Nu = nu[i] })
		cross(len(kappa), func(p *kernel.Parameters, i int) { p.Kappa = kappa[i] })
	case "modularity":
		grid[0].Rank = min(64, nodes)
	default:
		return nil
	}
	for i := range grid {
		grid[i] = grid[i].With(given, name)
	}
	return slices.Compact(grid)
}
