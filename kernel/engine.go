package kernel

import (
	"context"
	"errors"
	"math"

	"github.com/heatwalk/heatwalk/expm"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

type engine interface {
	// applyTo stores K·X in dst. Errors are proportional to o.tolerance, in the engine's own measure. If again is set,
	// applyTo may start from dst, the result for a larger tolerance.
	applyTo(ctx context.Context, dst, x *sparse.Block[float64], o effort,
		again bool) (*engineResult, error)

	// eliminate stores K·X in dst by an elimination without subtraction, whose errors do not depend on the weights. If
	// the kernel is not an inverse, the error is [iterative.ErrStagnation]. If there is no factor, the error wraps
	// [iterative.ErrFill].
	eliminate(ctx context.Context,
		dst, x *sparse.Block[float64]) (*engineResult, error)

	release()
}

type effort struct {
	tolerance float64
	memory    int64
	progress  func(done, expected int)
	certify   bool // bound errors rather than estimate them; this may require an eigenvalue
}

func (o *effort) sweeps() func(stage string, done, total int64) {
	if o.progress == nil {
		return nil
	}
	return func(_ string, done, total int64) { o.progress(int(done), int(total)) }
}

type engineResult struct {
	bound      []float64 // bounds of the norms of column errors
	rounded    []float64 // part of bound that a smaller tolerance would hardly reduce
	sweeps     int
	method     string
	isSmallest bool   // no smaller tolerance reduces the error
	assumed    string // what bound assumes, see [Report].Condition
}

type series struct {
	m *expm.Map
	f expm.Function
}

func (e *series) applyTo(ctx context.Context, dst, x *sparse.Block[float64],
	o effort, _ bool) (*engineResult, error) {
	r, err := e.m.ApplyTo(ctx, []*sparse.Block[float64]{dst}, x, []expm.Function{e.f}, &expm.Settings{
		Tolerance: o.tolerance, Memory: o.memory, Progress: o.sweeps(),
	})
	if err != nil && !errors.Is(err, expm.ErrTolerance) {
		return nil, err
	}
	f := r.Functions[0]
	return &engineResult{bound: f.ColumnBound, rounded: f.Rounding,
		sweeps: r.Sweeps, method: string(f.Method), isSmallest: err != nil,
		assumed: r.Condition}, nil
}

func (e *series) release() {}

func (e *series) eliminate(context.Context, *sparse.Block[float64],
	*sparse.Block[float64]) (*engineResult, error) {
	return nil, iterative.ErrStagnation
}

// inverseRoot is scale·(c + a·L)^−½ of a Laplacian L, computed as a Chebyshev series.
type inverseRoot struct {
	series
	scale float64
	norm  float64
	lone  []int // rows where the root is 1
}

func newInverseRoot(m *expm.Map, a, c, scale float64, lone []int) *inverseRoot {
	return &inverseRoot{series{m: m, f: expm.Matern(c/a, 0.5)},
		scale / math.Sqrt(a), scale / math.Sqrt(c), lone}
}

// applyTo implements [engine]; the bounds include the rounding errors of the scaling.
func (e *inverseRoot) applyTo(ctx context.Context, dst, x *sparse.Block[float64],
	o effort, again bool) (*engineResult, error) {
	out, err := e.series.applyTo(ctx, dst, x, o, again)
	if err != nil {
		return nil, err
	}
	scaleAround(dst, x, e.scale, e.lone)
	for j := range out.bound {
		out.bound[j] = out.bound[j]*e.scale + 4*epsilon*e.norm
		out.rounded[j] = out.rounded[j]*e.scale + 4*epsilon*e.norm
	}
	return out, nil
}

type solves struct {
	system *iterative.System
	scale  float64
	lone   []int // rows where scale times the inverse is the identity
	joint  joint // the inverse as a series, used by [Grams]; zero if it takes too many sweeps

	assumed string // assumption about the least eigenvalue of a singular system
}

// applyTo implements [engine]. If the least eigenvalue has no bound, it estimates errors from residuals, and divides
// the tolerance by estimateGain.
func (e *solves) applyTo(ctx context.Context, dst, x *sparse.Block[float64],
	o effort, again bool) (*engineResult, error) {
	e.system.Memory = o.memory
	if o.certify {
		// Slabs are as wide as x.Stride.
		if err := e.findLeast(ctx, x.Stride); err != nil {
			return nil, err
		}
	}
	if again {
		blocks.Scale(dst, 1/e.scale)
	}
	isEstimated := e.system.Least == 0
	tolerance := min(o.tolerance, 0.5)
	if isEstimated {
		tolerance /= estimateGain
	}
	expected := 0
	r, err := e.system.SolveTo(ctx, dst, x, &iterative.Settings{
		Tolerance: tolerance, Start: again && !isEstimated,
		Recorder: func(step int, residual []float64) {
			if o.progress == nil || step == 0 {
				return
			}
			done := 0.0 // columns, weighted by the share of digits reached
			for _, v := range residual {
				done += max(0, min(1, math.Log(v)/math.Log(o.tolerance)))
			}
			if done > 0 {
				expected = int(math.Ceil(float64(step) * float64(len(residual)) / done))
			}
			o.progress(step, max(step, expected))
		},
	})
	// If rounding ends the solve of a definite map, its bound still holds.
	if err != nil && !errors.Is(err, iterative.ErrStagnation) &&
		!errors.Is(err, iterative.ErrIndefinite) {
		return nil, err
	}
	scaleAround(dst, x, e.scale, e.lone)
	out := &engineResult{bound: make([]float64, x.Cols),
		rounded: make([]float64, x.Cols), sweeps: r.Sweeps, method: methodOf(r),
		isSmallest: err != nil, assumed: e.assumed}
	if r.ErrorBound == nil {
		for j, v := range r.ErrorEstimate {
			out.bound[j] = e.scale * v
		}
		out.isSmallest = out.isSmallest || r.CompleteCholesky
		out.assumed = estimated
		return out, nil
	}
	rounded := true
	for j := range out.bound {
		out.bound[j], out.rounded[j] = e.scale*r.ErrorBound[j],
			e.scale*r.Rounding[j]
		rounded = rounded && r.ErrorBound[j] <= 2*r.Rounding[j]
	}
	out.isSmallest = out.isSmallest || rounded
	return out, nil
}

// estimateGain is above the usual ratios of relative errors to relative residuals of singular systems: 2 on social
// networks, 10 on a grid of three dimensions, 15 with weights over eight orders of magnitude. A smaller value costs
// more: a solve whose estimate is too large begins anew.
const estimateGain = 32

func (e *solves) release() { e.system.Release() }

func (e *solves) eliminate(ctx context.Context,
	dst, x *sparse.Block[float64]) (*engineResult, error) {
	r, err := e.system.EliminateTo(ctx, dst, x)
	if err != nil {
		return nil, err
	}
	scaleAround(dst, x, e.scale, e.lone)
	out := &engineResult{bound: r.ErrorBound, sweeps: 1, method: "elimination",
		isSmallest: true}
	for j, size := range blocks.Norms(sparse.TeamOf(e.system.Graph.A), dst) {
		out.bound[j] = e.scale*out.bound[j] + epsilon*size
	}
	out.rounded = out.bound
	return out, nil
}

func methodOf(r *iterative.Result) string {
	if r.CompleteCholesky {
		return "a complete Cholesky factor"
	}
	if r.SampledCholesky {
		return "conjugate gradients with a sampled Cholesky factor"
	}
	return "conjugate gradients"
}

func scaleAround(dst, x *sparse.Block[float64], f float64, lone []int) {
	blocks.Scale(dst, f)
	for _, i := range lone {
		copy(dst.Row(i), x.Row(i))
	}
}

// narrow is the largest condition number for which the root of an inverse takes about as many sweeps as a solve. The
// root is computed as a series.
const narrow = 200
