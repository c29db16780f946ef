package kernel

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/heatwalk/heatwalk/expm"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/sparse"
)

// engine applies a symmetric function of a graph's matrix to a block.
type engine interface {
	// applyTo stores K·X in dst. The tolerance is the engine's own measure, in
	// which errors are proportional to it. With again dst holds the result for
	// a larger tolerance.
	applyTo(ctx context.Context, dst, x *sparse.Block[float64], o effort, again bool) (*applied, error)
}

// effort is what an engine is to spend.
type effort struct {
	tolerance float64
	memory    int64
	progress  func(done, expected int)
}

// applied is what an engine found out.
type applied struct {
	bound   []float64 // of the norm of each column's error
	rounded []float64 // the part of it that a smaller tolerance would hardly lessen
	sweeps  int
	method  string
	least   bool // the error cannot be made smaller
	assumed string
}

// series is a function of a matrix by package expm.
type series struct {
	m      *expm.Map
	f      expm.Function
	method expm.Method // of an exponential
}

func (e *series) applyTo(ctx context.Context, dst, x *sparse.Block[float64], o effort, _ bool) (*applied, error) {
	r, err := e.m.ApplyTo(ctx, []*sparse.Block[float64]{dst}, x, []expm.Function{e.f}, &expm.Settings{
		Tolerance: o.tolerance, Method: e.method, Memory: o.memory, Progress: o.progress,
	})
	if err != nil && !errors.Is(err, expm.ErrTolerance) {
		return nil, err
	}
	f := r.Functions[0]
	return &applied{bound: f.ColumnBound, rounded: f.Rounding, sweeps: r.Sweeps, method: f.Method.String(), least: err != nil}, nil
}

// inverseRoot is scale·(c + a·L)^−½ of a Laplacian L, a Chebyshev series.
type inverseRoot struct {
	series
	scale float64
	norm  float64 // of the root
	lone  []int   // rows where the root is 1
}

func newInverseRoot(m *expm.Map, a, c, scale float64, lone []int) *inverseRoot {
	return &inverseRoot{series{m: m, f: expm.Matern(c/a, 0.5)}, scale / math.Sqrt(a), scale / math.Sqrt(c), lone}
}

func (e *inverseRoot) applyTo(ctx context.Context, dst, x *sparse.Block[float64], o effort, again bool) (*applied, error) {
	out, err := e.series.applyTo(ctx, dst, x, o, again)
	if err != nil {
		return nil, err
	}
	scaleBy(dst, e.scale)
	for _, i := range e.lone {
		copy(dst.Row(i), x.Row(i))
	}
	for j := range out.bound {
		out.bound[j] = out.bound[j]*e.scale + 4*epsilon*e.norm
		out.rounded[j] = out.rounded[j]*e.scale + 4*epsilon*e.norm
	}
	return out, nil
}

// solves is the inverse of a system, times scale, by package iterative.
type solves struct {
	system *iterative.System
	scale  float64
	lone   []int // rows where the inverse is that of scale·I

	assumed string // about the least eigenvalue of a singular system
}

func (e *solves) applyTo(ctx context.Context, dst, x *sparse.Block[float64], o effort, again bool) (*applied, error) {
	e.system.Memory = o.memory
	// x may be the first columns of slabs that are as wide as its stride.
	if err := e.findLeast(ctx, x.Stride); err != nil {
		return nil, err
	}
	if again {
		scaleBy(dst, 1/e.scale)
	}
	expected := 0
	r, err := e.system.SolveTo(ctx, dst, x, &iterative.Settings{
		Tolerance: min(o.tolerance, 0.5), Start: again,
		Recorder: func(step int, residual []float64) {
			if o.progress == nil || step == 0 {
				return
			}
			done := 0.0 // columns, by digits
			for _, v := range residual {
				done += max(0, min(1, math.Log(v)/math.Log(o.tolerance)))
			}
			if done > 0 {
				expected = int(math.Ceil(float64(step) * float64(len(residual)) / done))
			}
			o.progress(step, max(step, expected))
		},
	})
	if err != nil && !errors.Is(err, iterative.ErrStagnation) {
		return nil, err
	}
	scaleBy(dst, e.scale)
	for _, i := range e.lone {
		copy(dst.Row(i), x.Row(i))
	}
	out := &applied{bound: make([]float64, x.Cols), rounded: make([]float64, x.Cols), sweeps: r.Sweeps, method: "conjugate gradients", least: err != nil, assumed: e.assumed}
	if r.SampledCholesky {
		out.method += " with a sampled Cholesky factor"
	}
	rounded := true
	for j := range out.bound {
		out.bound[j], out.rounded[j] = e.scale*r.ErrorBound[j], e.scale*r.Rounding[j]
		rounded = rounded && r.ErrorBound[j] <= 2*r.Rounding[j]
	}
	out.least = out.least || rounded
	return out, nil
}

