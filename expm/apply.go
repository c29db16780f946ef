package expm

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// ApplyTo stores f(H)·B in dst[i] for each function f = fs[i]. Each block must have the shape of b. If Settings.Rows is
// set, ApplyTo stores only the listed rows, and each block must have a row for each listed row. Blocks must not overlap
// each other or b.
//
// If several processes share the rows of the map, each process must call ApplyTo with its rows of b, whose padding is zero,
// see [sparse.Team]. All processes get the same bounds.
//
// Functions are Chebyshev series in H, with two exceptions. Falling exponentials of a Laplacian are series in H or in a
// resolvent (I + γH)⁻¹, whichever is predicted to cost less. Matérn functions on a wide spectrum are sums of resolvents. If
// all functions are series in H, they are computed for one slab of columns after another, each to the tolerance.
//
// If an exponential is largest at an end of the interval far from the spectrum, for example exp(−A), it is computed on an
// estimated interval, see Result.Condition.
//
// The error is [ErrTolerance], with a result whose blocks and bounds are valid, [ErrParameter], [ErrOverflow], [ErrSmooth],
// [ErrInterval], [graph.ErrAsymmetric], the error of the context, or an error of a sweep. Memory: two blocks in addition to
// b and dst, six if there are solves, seven if they use a factor, and one more if a rate is above 1e8/λ. If columns are
// computed in slabs, two slabs and one for each function.
func (m *Map) ApplyTo(ctx context.Context, dst []*sparse.Block[float64],
	b *sparse.Block[float64], fs []Function, s *Settings) (*Result, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	rows := m.n
	if s != nil && s.Rows != nil {
		rows = len(s.Rows)
	}
	if b.Rows != m.n || len(dst) != len(fs) {
		panic(badShape)
	}
	for i, y := range dst {
		if y.Rows != rows || y.Cols != b.Cols {
			panic(badShape)
		}
		if rows == 0 {
			continue
		}
		for _, block := range append(dst[:i:i], b) {
			if &y.Data[0] == &block.Data[0] {
				panic(badOverlap)
			}
		}
	}
	for i := range fs {
		if err := fs[i].check(m.Lo, m.Hi); err != nil {
			return nil, err
		}
	}
	// The squared norm of a column must neither overflow nor underflow, because errors are compared with this norm.
	const least, most = 1e-140, 1e150
	for j, norm := range blocks.Norms(m.team, b) {
		if norm >= least && norm <= most {
			continue
		}
		if largest := blocks.Largest(m.team, b.Columns(j, j+1)); largest != 0 {
			return nil, fmt.Errorf("%w: the largest value of column %d of the block is %.3g; scale columns to norms between %g and %g", ErrParameter, j, largest, least, most)
		}
	}
	if m.symmetry != nil {
		_, err := m.symmetry.Get(func() (float64, error) { return 1, blocks.CheckSymmetric(ctx, m.sweep, 0) })
		if err != nil {
			return nil, err
		}
	}
	narrow, sweeps, err := m.narrowInterval(ctx, fs)
	if err != nil {
		return nil, err
	}
	r, err := narrow.apply(ctx, dst, b, fs, s)
	if narrow != m && errors.Is(err, ErrInterval) {
		r, err = m.apply(ctx, dst, b, fs, s)
	} else if narrow != m && r != nil {
		r.Condition = Estimated
	}
	if r != nil {
		r.Sweeps += sweeps
	}
	return r, err
}

// apply is [Map.ApplyTo] on the interval of m, with valid arguments.
func (m *Map) apply(ctx context.Context, dst []*sparse.Block[float64],
	b *sparse.Block[float64], fs []Function, s *Settings) (*Result, error) {
	e := &evaluation{costs: costs{m: m, settings: s.withDefaults()}, b: b}
	e.listed = listRows(e.settings.Rows)
	e.result.Functions = make([]Outcome, len(fs))
	e.parts = make([]part, len(fs))
	for i := range fs {
		f := fs[i].lowerPeak(m.Lo, m.Hi)
		e.parts[i] = part{f: f, y: dst[i], dest: dst[i],
			out: &e.result.Functions[i]}
	}
	err := e.run(ctx)
	if err != nil && !errors.Is(err, ErrTolerance) {
		return nil, err
	}
	for i := range e.parts {
		p := &e.parts[i]
		if p.f.kind != exponential || p.f.shift == 0 {
			continue
		}
		if err := m.raise(dst[i], p.out, p.f.shift); err != nil {
			return nil, fmt.Errorf("%w: exp(%g·x) on [%.6g, %.6g]", err,
				p.f.rate, m.Lo, m.Hi)
		}
	}
	return &e.result, err
}

