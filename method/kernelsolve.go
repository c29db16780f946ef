package method

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/sparse"
	"gonum.org/v1/gonum/mat"
)

const (
	// solveTolerance is the residual of the solution without a kernel block,
	// relative to the targets, all ±1.
	solveTolerance = 1e-7

	// solveSteps is the number of products with the kernel after which that
	// solution is given up.
	solveSteps = 1000
)

// Solve returns (K + diag(ridge))⁻¹·T for the kernel between the labels, without a value of it, by
// conjugate gradients on E_Lᵀ·K·E_L + diag(ridge). The error wraps those of
// [iterative.CG.SolveTo] where the tolerance is not reached.
func (m *kernelMap) Solve(ctx context.Context, ridge []float64, t *mat.Dense) (*mat.Dense, error) {
	labels, machines := t.Dims()
	coef, targets := sparse.NewBlock[float64](labels, machines), sparse.BlockOf(labels, machines, t.RawMatrix().Data)
	width := min(machines, solveColumns)
	operator := kernel.NewAmong(m.Kernel, m.P.Row, m.Scale, ridge, width, m.Settings)
	cg := &iterative.CG{A: operator, Workers: m.Workers}
	var err error
	for lo := 0; lo < machines && err == nil; lo += width {
		hi := min(lo+width, machines)
		sweeps := operator.Sweeps
		_, err = cg.SolveTo(ctx, coef.Columns(lo, hi), targets.Columns(lo, hi), &iterative.Settings{Tolerance: solveTolerance, MaxIterations: solveSteps})
		m.Work.EntryColumns += sparse.EntriesOf(m.P.A) * int64(operator.Sweeps-sweeps) * int64(hi-lo)
	}
	m.Work.Sweeps += operator.Sweeps
	if errors.Is(err, iterative.ErrIterationLimit) || errors.Is(err, iterative.ErrStagnation) || errors.Is(err, iterative.ErrIndefinite) {
		return nil, fmt.Errorf("method: least squares with a ridge of %v: %w; choose a larger λ, or the support vector machine", slices.Min(ridge), err)
	}
	return sparse.DenseOf(coef), err
}
