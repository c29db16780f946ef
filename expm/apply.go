package expm

import (
	"context"
	"errors"
	"fmt"

	"github.com/heatwalk/heatwalk/sparse"
)

// ApplyTo stores f(H)·B in dst[i] for each function f = fs[i]. The blocks have
// the shape of b, and no two of them, nor b and one of them, may overlap.
//
// Exponentials whose argument is a Laplacian are cut, by predicted cost, into
// those that share one Chebyshev series in H and groups that share the solves
// of a series in a resolvent. Matérn functions on a wide spectrum are sums of
// resolvents. Everything else is a Chebyshev series in H.
//
// The error is [ErrTolerance], with a result whose blocks and bounds are
// valid, [ErrParameter], [ErrSmooth], [ErrInterval], the context's, or that of
// a sweep. Memory: two blocks more, six with solves, seven with a factor, and
// one where a rate is above 1e8/λ.
func (m *Map) ApplyTo(ctx context.Context, dst []*sparse.Block[float64], b *sparse.Block[float64], fs []Function, s *Settings) (*Result, error) {
	m.checkBlocks(dst, b, fs)
	if err := s.Validate(); err != nil {
		return nil, err
	}
	for i := range fs {
		if err := fs[i].check(m.lo, m.hi); err != nil {
			return nil, err
		}
	}
	e := &evaluation{Map: m, settings: s.withDefaults(), b: b}
	e.result.Functions = make([]Outcome, len(fs))
	e.parts = make([]part, len(fs))
	for i := range fs {
		e.parts[i] = part{f: &fs[i], y: dst[i], out: &e.result.Functions[i]}
	}
	err := e.run(ctx)
	if err != nil && !errors.Is(err, ErrTolerance) {
		return nil, err
	}
	return &e.result, err
}

func (m *Map) checkBlocks(dst []*sparse.Block[float64], b *sparse.Block[float64], fs []Function) {
	if b.Rows != m.n || len(dst) != len(fs) {
		panic(badShape)
	}
	for i, y := range dst {
		if y.Rows != b.Rows || y.Cols != b.Cols {
			panic(badShape)
		}
		if m.n == 0 {
			continue
		}
		for _, other := range append(dst[:i:i], b) {
			if &y.Data[0] == &other.Data[0] {
				panic(badOverlap)
			}
		}
	}
}

// evaluation is one call under way.
type evaluation struct {
	*Map
	settings Settings
	b        *sparse.Block[float64]
	parts    []part
	result   Result
	tooTight error

	w     [2]*sparse.Block[float64] // the vectors of a recurrence
	sums  columnSums
	norms []float64 // ‖(B − P₀B)_j‖, of H_s
	norm  float64   // of all columns
}

// part is one function of an evaluation.
type part struct {
	f   *Function
	y   *sparse.Block[float64]
	out *Outcome
	series
	fit    *stieltjes // of a Matérn function; nil if its power is whole
	tame   bool       // asked by nobody, for what steeper ones may be spared
	strict bool       // what is left of it may make steeper ones unnecessary
}

// run computes all parts.
func (e *evaluation) run(ctx context.Context) error {
	plan, err := e.plan(ctx)
	if err != nil {
		return err
	}
	e.result.PredictedSweeps = plan.sweeps
	if len(plan.series) > 0 {
		if err := e.runSeries(ctx, plan.series); err != nil {
			return err
		}
	}
	last := plan.steepest
	for g, group := range plan.groups {
		if last != nil {
			done, err := e.projectRest(ctx, last, plan.groups[g:])
			if err != nil {
				return err
			}
			if done {
				break
			}
		}
		if err := e.runResolvent(ctx, group); err != nil {
			return err
		}
		last = group[len(group)-1]
	}
	for _, p := range plan.rational {
		if err := e.runRational(ctx, p); err != nil {
			return err
		}
	}
	return e.tooTight
}

