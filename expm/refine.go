package expm

import (
	"context"
	"errors"
	"math"

	"github.com/heatwalk/heatwalk/internal/double"
	"github.com/heatwalk/heatwalk/internal/tall"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/sparse"
)

const (
	// refinedWork is how many entries times columns the sweeps of a refined series may
	// visit in all, half a minute, and refinedDegree the longest series. From
	// projectedDegree on it is looked whether the projector will do.
	refinedWork, refinedDegree, projectedDegree = 1e9, 1e6, 1e3

	// refinedBlocks are the blocks that refined results take beside the two of the caller.
	refinedBlocks = 10
)

// refineTo is [Map.ApplyTo] with [Settings.Refined]. Cost: a sweep for each term of a
// series, or the solves; in plain loops.
func (m *Map) refineTo(ctx context.Context, y, b *sparse.Block[float64], f Function, memory int64) (*Result, error) {
	if m.graph == nil || memory > 0 && memory < refinedBlocks*tall.BlockBytes[float64](m.n, b.Cols) {
		return nil, ErrTolerance
	}
	if f.kind == matern && f.power == math.Trunc(f.power) && f.power <= mostSolves {
		return m.refinedPower(ctx, y, b, f, memory)
	}
	if f.kind != exponential || !(f.rate < 0) {
		return nil, ErrTolerance
	}
	z := double.Number{Hi: -f.rate}.Times(double.Number{Hi: m.Hi / 2})
	last := degree(z.Hi, smallest)
	if last > projectedDegree {
		if out, err := m.refinedProjection(ctx, y, b, f, memory); err == nil || !errors.Is(err, ErrTolerance) {
			return out, err
		}
	}
	if last > refinedDegree || float64(last)*float64(m.graph.A.NNZ())*float64(b.Cols) > refinedWork {
		return nil, ErrTolerance
	}
	r := m.refinement(Chebyshev)
	return r.out, r.series(ctx, y, b, refinedBessel(z, last))
}

// solver returns the system of refined solves with σ + H, or H⁺ where σ is 0, whose factor
// takes what the blocks leave of memory: refinedBlocks hold what else a solve takes.
func (m *Map) solver(cols int, sigma float64, memory int64) (*iterative.System, error) {
	s, err := iterative.ShiftedLaplacian(m.graph, m.normalized, 1, sigma)
	if err != nil {
		return nil, err
	}
	if memory > 0 {
		s.Memory = max(1, memory-refinedBlocks*tall.BlockBytes[float64](m.n, cols))
	}
	return s, nil
}

// unsolved returns [ErrTolerance] for the error of a solve that has come to no end.
func unsolved(err error) error {
	if errors.Is(err, iterative.ErrStagnation) || errors.Is(err, iterative.ErrIterationLimit) {
		return ErrTolerance
	}
	return err
}

// mostSolves is the largest power of a Matérn function that is refined.
const mostSolves = 20

// refinedPower is (σ + H)^−ν·B. An error of one solution is at most 1/σ times as large in
// the next; 2ν/κ² is rounded twice.
func (m *Map) refinedPower(ctx context.Context, y, b *sparse.Block[float64], f Function, memory int64) (*Result, error) {
	exact, err := m.solver(b.Cols, f.shift, memory)
	if err != nil {
		return nil, err
	}
	x := sparse.NewBlock[float64](m.n, b.Cols)
	bounds := make([]float64, b.Cols)
	out := &Result{Functions: []Outcome{{Method: Rational, ColumnBound: bounds, Rounding: bounds}}}
	tall.Copy(y, b)
	for range int(f.power) {
		tall.Copy(x, y)
		r, err := exact.RefineTo(ctx, y, x, 0)
		if err != nil {
			return nil, unsolved(err)
		}
		out.Sweeps += r.Sweeps
		for j, bound := range r.ErrorBound {
			bounds[j] = bounds[j]/f.shift*(1+epsilon) + bound
		}
	}
	for j, size := range normsOf(y) {
		bounds[j] += 2 * f.power * epsilon * (size + bounds[j])
	}
	return out, nil
}

// refinedProjection is P₀·B, which is all that is left of exp(−βH)·B where β is large
// beside the least positive eigenvalue.
func (m *Map) refinedProjection(ctx context.Context, y, b *sparse.Block[float64], f Function, memory int64) (*Result, error) {
	system, err := m.solver(b.Cols, 0, memory)
	if err != nil {
		return nil, err
	}
	exact, err := system.RefineTo(ctx, nil, nil, 0)
	if err != nil {
		return nil, unsolved(err)
	}
	left := math.Exp(f.rate * exact.Least * (1 - 8*epsilon)) // e^−∞ where all is in the null space
	if left > epsilon {
		return nil, ErrTolerance
	}
	r := m.refinement(Projection)
	if err := r.weigh(ctx); err != nil {
		return nil, err
	}
	of, parts, k := m.graph.Components.Of, len(m.graph.Components.Sizes), b.Cols
	sums, mass := make([]double.Number, parts*k), make([]double.Number, parts)
	for i, c := range of {
		root := r.degree.Root(i)
		mass[c] = mass[c].Plus(root.Times(root))
		for j, v := range b.Row(i) {
			at := int(c)*k + j
			sums[at] = sums[at].Plus(root.Times(double.Number{Hi: v}))
		}
	}
	for at := range sums {
		sums[at] = sums[at].Over(mass[at/k])
	}
	for i, c := range of {
		for j := range y.Row(i) {
			y.Row(i)[j] = r.degree.Root(i).Times(sums[int(c)*k+j]).Value()
		}
	}
	r.bound(y, b, left+float64(m.n+16)*double.Rounding)
	return r.out, nil
}