// raise multiplies the result y and the bounds in o by exp(s), because [Function.lowerPeak] divided the function by exp(s).
// It multiplies twice by exp(s/2), because exp(s) may overflow. If a bound overflows, it returns [ErrOverflow].
func (m *Map) raise(y *sparse.Block[float64], o *Outcome, s float64) error {
	half := math.Exp(s / 2)
	for _, bound := range []*float64{&o.ErrorBound, &o.NormLowerBound} {
		*bound *= half
		*bound *= half
	}
	if math.IsInf(o.NormLowerBound, 0) || math.IsInf(o.ErrorBound, 0) {
		return ErrOverflow
	}
	for range 2 {
		scaleTo(o.ColumnBound, half, o.ColumnBound)
		scaleTo(o.Rounding, half, o.Rounding)
		blocks.Scale(y, half)
	}
	return nil
}

type evaluation struct {
	costs
	b        *sparse.Block[float64]
	parts    []part
	result   Result
	tooTight error
	listed   []listedRow // rising; nil: all rows

	w     [2]*sparse.Block[float64]
	zero  []float64
	sums  columnSums
	norms []float64 // ‖(B − P₀B)_j‖

	weights rowWeights
}

// part is one function of an evaluation. It adds two terms of its series at a time, so that the result is read and written
// once for two sweeps.
type part struct {
	f         *Function
	y         *sparse.Block[float64] // block to which terms are added
	dest      *sparse.Block[float64] // the result, which may be y
	out       *Outcome
	expansion *expansion
	sums      columnSums
	colNorms  []float64 // column norms of the result so far, in the caller's variables
	null      float64   // norm of the result in the null space
	lower     float64   // lower bound of ‖f(H)B‖
	added     int       // terms in y
	end       int       // last term, if settled
	settled   bool
	measure   int  // term after which the norm is measured
	first     bool // the coming sweep also adds the previous term
	visit     bool
	norms     bool // the coming sweep measures
	scale     bool // the coming sweep is the last
	done      bool

	fit       *stieltjes // fit of the power of a Matérn function; nil if the power is whole
	tame      bool       // exponential that the plan adds; its errors are not reported
	strict    bool       // its remainder may make steeper exponentials unnecessary
	lastReach []float64  // sensitivities up to the last requested end
}

func (e *evaluation) run(ctx context.Context) error {
	plan, err := e.plan(ctx)
	if err != nil {
		return err
	}
	e.result.PredictedSweeps = plan.sweeps
	if len(plan.groups) > 0 || len(plan.rational) > 0 {
		defer e.pickRows()()
	}
	switch {
	case len(plan.groups) == 0 && len(plan.rational) == 0:
		err = e.runSlabs(ctx, plan.series)
	case len(plan.series) > 0:
		err = e.runSeries(ctx, plan.series)
	}
	if err != nil {
		return err
	}
	last := plan.steepest
	for g, group := range plan.groups {
		if last != nil && e.projectRest(last, plan.groups[g:]) {
			break
		}
		if err := e.runResolvent(ctx, group); err != nil {
			return err
		}
		last = group[len(group)-1]
	}
	for _, p := range plan.rational {
		if err := e.solveMatern(ctx, p); err != nil {
			return err
		}
	}
	if err := sched.Cause(ctx); err != nil {
		return err
	}
	return e.tooTight
}

