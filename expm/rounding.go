package expm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/sparse"
)

const (
	// solveRounding is the rounding error of a solve of a Matérn function, in ε.
	solveRounding = 10

	// stepRounding is the rounding error of a step of the recurrence of resolvents, in ε.
	stepRounding = 2

	// residualRounding is the rounding error of the residual of a solve, in ε‖w∘x‖, see roundingOf.
	residualRounding = 1
)

// roundingEnded reports whether rounding errors ended a solve of a positive definite map. The residual then bounds the
// error.
func roundingEnded(err error) bool {
	return errors.Is(err, iterative.ErrStagnation) ||
		errors.Is(err, iterative.ErrIndefinite)
}

// absoluteTargets returns the target of each column, target/√cols. If this underflows or overflows, it returns
// [ErrParameter].
func absoluteTargets(target float64, cols int) ([]float64, error) {
	residual := target / math.Sqrt(float64(cols))
	if !(residual > 0 && residual < math.Inf(1)) {
		return nil, fmt.Errorf("%w: a solve would have to reach the residual %.3g; values of the function, or of the block, are too far from 1 for float64", ErrParameter, residual)
	}
	return slices.Repeat([]float64{residual}, cols), nil
}

// meetNeighbours computes |A|·d for roundingOf in the first call.
func (e *evaluation) meetNeighbours(ctx context.Context) error {
	if e.m.normalized || e.weights.neighbours != nil {
		return nil
	}
	g := e.m.graph.WithoutHeavyLoops()
	sizes, err := graph.AbsoluteWeights(ctx, g)
	if err != nil {
		return err
	}
	sums := sparse.NewBlock[float64](e.m.n, 1)
	e.weights.diagonal, e.weights.neighbours = g.Degrees, sums.Data
	e.swept(1, 0)
	op := &sparse.Operator[float64]{A: sizes.A, Workers: e.m.workers}
	return op.ApplyTo(ctx, sums, sparse.BlockOf(e.m.n, 1, g.Degrees))
}

// roundingOf returns the factor w_i for which the rounding errors r of the residual of (1 + γH)·x = b, including errors of
// the degrees, satisfy
//
//	‖r‖ ≤ c·ε·‖w∘x‖
//
// A row errs by a few ε times (1 + γd_i)|x_i| + γ·Σ_j |a_ij||x_j|, and (Σ_j |a_ij||x_j|)² ≤ d_i·Σ_j |a_ij|·x_j², whose sum
// over i is Σ_j (|A|·d)_j·x_j². For the normalised Laplacian d and |A|·d are replaced by 1.
func (s *solves) roundingOf(i int) float64 {
	d, beside := s.e.weights.of(i)
	return math.Hypot(1+s.gamma*d, s.gamma*beside)
}

type rowWeights struct {
	diagonal   []float64 // d
	neighbours []float64 // |A|·d; nil: the Laplacian is normalised
}

// of returns d and the square root of |A|·d in row i; both are 1 for the normalised Laplacian.
func (w *rowWeights) of(i int) (d, beside float64) {
	if w.neighbours == nil {
		return 1, 1
	}
	return w.diagonal[i], math.Sqrt(w.neighbours[i])
}

// mapRounding bounds the norm of the error of the map in products, in ε. It is half of the largest degree that is not a whole
// number, or two for rows of D⁻¹A, whose factors are rounded, too.
func (m *Map) mapRounding() float64 {
	if m.inner != nil {
		return 2
	}
	return m.laplacian.Inexact / 2
}

// slopeOf returns the contribution of mapRounding to [expansion.slope] if the derivative is at most steepest.
func (m *Map) slopeOf(steepest float64) float64 {
	return steepest * m.mapRounding() / slopeRounding
}