// findLeast finds the smallest eigenvalue of a singular system outside its
// null space, on which the error bounds of its solutions rest. It may take what
// the solve of so many columns takes afterwards, and what that has for a factor;
// without room for one, the diagonal preconditions.
func (e *solves) findLeast(ctx context.Context, cols int) error {
	s := e.system
	if s.Least > 0 {
		return nil
	}
	g := s.Graph
	n, components := len(g.Degrees), len(g.Components.Sizes)
	if components == n {
		s.Least = 1 // the map is zero, and so is everything
		return nil
	}
	op, weights := sparse.NewLaplacian[float64](g.A, g.Degrees), s.Scale
	if weights != nil {
		op = sparse.NewLaplacianNormalized[float64](g.A, g.Degrees)
	}
	op.Workers = g.Workers
	p := lanczos.Problem{
		A: op, Which: lanczos.Smallest, Known: lanczos.NewKnown(g.Components, weights, 0), Beyond: true,
	}
	var memory int64
	if s.Memory > 0 {
		memory = s.Memory + (solveBlocks-2)*sparse.BlockBytes[float64](n, cols)
	}
	room, products := s.Memory == 0 || iterative.CholeskyBytes(n, g.A.NNZ()) <= s.Memory, 0
	p.Precondition = func(ctx context.Context, _ int64) (lanczos.Preconditioner, error) {
		if room {
			return s.Preconditioner(ctx)
		}
		return iterative.NewJacobi(op.Diag), nil
	}
	if !room {
		products = jacobiProducts
	}
	// The residual must be small beside an eigenvalue that may be far below
	// the norm of the map. A first look tells how far.
	const tightest = 1e-13
	for tolerance := 1e-6; ; {
		settings := &lanczos.Settings{Tolerance: tolerance, Patience: 100, MaxProducts: products, Memory: memory, Workers: g.Workers}
		pairs, err := p.Solve(ctx, 1, settings)
		if !room && errors.Is(err, lanczos.ErrMemory) { // for a larger basis than LOBPCG has
			pairs, err = p.LOBPCG(ctx, 1, settings)
		}
		if !room && (errors.Is(err, lanczos.ErrMemory) || errors.Is(err, lanczos.ErrIterationLimit)) {
			_, err = s.Preconditioner(ctx) // what would do is the factor that had no room
		}
		if err != nil {
			return err
		}
		value, residual := pairs.Values[0], pairs.Residuals[0]
		if residual < value/10 || tolerance == tightest && residual < value {
			s.Least = value - residual
			e.assumed = "the smallest positive eigenvalue, found by iteration, is the smallest"
			return nil
		}
		if tolerance == tightest {
			return &ParameterError{"kernel", fmt.Sprintf("it is an inverse that has no sure digit on this graph: the Laplacian's smallest positive eigenvalue, at most %.2g, is lost in rounding beside the largest, at least %.2g; take regularized-laplacian", value+residual, pairs.Norm)}
		}
		tolerance = max(tightest, min(tolerance/10, value/20/pairs.Norm))
	}
}

// jacobiProducts are how many products an eigenvalue may take without room for a
// factor: a graph that needs more has a long path.
const jacobiProducts = 3000

// scaleBy multiplies a block by f.
func scaleBy(b *sparse.Block[float64], f float64) {
	if f == 1 {
		return
	}
	for i := range b.Rows {
		for j := range b.Row(i) {
			b.Row(i)[j] *= f
		}
	}
}
