package expm

import (
	"context"
	"math"

	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

func (p *part) fitMatern(e *evaluation) int {
	sigma := p.f.shift
	integer, fraction := math.Modf(p.f.power)
	cost := integer * e.m.steps(1/sigma, e.settings.Tolerance)
	if fraction > 0 {
		p.fit = fitPower(fraction, 1+e.m.Hi/sigma,
			max(e.settings.Tolerance/4, 16*epsilon))
		for _, q := range p.fit.pole {
			cost += e.m.steps(1/(sigma*(1+q)), e.settings.Tolerance)
		}
	}
	return int(cost)
}

// inverses computes (σ + H)^−ν·B⊥, where B⊥ is the part of B outside the null space and ν = p + s:
//
//	σ^−s·(a + Σ w_i·σ·(σ(1 + q_i) + H)⁻¹)·B⊥, then p times (σ + H)⁻¹
//
// The error of a solve is at most its residual over the shift. The fractional power has a relative error, which the other
// factors keep.
type inverses struct {
	e     *evaluation
	m     *Map
	p     *part
	x     *sparse.Block[float64]
	share float64 // error that each solve may leave in the result

	bound   float64
	columns []float64
	rounded []float64 // rounding errors in columns
	solved  int
	solves  int
}

// solveMatern computes (σI + H)^−ν·B by one solve for each integer power, and one for each pole of a rational approximation of
// the fractional power.
func (e *evaluation) solveMatern(ctx context.Context, p *part) error {
	p.out.Method = Rational
	k := e.b.Cols
	s := &inverses{e: e, m: e.m, p: p, x: sparse.NewBlock[float64](e.m.n, k),
		columns: make([]float64, k), rounded: make([]float64, k)}
	typical, err := s.typical(ctx)
	if err != nil {
		return err
	}
	e.split([]*part{p}, false)
	if e.norm == 0 {
		s.finishRational(nil)
		return nil
	}
	integer, fraction := math.Modf(p.f.power)
	solves := integer
	if p.fit != nil {
		solves += float64(len(p.fit.pole))
	}
	s.solves = int(solves)
	s.share = 0.6 * e.settings.Tolerance * math.Hypot(p.lower,
		typical) / max(solves, 1)
	y := e.w[0]
	if p.fit != nil {
		if err := s.fraction(ctx, integer, fraction); err != nil {
			return err
		}
		y = e.w[1]
	}
	for k := integer; k > 0; k-- {
		if err := s.solve(ctx, y, p.f.shift, math.Pow(p.f.shift, -k)); err != nil {
			return err
		}
		y, s.x = s.x, y
	}
	s.finishRational(y)
	return nil
}

// typical returns a lower bound of the norm of the result outside the null space, by Jensen's inequality for the convex f².
// With ρ = Σ bᵀHb/Σ bᵀb over the columns,
//
//	‖f(H)B⊥‖ ≥ f(ρ)·‖B⊥‖
func (s *inverses) typical(ctx context.Context) (float64, error) {
	s.e.split([]*part{s.p}, true)
	if s.e.norm == 0 {
		return 0, nil
	}
	x, y := s.e.w[0], s.e.w[1]
	s.e.sums.begin(s.m.team, 1)
	err := s.m.sweep.StepTo(ctx, y, x, sparse.Step[float64]{Alpha: 1, Beta: s.m.centre, Visit: func(rows sparse.Rows) {
		sums := s.e.sums.of(rows.Range, rows.Lo)
		for i := rows.Lo; i < rows.Hi; i++ {
			f := blocks.Factor(s.m.inner, i)
			a := x.Row(i)
			b := y.Row(i)
			for j, v := range a {
				sums[0] += float64(f * v * f * b[j])
			}
		}
	}})
	if err != nil {
		return 0, err
	}
	s.e.swept(1, s.e.result.PredictedSweeps)
	root := make([]float64, 1)
	s.e.sums.rootsTo(root)
	rho := root[0] * root[0] / (s.e.norm * s.e.norm)
	if math.IsNaN(rho) { // rounding has made the sum negative
		rho = 0
	}
	return s.p.f.value(rho) * s.e.norm, nil
}

func (s *inverses) fraction(ctx context.Context, integer, fraction float64) error {
	b := s.e.w[0]
	y := s.e.w[1]
	sigma := s.p.f.shift
	front := math.Pow(sigma, -fraction)
	s.m.chunks(func(_, lo, hi int) {
		for r := lo; r < hi; r++ {
			scaleTo(y.Row(r), front*s.p.fit.constant, b.Row(r))
		}
	})
	for i := range s.p.fit.pole {
		shift := sigma * (1 + s.p.fit.pole[i])
		weight := front * sigma * s.p.fit.weight[i]
		if err := s.solve(ctx, b, shift, weight*math.Pow(sigma, -integer)/shift); err != nil {
			return err
		}
		s.m.chunks(func(_, lo, hi int) {
			for r := lo; r < hi; r++ {
				blocks.AddScaled(y.Row(r), weight, s.x.Row(r))
			}
		})
	}
	return nil
}

// solve stores (shift + H)⁻¹·B in x. growth is the factor from a residual to an error of the final
// result.
func (s *inverses) solve(ctx context.Context, b *sparse.Block[float64],
	shift, growth float64) error {
	target := s.share / growth
	absolute, err := absoluteTargets(target, s.e.b.Cols)
	if err != nil {
		return err
	}
	system, err := iterative.ShiftedLaplacian(s.m.graph, s.m.normalized, 1, shift)
	if err != nil {
		return err
	}
	system.Memory = s.e.settings.Memory
	r, err := system.SolveTo(ctx, s.x, b, &iterative.Settings{
		Tolerance: min(target/s.e.norm, 0.1), Absolute: absolute,
	})
	if err != nil && !roundingEnded(err) {
		return err
	}
	var sum float64
	for j, v := range r.Residual {
		v += shift * r.Rounding[j]
		sum += float64(v * v)
		s.columns[j] += float64(growth * v)
		s.rounded[j] += float64(growth * shift * r.Rounding[j])
	}
	s.bound += growth * math.Sqrt(sum)
	s.solved++
	s.p.out.SampledCholesky = s.p.out.SampledCholesky || r.SampledCholesky
	s.e.swept(r.Sweeps, (s.e.result.Sweeps+r.Sweeps)*(s.solves-s.solved)/s.solved)
	return nil
}

// finishRational adds w, the result outside the null space, to the part's result, and fills its outcome. If w is nil, it
// adds nothing.
func (s *inverses) finishRational(w *sparse.Block[float64]) {
	partNorms := make([]float64, s.e.b.Cols)
	s.e.sums.begin(s.m.team, s.e.b.Cols)
	s.p.sums.begin(s.m.team, s.e.b.Cols)
	s.m.chunks(func(_, lo, hi int) {
		sums, totals := s.e.sums.of(lo/blocks.ChunkRows, lo),
			s.p.sums.of(lo/blocks.ChunkRows, lo)
		for i := lo; i < hi; i++ {
			y := s.p.y.Row(i)
			if w != nil {
				addSquares(sums, 1, w.Row(i))
				blocks.AddScaled(y, 1, w.Row(i))
			}
			addSquares(totals, 1, y)
		}
	})
	size := s.e.sums.rootsTo(partNorms)
	norm := s.p.sums.rootsTo(s.p.colNorms)
	relative := 0.0
	if s.p.fit != nil {
		relative = s.p.fit.err / (1 - s.p.fit.err)
	}
	relative += solveRounding * epsilon * float64(s.solved)
	for j, v := range partNorms {
		s.columns[j] = s.columns[j] + relative*(v+s.columns[j]) +
			s.own(s.e.norms[j])
		s.rounded[j] = s.rounded[j] +
			float64(solveRounding*epsilon*float64(s.solved))*v + s.own(s.e.norms[j])
	}
	bound := s.bound + relative*(size+s.bound) + s.own(s.e.norm)
	s.p.finish(s.e, bound, s.columns, s.rounded, norm)
}

// own bounds the rounding errors in the result that residuals do not show. norm is the norm of B, or of a column of B,
// outside the null space.
func (s *inverses) own(norm float64) float64 {
	return solveRounding * epsilon * s.p.f.value(0) * norm
}