// split stores in w[0] the part of B outside the null space. If scaled is set, it stores this part in the variables of the
// sweeps, which are divided by Map.inner. It sets the results of parts to f of the part in the null space, and sets e.norms
// and e.norm.
func (e *evaluation) split(parts []*part, scaled bool) {
	if e.w[0] == nil || e.w[0].Cols != e.b.Cols {
		for i := range e.w {
			e.w[i] = e.m.slab(e.b.Cols)
		}
		e.norms = make([]float64, e.b.Cols)
		e.zero = make([]float64, e.b.Cols)
	}
	d := division{e: e, m: e.m, parts: parts,
		scratch: make([]rowFactors, sched.Workers(e.m.workers))}
	if scaled {
		d.inner = e.m.inner
	}
	if e.m.null != nil {
		d.share = new(blocks.Share)
		d.share.Compute(e.m.null, e.w[0], e.m.workers, d.fill)
	}
	e.sums.begin(e.m.team, e.b.Cols)
	for _, p := range parts {
		d.nullValues, d.lone = append(d.nullValues, p.f.value(e.m.nullValue)),
			append(d.lone, p.f.value(0))
		p.sums.begin(e.m.team, e.b.Cols)
	}
	e.m.chunks(d.rows)
	e.norm = e.sums.rootsTo(e.norms)
	for _, p := range parts {
		p.colNorms = make([]float64, e.b.Cols)
		p.null = 0
		if e.m.null != nil {
			p.null = p.sums.rootsTo(p.colNorms)
		}
		p.lower = p.leastNorm(e)
	}
}

func scaleTo(dst []float64, f float64, x []float64) {
	for j, v := range x {
		dst[j] = f * v
	}
}

// leastNorm returns a lower bound of the norm of a part's result. An exponential multiplies the part of B outside the null
// space by at least its smaller value at the ends of the interval.
func (p *part) leastNorm(e *evaluation) float64 {
	if p.f.kind != exponential {
		return p.null
	}
	const slack = 1e-9 // rounding errors of the norms
	return math.Hypot(p.null,
		min(p.f.value(e.m.Lo), p.f.value(e.m.Hi))*(1-slack)*e.norm)
}

// tolerance returns the tolerance of a part, smaller for a strict part, whose result may make steeper exponentials
// unnecessary.
func (c *costs) tolerance(p *part) float64 {
	const share = 0.4
	if p.strict {
		return share * c.settings.Tolerance
	}
	return c.settings.Tolerance
}

func (e *evaluation) refuse(p *part) {
	if e.tooTight == nil && !p.tame {
		e.tooTight = fmt.Errorf("%w: asked for %.3g of a result of norm %.3g, where %.3g can be promised; loosen the tolerance",
			ErrTolerance, e.settings.Tolerance, p.out.NormLowerBound,
			p.out.Relative)
	}
}

// valueRounding bounds the relative rounding error of a value of the function, in ε. A power multiplies the error of σ by ν,
// and [math.Pow] errs by about ν/2.
func (f *Function) valueRounding() float64 {
	if f.kind == exponential && f.shift > 0 {
		return 4 // roundings of the two factors of raise
	}
	if f.kind == matern {
		return 2 * f.power
	}
	return 0
}

// finish fills the outcome of a part. bound and columns bound the errors of the result and of its columns, rounded is the
// share of columns that comes from rounding errors, and norm is the norm of the result. finish adds the rounding of the
// result itself to the bounds.
func (p *part) finish(e *evaluation, bound float64, columns, rounded []float64,
	norm float64) {
	o := p.out
	relative := (8 + p.f.valueRounding()) * epsilon
	o.ErrorBound = bound + relative*norm
	o.ColumnBound = columns
	o.Rounding = rounded
	blocks.AddScaled(columns, relative, p.colNorms)
	blocks.AddScaled(rounded, relative, p.colNorms)
	o.NormLowerBound = max(p.lower, norm-o.ErrorBound, 0)
	o.relate()
	if !(o.Relative <= e.settings.Tolerance) { // true if Relative is NaN
		e.refuse(p)
	}
}

func (o *Outcome) relate() {
	o.Relative = 0
	if o.ErrorBound != 0 {
		o.Relative = o.ErrorBound / o.NormLowerBound
	}
}

func (e *evaluation) swept(sweeps, ahead int) {
	e.result.Sweeps += sweeps
	if e.settings.Progress != nil {
		e.settings.Progress("sweeps", int64(e.result.Sweeps),
			int64(e.result.Sweeps+max(ahead, 0)))
	}
}
