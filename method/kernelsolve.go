package method

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/sparse"
	"gonum.org/v1/gonum/mat"
)

// solveTolerance is the residual of the solution without a kernel block,
// relative to the targets, all ±1.
const solveTolerance = 1e-7

// Solve returns (K + diag(ridge))⁻¹·T for the kernel between the labels, without a value of it, by
// conjugate gradients on E_Lᵀ·K·E_L + diag(ridge). The error wraps [kernel.ErrUnsolved]
// where the tolerance is not reached.
func (m *kernelMap) Solve(ctx context.Context, ridge []float64, t *mat.Dense) (*mat.Dense, error) {
	labels, machines := t.Dims()
	width := min(machines, solveColumns)
	operator := kernel.NewAmong(m.Kernel, m.P.Row, m.Scale, ridge, width, m.Settings)
	coef, err := operator.Solve(ctx, sparse.BlockOf(labels, machines, t.RawMatrix().Data), solveTolerance, m.Workers)
	m.Work.Sweeps += operator.Sweeps
	m.Work.EntryColumns += sparse.EntriesOf(m.P.A) * int64(operator.Sweeps) * int64(width)
	if errors.Is(err, kernel.ErrUnsolved) {
		return nil, fmt.Errorf("method: least squares with a ridge of %v: %w; choose a larger λ, or the support vector machine", slices.Min(ridge), err)
	} else if err != nil {
		return nil, err
	}
	return sparse.DenseOf(coef), nil
}
