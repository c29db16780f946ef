package expm

import (
	"context"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// largestBound returns an upper bound of the eigenvalues of L if laplacian is set, otherwise of the absolute eigenvalues of A.
// By the theorem of Collatz and Wielandt, for a matrix Q ≥ 0 and any x > 0,
//
//	ρ(Q) ≤ max_i (Qx)_i/x_i
//
// where Q is |A|, or D + |A|, whose largest eigenvalue bounds the eigenvalues of L. With x = d the first product gives max_u
// d_u + Σ_v a_uv·d_v/d_u for L (Merris 1998), which is not above max d_u + d_v over the edges (Anderson and Morley 1985). Each
// further product lowers the bound. Cost: a few sweeps of one column.
func largestBound(ctx context.Context, g *graph.Graph,
	laplacian bool) (float64, error) {
	const products, gain, slack = 12, 0.01, 1e-9
	n := len(g.Degrees)
	team := sparse.TeamOf(g.A)
	x, y := sparse.NewBlock[float64](n, 1), sparse.NewBlock[float64](n, 1)
	if laplacian {
		g = g.WithoutHeavyLoops()
	}
	sizes, err := graph.AbsoluteWeights(ctx, g)
	if err != nil {
		return 0, err
	}
	q := &sparse.Operator[float64]{A: sizes.A, Workers: g.Workers}
	if laplacian { // Q without loops has the diagonal of L
		q.Diag = slices.Clone(graph.LaplacianDiagonal(g))
		for i, d := range q.Diag {
			x.Data[i*x.Stride] = d
		}
		for i, w := range g.Loops {
			q.Diag[i] -= math.Abs(w)
		}
	} else {
		for i, d := range g.Degrees {
			x.Data[i*x.Stride] = math.Sqrt(d)
		}
	}
	best := math.Inf(1)
	for range products {
		if err := q.ApplyTo(ctx, y, x); err != nil {
			return 0, err
		}
		bound := maxOver(team, n, func(i int) float64 {
			if v := x.Row(i)[0]; v > 0 {
				return y.Row(i)[0] / v
			}
			return 0
		})
		// A's iteration is shifted, so that it also converges where −ρ is an
		// eigenvalue.
		shift := 0.0
		if !laplacian {
			shift = bound / 4
		}
		for i := range n {
			x.Row(i)[0] = y.Row(i)[0] + float64(shift*x.Row(i)[0])
		}
		if !(bound < best*(1-gain)) {
			best = min(best, bound)
			break
		}
		best = bound
		largest := maxOver(team, n, func(i int) float64 { return x.Row(i)[0] })
		for i := range n {
			x.Row(i)[0] /= largest
		}
	}
	if math.IsInf(best, 1) {
		best = 0
	}
	return best * (1 + slack), nil
}

func maxOver(team *sparse.Team, rows int, f func(i int) float64) float64 {
	largest := 0.0
	for i := range rows {
		largest = max(largest, f(i))
	}
	return blocks.MaxOver(team, largest)
}
