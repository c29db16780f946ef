package lanczos

import (
	"context"
	"math"

	"github.com/heatwalk/heatwalk/sparse"
)

// filter is the map that Lanczos runs on: with B = A or −A, so that the wanted
// end is the upper one, B itself or a Chebyshev polynomial of B,
//
//	T_d((B − centre)/half),
//
// which stays within [−1, 1] on the unwanted part centre ± half of the
// spectrum and grows monotonically beyond. The wanted eigenvalues are then far
// apart, and a basis reaches as far with one vector as without the filter with
// d: orthogonalisation, which costs more than the sweeps of a sparse graph, is
// needed that much less. The degree is odd, so that what lies below the
// interval goes to the other end.
type filter struct {
	sign, centre, half float64
	degree             int // 1: B itself
	far                far // none without a filter
}

// lambda returns the eigenvalue of B for one of the map, which must lie beyond
// the unwanted interval if there is a filter: what lies in it counts as its
// upper end.
func (f filter) lambda(value float64) float64 {
	if f.degree == 1 {
		return value
	}
	return f.centre + f.half*math.Cosh(math.Acosh(max(1, value))/float64(f.degree))
}

// slope returns a lower bound of (p(λ) − p(μ))/(λ − μ) over the unwanted μ:
// with a residual of r in the map, that of B is at most about r over it.
func (f filter) slope(value float64) float64 {
	if f.degree == 1 {
		return 1
	}
	return max(0, value-1) / (f.lambda(value) - f.centre + f.half)
}

// apply computes the map's product with x, using y, and returns it in one of
// the two. Cost: degree sweeps.
func (f *filter) apply(ctx context.Context, a sparse.Applier[float64], x, y *sparse.Block[float64]) (*sparse.Block[float64], error) {
	if f.degree == 1 {
		return y, a.StepTo(ctx, y, x, sparse.Step[float64]{Alpha: f.sign})
	}
	alpha, beta := f.sign/f.half, -f.centre/f.half
	if err := a.StepTo(ctx, y, x, sparse.Step[float64]{Alpha: alpha, Beta: beta}); err != nil {
		return nil, err
	}
	for step := 1; step < f.degree; step++ {
		if len(f.far.vectors) > 0 && step%f.far.period() == 0 {
			if err := f.far.remove(ctx, x, y); err != nil {
				return nil, err
			}
		}
		err := a.StepTo(ctx, x, y, sparse.Step[float64]{Alpha: 2 * alpha, Beta: 2 * beta, Delta: -1, Prev: x})
		if err != nil {
			return nil, err
		}
		x, y = y, x
	}
	return y, f.far.remove(ctx, y)
}