// split stores in w[0] what B has outside the null space, in the variables of
// the sweeps (scaled) or of H_s, and in each part's block f of its null space.
// The norms of the former go to norms and norm.
func (e *evaluation) split(ctx context.Context, parts []*part, scaled bool) error {
	if e.w[0] == nil {
		for i := range e.w {
			e.w[i] = sparse.NewBlock[float64](e.n, e.b.Cols)
		}
		e.norms = make([]float64, e.b.Cols)
	}
	inner := e.inner
	if !scaled {
		inner = nil
	}
	w, source, first := e.w[0], e.b, parts[0].y
	if e.outer != nil {
		source = w
		if err := e.chunks(ctx, func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				scaleTo(w.Row(i), 1/e.outer[i], e.b.Row(i))
			}
		}); err != nil {
			return err
		}
	}
	if e.null != nil {
		if err := e.null.ProjectTo(ctx, first, source, e.workers); err != nil {
			return err
		}
	}
	e.sums.Begin(e.b.Cols)
	known, lone := make([]float64, len(parts)), make([]float64, len(parts))
	for q, p := range parts {
		known[q] = p.valueAt(e.known)
		lone[q] = p.valueAt(e.isolated)
		p.sums.Begin(e.b.Cols)
	}
	err := e.chunks(ctx, func(_, lo, hi int) {
		sums := e.sums.Of(lo / chunkRows)
		for i := lo; i < hi; i++ {
			to, from, null := w.Row(i), source.Row(i), first.Row(i)
			f := 1 / factor(inner, i)
			if e.null == nil {
				addSquares(sums, 1, from)
				scaleTo(to, f, from)
				for _, p := range parts {
					clear(p.y.Row(i))
				}
				continue
			}
			for j, v := range from {
				d := v - null[j]
				sums[j] += float64(d * d)
				to[j] = f * d
			}
			for q := len(parts) - 1; q >= 0; q-- {
				value := known[q]
				if e.lone != nil && e.lone[i] {
					value = lone[q]
				}
				p := parts[q]
				addSquares(p.sums.Of(lo/chunkRows), value*factor(e.outer, i), null)
				scaleTo(p.y.Row(i), f*value, null)
			}
		}
	})
	if err != nil {
		return err
	}
	e.norm = e.sums.rootsTo(e.norms)
	for _, p := range parts {
		p.begin(e)
	}
	return nil
}

// scaleTo stores f·x in dst, which may be x.
func scaleTo(dst []float64, f float64, x []float64) {
	for j, v := range x {
		dst[j] = f * v
	}
}

// valueAt returns the function's value at an eigenvalue, scaled as its block.
func (p *part) valueAt(x float64) float64 {
	if p.expansion == nil {
		return p.f.value(x)
	}
	return p.expansion.at(p.f, x)
}

// begin takes up the norms of the part in the null space.
func (p *part) begin(e *evaluation) {
	p.colNorms = make([]float64, e.b.Cols)
	p.null = 0
	if e.null != nil {
		p.null = p.sums.rootsTo(p.colNorms)
	}
	p.lower = 0
	if e.outer == nil {
		// The two parts of the result are orthogonal.
		p.lower = p.null
	}
}

// tolerance returns what a part's error may be, relative to its result: less
// where that error and what is outside the null space may together be so
// little that steeper exponentials need not be computed.
func (e *evaluation) tolerance(p *part) float64 {
	const share = 0.4
	if p.strict {
		return share * e.settings.Tolerance
	}
	return e.settings.Tolerance
}

// refuse notes that a part's tolerance cannot be met.
func (e *evaluation) refuse(p *part) {
	if e.tooTight == nil && !p.tame {
		e.tooTight = fmt.Errorf("%w: asked for %.3g of a result of norm %.3g, where %.3g can be promised; loosen the tolerance",
			ErrTolerance, e.settings.Tolerance, p.out.NormLowerBound, p.out.Relative)
	}
}

// finish fills a part's outcome, given bounds that lack what rounding does to
// the result itself, and its norms.
func (p *part) finish(e *evaluation, bound float64, columns []float64, norm float64) {
	o := p.out
	own := 8 * epsilon
	o.ErrorBound = bound + own*norm
	o.ColumnBound = columns
	for j := range columns {
		columns[j] += own * p.colNorms[j]
	}
	o.NormLowerBound = max(p.lower, norm-o.ErrorBound, 0)
	if p.expansion != nil {
		o.LogScale = p.logScale
	}
	if o.ErrorBound > 0 {
		o.Relative = o.ErrorBound / o.NormLowerBound
	}
	if o.Relative > e.settings.Tolerance {
		e.refuse(p)
	}
}

// swept counts sweeps.
func (e *evaluation) swept(sweeps, ahead int) {
	e.result.Sweeps += sweeps
	if e.settings.Progress != nil {
		e.settings.Progress(e.result.Sweeps, e.result.Sweeps+max(ahead, 0))
	}
}
