package expm

import (
	"context"
	"fmt"
	"math"
	"sort"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

const (
	// rounding allows for rounding errors of a recurrence, in ε·√degree.
	rounding = 25

	// slopeRounding allows, in ε, for rounding errors of products, which move an eigenvalue where the function is steep.
	slopeRounding = 4
)

// errorAt bounds the error of the series that ends with term j, relative to B outside the null space.
func (s *expansion) errorAt(j int) float64 {
	return s.tail[j] + s.roundingAt(j)
}

func (s *expansion) roundingAt(j int) float64 {
	return float64(rounding*max(1,
		s.productRounding)*epsilon*math.Sqrt(float64(j+1))*s.size) +
		float64(slopeRounding*epsilon*s.slope)
}

// reach returns the first j ≥ start for which errorAt(j) ≤ bound. If there is none, it returns the last term and false.
func (s *expansion) reach(start int, bound float64) (j int, ok bool) {
	last := len(s.coef) - 1
	lo, hi := min(max(start, 0), last), last
	if !(s.errorAt(hi) <= bound) {
		// Rounding errors grow with the degree while the tail falls.
		for j := lo; j <= hi; j++ {
			if s.errorAt(j) <= bound {
				return j, true
			}
		}
		return last, false
	}
	return lo + sort.Search(hi-lo,
		func(i int) bool { return s.errorAt(lo+i) <= bound }), true
}

// aim chooses the last term of the series, p.end. If the norm of the result is not known well enough, it chooses p.measure,
// a term after which the norm is measured. The caller then calls aim again with measured set, that term j and the norm.
func (p *part) aim(e *evaluation, j int, norm float64, measured bool) {
	tolerance := e.tolerance(p)
	unit := e.norm
	if unit == 0 {
		p.end = 0
		p.settled = true
		return
	}
	if measured {
		p.lower = max(p.lower, norm-p.expansion.errorAt(j)*unit)
		if p.expansion.errorAt(j)*unit <= tolerance*p.lower ||
			j >= len(p.expansion.coef)-1 {
			p.end = j
			p.settled = true
			return
		}
	}
	settle, ok := p.expansion.reach(j+1, tolerance*p.lower/unit)
	if measured && p.lower >= p.expansion.errorAt(j)*unit {
		p.end = settle
		p.settled = true
		return
	}
	const ahead = 30
	var next int
	if measured {
		next, _ = p.expansion.reach(j+1, p.expansion.errorAt(j)/1000)
	} else {
		next, _ = p.expansion.reach(0, ahead*tolerance*p.expansion.size)
	}
	if ok && settle <= next+1 { // a norm costs about as much as a term
		p.end = settle
		p.settled = true
		return
	}
	p.measure = next
}

// runSeries computes the parts by series in H: one sweep for each term of the longest series.
func (e *evaluation) runSeries(ctx context.Context, parts []*part) error {
	e.split(parts, true)
	for _, p := range parts {
		p.added = 0
		p.measure = 0
		p.settled = false
		p.done = false
		p.aim(e, 0, 0, false)
		p.out.Method = Chebyshev
	}
	e.constants(parts)
	r := recurrence{e: e, m: e.m, parts: parts,
		batch: make([][]float64, sched.Workers(e.m.workers))}
	for w := range r.batch {
		r.batch[w] = make([]float64, max(batchBytes/8, e.b.Cols))
	}
	for j := 1; ; j++ {
		last := 0
		for _, p := range parts {
			if !p.done {
				last = max(last, p.horizon())
			}
		}
		if last == 0 {
			return nil
		}
		if err := r.step(ctx, j, last); err != nil {
			return err
		}
	}
}

func (p *part) horizon() int {
	if p.settled {
		return p.end
	}
	return max(p.measure, 1)
}

func (e *evaluation) constants(parts []*part) {
	for _, p := range parts {
		if len(p.expansion.coef) > 1 && !(p.settled && p.end == 0) {
			continue
		}
		w := e.w[0]
		p.sums.begin(e.m.team, e.b.Cols)
		e.m.chunks(func(_, lo, hi int) {
			sums := p.sums.of(lo/blocks.ChunkRows, lo)
			for i, place := range e.rows(lo, hi) {
				y := p.y.Row(place)
				row := p.dest.Row(place)
				f := blocks.Factor(e.m.inner, i)
				for j, v := range w.Row(i) {
					row[j] = f * (y[j] + float64(p.expansion.coef[0]*v))
				}
				addSquares(sums, 1, row)
			}
		})
		p.end = 0
		p.settled = true
		p.close(e, p.sums.rootsTo(p.colNorms))
	}
}

func (p *part) close(e *evaluation, norm float64) {
	p.done = true
	unit := p.expansion.errorAt(p.end)
	columns := make([]float64, len(e.norms))
	rounded := make([]float64, len(e.norms))
	scaleTo(columns, unit, e.norms)
	scaleTo(rounded, p.expansion.roundingAt(p.end), e.norms)
	p.finish(e, unit*e.norm, columns, rounded, norm)
}

type recurrence struct {
	e     *evaluation
	m     *Map
	parts []*part

	j     int
	x, t  *sparse.Block[float64] // T_{j−1} and T_j
	guard bool                   // the coming sweep measures T_j
	batch [][]float64            // a run of rows for each worker
}

// guardEvery is the number of sweeps after which the norm of the vectors is checked.
const guardEvery = 32

func (r *recurrence) step(ctx context.Context, j, last int) error {
	half := (r.m.Hi - r.m.Lo) / 2
	if half == 0 {
		half = 1
	}
	s := sparse.Step[float64]{Alpha: 1 / half,
		Beta: (r.m.centre - (r.m.Hi+r.m.Lo)/2) / half, Visit: r.rows}
	r.j, r.x, r.t = j, r.e.w[(j-1)%2], r.e.w[j%2]
	if j > 1 {
		s.Alpha = 2 * s.Alpha
		s.Beta = 2 * s.Beta
		s.Delta = -1
		s.Prev = r.t
	}
	r.guard = r.m.unproven && (j%guardEvery == 0 || j == last)
	for _, p := range r.parts {
		p.scheduleTerm(j, r.e)
		r.guard = r.guard || r.m.unproven && p.norms
	}
	r.e.sums.begin(r.m.team, r.e.b.Cols)
	if err := r.m.sweep.StepTo(ctx, r.t, r.x, s); err != nil {
		return err
	}
	r.e.swept(1, last-j)
	if r.guard {
		size := make([]float64, r.e.b.Cols)
		if norm := r.e.sums.rootsTo(size); !(norm <= 1.01*r.e.norm) {
			return fmt.Errorf("%w [%.6g, %.6g]: after %d products vectors have grown by a factor %.3g", ErrInterval, r.m.Lo, r.m.Hi, j, norm/r.e.norm)
		}
	}
	for _, p := range r.parts {
		p.advance(r.e, j)
	}
	return nil
}

func (p *part) scheduleTerm(j int, e *evaluation) {
	p.visit = false
	p.first = false
	p.norms = false
	p.scale = false
	if p.done {
		return
	}
	p.scale = p.settled && j == p.end
	p.schedule(j, p.scale || !p.settled && j == max(p.measure, 1), e)
}

// schedule decides whether the coming pass adds term j. It adds two terms together every other time, and always adds terms
// if norms is set, so that the norm can be measured.
func (p *part) schedule(j int, norms bool, e *evaluation) {
	p.first = j+1-p.added == 2
	p.visit = p.first || norms
	p.norms = norms
	if norms {
		p.sums.begin(e.m.team, e.b.Cols)
	}
}

// advance updates the part after the sweep that computed T_j.
func (p *part) advance(e *evaluation, j int) {
	if p.visit {
		p.added = j + 1
	}
	if !p.norms {
		return
	}
	norm := p.sums.rootsTo(p.colNorms)
	if p.scale {
		p.close(e, norm)
		return
	}
	p.aim(e, j, norm, true)
	if p.settled && p.end <= j {
		p.end = j
		p.unscale(e)
		p.close(e, norm)
	}
}

func (p *part) unscale(e *evaluation) {
	if e.m.inner == nil && p.y == p.dest {
		return
	}
	for _, l := range e.listed {
		scaleTo(p.dest.Row(l.place), blocks.Factor(e.m.inner, l.row), p.y.Row(l.place))
	}
	if e.listed != nil {
		return
	}
	e.m.chunks(func(_, lo, hi int) {
		scaleRows(p.dest, p.y, lo, hi, backFactors(e.m.inner, lo, hi), e.zero)
	})
}

func backFactors(inner []float64, lo, hi int) []float64 {
	if inner == nil {
		return unitFactor
	}
	return inner[lo:hi]
}

var unitFactor = []float64{1}

// batchBytes is the size of a run of rows that stays in the nearest cache.
const batchBytes = 16 << 10

// rows adds the scheduled terms to the results in these rows, while T_j and T_{j−1} are in the cache.
func (r *recurrence) rows(rows sparse.Rows) {
	k := r.e.b.Cols
	batch := max(1, batchBytes/(8*k))
	scratch := r.batch[rows.Worker]
	if r.guard {
		sums := r.e.sums.of(rows.Range, rows.Lo)
		for lo := rows.Lo; lo < rows.Hi; lo += batch {
			hi := min(lo+batch, rows.Hi)
			t := simd.RowsOf(r.t.Data, r.t.Stride, lo)
			if r.m.inner != nil {
				t = simd.Rows[float64]{Data: scratch, Stride: k}
				simd.AddRows(t, hi-lo, k, simd.Rows[float64]{Data: r.e.zero},
					r.m.inner[lo:hi], simd.RowsOf(r.t.Data, r.t.Stride, lo))
			}
			simd.DotColumns(sums, hi-lo, t, t)
		}
	}
	for _, p := range r.parts {
		if !p.visit {
			continue
		}
		var sums []float64
		if p.norms {
			sums = p.sums.of(rows.Range, rows.Lo)
		}
		if r.e.listed != nil {
			r.addListed(p, rows.Lo, rows.Hi, scratch, sums)
			continue
		}
		for lo := rows.Lo; lo < rows.Hi; lo += batch {
			hi := min(lo+batch, rows.Hi)
			y := p.addTerms(r.j, lo, hi, r.x, r.t)
			if !p.norms {
				continue
			}
			seen := simd.Rows[float64]{Data: scratch, Stride: k}
			if p.scale {
				seen = simd.RowsOf(p.dest.Data, p.dest.Stride, lo)
			}
			simd.AddRows(seen, hi-lo, k, simd.Rows[float64]{Data: r.e.zero},
				backFactors(r.m.inner, lo, hi), y)
			simd.DotColumns(sums, hi-lo, seen, seen)
		}
	}
}

// addTerms adds term j to the rows lo ≤ i < hi of the result and returns these rows. t holds the vectors of term j, and x the
// vectors of the previous term, which is added if first is set.
func (p *part) addTerms(j, lo, hi int, x, t *sparse.Block[float64]) simd.Rows[float64] {
	y := simd.RowsOf(p.y.Data, p.y.Stride, lo)
	if p.first {
		simd.AddRows(y, hi-lo, t.Cols, y, p.expansion.coef[j-1:j], simd.RowsOf(x.Data, x.Stride, lo))
	}
	simd.AddRows(y, hi-lo, t.Cols, y, p.expansion.coef[j:j+1], simd.RowsOf(t.Data, t.Stride, lo))
	return y
}