// refinement is a refined result under way. Its vectors are D^−½ of the caller's for L̃.
type refinement struct {
	*Map
	degree double.Degrees // nil for L
	out    *Result
}

func (m *Map) refinement(by Method) *refinement {
	return &refinement{Map: m, out: &Result{Functions: []Outcome{{Method: by}}}}
}

func (r *refinement) weigh(ctx context.Context) (err error) {
	if r.normalized {
		r.out.Sweeps++
		r.degree, err = double.DegreesOf(ctx, r.graph.A)
	}
	return err
}

// bound fills ColumnBound: a share of B, and the rounding of Y.
func (r *refinement) bound(y, b *sparse.Block[float64], share float64) {
	bounds := normsOf(y)
	for j, size := range normsOf(b) {
		bounds[j] = epsilon*bounds[j] + share*size*(1+1e-9)
	}
	r.out.Functions[0].ColumnBound, r.out.Functions[0].Rounding = bounds, bounds
}

// series adds up Σ_j coef_j·T_j(2H/hi − I)·B. Rounding errors of its steps grow with the
// square of their number at the most, as the polynomials of the second kind do.
func (r *refinement) series(ctx context.Context, y, b *sparse.Block[float64], coef []float64) error {
	if err := r.weigh(ctx); err != nil {
		return err
	}
	k := b.Cols
	now, before, sum := double.NewBlock(r.n, k), double.NewBlock(r.n, k), double.NewBlock(r.n, k)
	inverse := make([]double.Number, r.n) // of hi/2 times the degrees
	for i := range r.n {
		root := r.degree.Root(i)
		inverse[i] = double.Number{Hi: 1}.Over(double.Number{Hi: r.Hi / 2}.Times(r.degree.At(i)))
		for j, v := range b.Row(i) {
			x := double.Number{Hi: v}.Over(root)
			now.Set(i, j, x)
			sum.Set(i, j, x.Times(double.Number{Hi: coef[0]}))
		}
	}
	for step, c := range coef[1:] {
		twice := double.Number{Hi: 2}
		if step == 0 {
			twice.Hi = 1
		}
		r.out.Sweeps++
		// The next vector takes the place of the last but one.
		err := double.Laplacian(ctx, r.graph.A, r.workers, now, func(_, i int, sums []double.Number, _ []float64) {
			for j, v := range sums {
				next := v.Times(inverse[i]).Minus(now.At(i, j)).Times(twice).Minus(before.At(i, j))
				before.Set(i, j, next)
				sum.Set(i, j, sum.At(i, j).Plus(next.Times(double.Number{Hi: c})))
			}
		})
		if err != nil {
			return err
		}
		now, before = before, now
	}
	for i := range r.n {
		root := r.degree.Root(i)
		for j := range y.Row(i) {
			y.Row(i)[j] = sum.At(i, j).Times(root).Value()
		}
	}
	steps := float64(len(coef) + 1)
	// Coefficients are rounded, as the product of β and hi is; their sizes add up to 1.
	r.bound(y, b, 2*smallest+2*epsilon+8*steps*steps*float64(r.n+16)*double.Rounding)
	return nil
}

// refinedBessel returns the coefficients of exp(−z(1 + y)), rounded once, as scaledBessel
// does.
func refinedBessel(z double.Number, last int) []float64 {
	if z.Hi < smallest {
		return []float64{1}
	}
	const nearest = 1e-28
	start := degree(z.Hi, nearest) + 1
	p := make([]double.Number, start+2)
	p[start] = double.Number{Hi: 1}
	total := double.Number{Hi: 2}
	const far = 0x1p500
	for j := start; j > 0; j-- {
		p[j-1] = p[j+1].Plus(double.Number{Hi: 2 * float64(j)}.Over(z).Times(p[j]))
		twice := 2.0
		if j == 1 {
			twice = 1
		}
		total = total.Plus(p[j-1].Times(double.Number{Hi: twice}))
		if p[j-1].Hi > far {
			for i := j - 1; i <= start; i++ {
				p[i] = p[i].Times(double.Number{Hi: 1 / far})
			}
			total = total.Times(double.Number{Hi: 1 / far})
		}
	}
	coef := make([]float64, min(last, start)+1)
	for j := range coef {
		coef[j] = p[j].Over(total).Value()
		if j > 0 {
			coef[j] *= 2
		}
		if j%2 == 1 {
			coef[j] = -coef[j]
		}
	}
	return coef
}

func normsOf(b *sparse.Block[float64]) []float64 {
	norms := make([]float64, b.Cols)
	for i := range b.Rows {
		for j, v := range b.Row(i) {
			norms[j] = math.Hypot(norms[j], v)
		}
	}
	return norms
}
