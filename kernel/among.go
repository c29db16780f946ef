package kernel

import (
	"context"
	"errors"
	"fmt"

	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// Among is the map scale·K_LL + diag(shift) between nodes L, made of products with the kernel of all nodes
// K. It holds two blocks of all nodes. It must not be used by two goroutines at a time.
type Among struct {
	Sweeps int // of all products so far

	kernel   Kernel
	nodes    []int
	scale    float64
	shift    []float64
	settings *Settings
	x, y     *sparse.Block[float64] // of all nodes; x is 0 except during a product
}

// NewAmong returns the map for blocks of at most width columns.
func NewAmong(k Kernel, nodes []int, scale float64, shift []float64, width int,
	s *Settings) *Among {
	return &Among{
		kernel: k, nodes: nodes, scale: scale, shift: shift, settings: s,
		x: sparse.NewBlock[float64](k.Len(), width),
		y: sparse.NewBlock[float64](k.Len(), width),
	}
}

// Dims implements [sparse.Applier].
func (l *Among) Dims() (r, c int) {
	return len(l.nodes), len(l.nodes)
}

// StepTo implements [sparse.Applier]. Cost: an application of the kernel.
func (l *Among) StepTo(ctx context.Context, dst, p *sparse.Block[float64],
	s sparse.Step[float64]) error {
	x, y := l.x.Columns(0, p.Cols), l.y.Columns(0, p.Cols)
	for i, row := range l.nodes {
		copy(x.Row(row), p.Row(i))
	}
	report, err := l.kernel.ApplyTo(ctx, y, x, l.settings)
	for _, row := range l.nodes {
		clear(x.Row(row))
	}
	if err != nil {
		return err
	}
	l.Sweeps += report.Sweeps
	for i, row := range l.nodes {
		target := dst.Row(i)
		image := y.Row(row)
		for j, v := range p.Row(i) {
			sum := float64(s.Alpha*(float64(l.scale*image[j])+
				float64(l.shift[i]*v))) + float64(s.Beta*v)
			if s.Prev != nil {
				sum += float64(s.Delta * s.Prev.Row(i)[j])
			}
			target[j] = sum
		}
	}
	if s.Visit != nil {
		s.Visit(sparse.Rows{Hi: len(l.nodes)})
	}
	return nil
}

// ErrUnsolved is wrapped by the error of a solution that does not reach its tolerance.
var ErrUnsolved = errors.New("kernel: conjugate gradients do not converge")

// Solve returns the solution of the map for targets, with a residual relative to theirs, by conjugate gradients on as
// many columns at a time as the map has. The error wraps [ErrUnsolved], or is that of a product.
func (l *Among) Solve(ctx context.Context, targets *sparse.Block[float64],
	tolerance float64, workers int) (*sparse.Block[float64], error) {
	x := sparse.NewBlock[float64](targets.Rows, targets.Cols)
	cg := &iterative.CG{A: l, Workers: workers}
	for lo, hi := range blocks.Slabs(x.Cols, l.x.Cols) {
		_, err := cg.SolveTo(ctx, x.Columns(lo, hi), targets.Columns(lo, hi),
			&iterative.Settings{Tolerance: tolerance, MaxIterations: 1000})
		if errors.Is(err, iterative.ErrIterationLimit) ||
			errors.Is(err, iterative.ErrStagnation) ||
			errors.Is(err, iterative.ErrIndefinite) {
			return nil, fmt.Errorf("%w: %w", ErrUnsolved, err)
		} else if err != nil {
			return nil, err
		}
	}
	return x, nil
}
