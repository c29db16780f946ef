package iterative

import (
	"context"
	"fmt"
	"math"

	"github.com/heatwalk/heatwalk/sparse"
)

// exact is the factor G·D·Gᵀ of N = scale·L + diag(ground), by elimination without subtraction
// (Grassmann, Taksar and Heyman 1985; O'Cinneide 1993).
//
// Eliminating a vertex v joins its neighbours u and x by an edge of weight w_vu·w_vx/Σ_u w_vu,
// where the sum includes the edge to the ground. Diagonals are sums of weights, so that every
// number has full relative precision for weights of any range.
type exact struct {
	factor *cholesky

	// error bounds the relative error of the elements of N⁻¹·b with b ≥ 0. By the matrix-tree theorem an element of N⁻¹ is a
	// quotient of two sums of products of weights, one for each forest, all positive. A relative change δ of the weights among
	// the k neighbours of a vertex changes both sums by at most k·δ. A relative change δ of all weights, which are rounded
	// once or twice, changes them by at most n·δ.
	error float64
}

const (
	// ExactFirst is the largest number of nodes of a graph whose system is solved by elimination, in less than a second.
	ExactFirst = 1024

	// exactWide admits the double cover of a signed graph of ExactFirst nodes, if residuals may hide errors.
	exactWide = 2 * ExactFirst

	unitRoundoff = 0x1p-53
	epsilon      = 2 * unitRoundoff
)

// newExact returns the exact factor of scale·L(A) + diag(ground) for weights ≥ 0. It ignores the diagonal of A. held must
// have one node of each singular component; solutions are 0 at these nodes. The error wraps [ErrFill] if products of
// weights underflow to 0. Cost: one sweep, and at most n³/6 products.
func newExact(ctx context.Context, a sparse.Matrix, scale float64, ground []float64,
	held []int, limits func(int, int64) fillLimits, memory int64, workers int) (*exact, error) {
	columns, err := completeColumns(ctx, a, scale, ground, held, limits, memory)
	if err != nil {
		return nil, err
	}
	n := len(columns.order)
	f := &exact{error: float64(8*n) * unitRoundoff}
	for p, pivot := range columns.pivot {
		if pivot == 0 && p < n-len(held) || math.IsInf(pivot, 1) {
			return nil, fmt.Errorf("%w: products of weights vanish", ErrFill)
		}
		neighbours := columns.start[p+1] - columns.start[p]
		f.error += float64(14*neighbours+12) * unitRoundoff // rounding errors of the elimination and of two substitutions
	}
	f.factor = newFactor(columns, workers)
	return f, nil
}
