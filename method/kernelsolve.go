package method

import (
	"context"
	"errors"
	"fmt"

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

// Solve returns (K + λI)⁻¹·T for the kernel between the labels, without a value of it, by
// conjugate gradients on E_Lᵀ·K·E_L + λI. The error wraps those of
// [iterative.CG.SolveTo] where the tolerance is not reached.
func (m *kernelMap) Solve(ctx context.Context, lambda float64, t *mat.Dense) (*mat.Dense, error) {
	labels, machines := t.Dims()
	n, _ := m.P.A.Dims()
	coef, targets := sparse.NewBlock[float64](labels, machines), sparse.BlockOf(labels, machines, t.RawMatrix().Data)
	width := min(machines, solveColumns)
	between := &labelMap{
		kernel: m.Kernel, rows: m.P.Row, scale: m.Scale, lambda: lambda, settings: m.Settings,
		x: sparse.NewBlock[float64](n, width), y: sparse.NewBlock[float64](n, width),
	}
	cg := &iterative.CG{A: between, Workers: m.Workers}
	var err error
	for lo := 0; lo < machines && err == nil; lo += width {
		hi := min(lo+width, machines)
		before := between.sweeps
		_, err = cg.SolveTo(ctx, coef.Columns(lo, hi), targets.Columns(lo, hi), &iterative.Settings{Tolerance: solveTolerance, MaxIterations: solveSteps})
		m.Work.EntryColumns += m.P.A.NNZ() * int64(between.sweeps-before) * int64(hi-lo)
	}
	m.Work.Sweeps += between.sweeps
	if errors.Is(err, iterative.ErrIterationLimit) || errors.Is(err, iterative.ErrStagnation) || errors.Is(err, iterative.ErrIndefinite) {
		return nil, fmt.Errorf("method: least squares with λ = %v: %w; choose a larger λ, or the support vector machine", lambda, err)
	}
	return sparse.DenseOf(coef), err
}

// labelMap is the map scale·K + λI between labelled nodes, made of products
// with the kernel of all nodes.
type labelMap struct {
	kernel        kernel.Kernel
	rows          []int // of the labels
	scale, lambda float64
	settings      *kernel.Settings

	x, y   *sparse.Block[float64] // of all nodes; x is 0 but during a product
	sweeps int
}

// Dims implements [sparse.Applier].
func (l *labelMap) Dims() (r, c int) { return len(l.rows), len(l.rows) }

// StepTo implements [sparse.Applier].
func (l *labelMap) StepTo(ctx context.Context, dst, p *sparse.Block[float64], s sparse.Step[float64]) error {
	x, y := l.x.Columns(0, p.Cols), l.y.Columns(0, p.Cols)
	for i, row := range l.rows {
		copy(x.Row(row), p.Row(i))
	}
	report, err := l.kernel.ApplyTo(ctx, y, x, l.settings)
	for _, row := range l.rows {
		clear(x.Row(row))
	}
	if err != nil {
		return err
	}
	l.sweeps += report.Sweeps
	for i, row := range l.rows {
		to, image := dst.Row(i), y.Row(row)
		for j, v := range p.Row(i) {
			sum := float64(s.Alpha*(float64(l.scale*image[j])+float64(l.lambda*v))) + float64(s.Beta*v)
			if s.Prev != nil {
				sum += float64(s.Delta * s.Prev.Row(i)[j])
			}
			to[j] = sum
		}
	}
	if s.Visit != nil {
		s.Visit(sparse.Rows{Hi: len(l.rows)})
	}
	return nil
}
