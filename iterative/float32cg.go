package iterative

import (
	"context"
	"math"
	"unsafe"

	"github.com/heatwalk/heatwalk/internal/blocks"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/sparse"
)

// single solves for corrections in float32, because a step then reads and writes half as
// much: from the true residual R of X, conjugate gradients in float32 find Y
// with A·Y ≈ R to four digits, and X + Y is the next X, whose residual is
// computed in float64 again (iterative refinement, Wilkinson 1963; with an inner
// iteration, Golub and Ye 1999). No residual in a [Result] is one of float32.
//
// A round costs a sweep in float64, and a step or two because the recurrence
// begins anew. Its blocks lie in the memory of p and q.
type single struct {
	a    sparse.Applier[float32]
	slab int // most columns of B that take part in a sweep

	// The slab under way: which columns, and their X, R, P and A·P, scaled to
	// residuals of 1 to 2.
	lo, hi     int
	x, r, p, q *sparse.Block[float32]

	// By column of B.
	scale         []float64 // a power of two; 0 for a column that takes no part
	square        []float64 // 1/scale², or 0
	startResidual []float64 // the residual of the column at which the round began
	goal          []float64 // the residual at which the column pauses
	left          []bool    // the column is left to float64

	dots sched.Sums
	run  *run // whose columns are solved for
}

const (
	// goalOfRound is by how much a round is to lessen a residual, leastOfRound
	// by how much it must for another one to follow.
	goalOfRound  = 1e-4
	leastOfRound = 0.1

	// singleSteps is the number of steps after which a column is left to
	// float64, because where more are needed rounding delays convergence.
	singleSteps = 100

	// singleColumns is the number of columns of a slab where the matrix stays
	// in memory. A step reads and writes 20 bytes a number in addition to the product;
	// wide blocks leave every cache.
	singleColumns = 32

	// Beyond these diagonals float32 might overflow or underflow.
	leastDiagonal, mostDiagonal = 0x1p-50, 0x1p50
)

// newSingle returns a solver in float32 for an operator with this diagonal, or
// nil if its numbers may be too large or too small.
func newSingle(a *sparse.Operator[float64], diag []float64) *single {
	team, extreme := a.Team(), []float64{0}
	for i, d := range diag {
		if !(d >= leastDiagonal && d <= mostDiagonal) && !team.IsPadding(i) {
			extreme[0] = 1
		}
	}
	if team.Max(extreme); extreme[0] != 0 {
		return nil
	}
	s := &single{
		a:    &sparse.Operator[float32]{A: a.A, Scale: a.Scale, Left: a.Left, Right: a.Right, Diag: a.Diag, Workers: a.Workers},
		slab: singleColumns,
	}
	if m, ok := a.A.(sparse.Resident); ok && !m.Resident() {
		s.slab = math.MaxInt
	}
	return s
}

// begin prepares for a run.
func (s *single) begin(r *run) {
	s.run = r
	k := r.v.b.Cols
	for _, v := range []*[]float64{&s.scale, &s.square, &s.startResidual, &s.goal} {
		*v = blocks.Grow(*v, k)
	}
	s.left = blocks.Grow(s.left, k)
	clear(s.left)
}

// approach makes rounds of corrections in float32 until every column has
// converged, is waiting, has done its steps, or is left to float64. The
// residuals in r are the true ones then.
func (s *single) approach(ctx context.Context, r *run) error {
	s.begin(r)
	k := r.v.b.Cols
	for {
		began := false
		for j := range r.columns {
			s.scale[j], s.square[j] = 0, 0
			if c := &r.columns[j]; c.status == live && !s.left[j] {
				_, exponent := math.Frexp(c.residual)
				s.scale[j], s.square[j] = math.Ldexp(1, 1-exponent), math.Ldexp(1, 2*exponent-2)
				s.startResidual[j], s.goal[j] = c.residual, max(c.target, goalOfRound*c.residual)
				began = true
			}
		}
		if !began {
			return nil
		}
		for lo := 0; lo < k; lo += min(s.slab, k-lo) {
			if err := s.descend(ctx, lo, lo+min(s.slab, k-lo)); err != nil {
				return err
			}
		}
		if err := s.refine(ctx); err != nil {
			return err
		}
	}
}

// refine computes the true residuals after a round.
func (s *single) refine(ctx context.Context) error {
	r := s.run
	for j := range r.columns { // none has converged but by its true residual
		if c := &r.columns[j]; c.status == paused || c.status == converged {
			c.status = live
		}
	}
	if err := r.rec.subtractAgain(ctx); err != nil {
		return err
	}
	if err := r.open(ctx); err != nil {
		return err
	}
	stalled, err := r.discard(ctx)
	if stalled && err == nil {
		err = r.open(ctx)
	}
	if err != nil {
		return err
	}
	for j := range r.columns {
		if s.scale[j] > 0 && !(r.columns[j].residual <= leastOfRound*s.startResidual[j]) {
			s.left[j] = true
		}
	}
	return nil
}

// descend is a round of the columns lo ≤ j < hi.
func (s *single) descend(ctx context.Context, lo, hi int) error {
	r := s.run
	s.lo, s.hi = lo, hi
	s.r, s.p = halves(r.v.p, hi-lo)
	s.x, s.q = halves(r.v.q, hi-lo)
	clear(r.v.alpha[lo:hi])
	clear(r.v.beta[lo:hi])
	if err := r.v.chunks(ctx, func(r *passes, chunk, lo, hi int) { r.cg.single.startChunk(chunk, lo, hi) }); err != nil {
		return err
	}
	s.unscaledTotals()
	columns := r.columns[lo:hi]
	for j := range columns {
		columns[j].rz = r.rec.rz[lo+j]
	}
	for s.goes(columns) {
		if err := s.step(ctx); err != nil {
			return err
		}
	}
	unscaled := r.v.alpha[lo:hi] // 0 for columns that take no part: their y is 0
	for j := range unscaled {
		unscaled[j] = 0
		if f := s.scale[lo+j]; f > 0 {
			unscaled[j] = 1 / f
		}
	}
	return r.v.chunks(ctx, func(r *passes, _, first, end int) {
		for i := first; i < end; i++ {
			x := r.x.Row(i)[lo:hi]
			for j, y := range s.x.Row(i)[:len(x)] {
				x[j] += float64(y) * unscaled[j]
			}
		}
	})
}

// goes reports whether a column of the slab has not reached its goal.
func (s *single) goes(columns []column) bool {
	for j := range columns {
		if columns[j].status == live && s.scale[s.lo+j] > 0 {
			return true
		}
	}
	return false
}

// step is [run.step] for the slab.
func (s *single) step(ctx context.Context) error {
	r := s.run
	columns := r.columns[s.lo:s.hi]
	s.dots.Begin(len(columns))
	r.rec.result.Sweeps++
	if err := s.a.StepTo(ctx, s.q, s.p, sparse.Step[float32]{Alpha: 1, Visit: s.dotRows}); err != nil {
		return err
	}
	products := r.rec.products[s.lo:s.hi]
	s.dots.TotalTo(products)
	r.v.team.Sum(products)
	for j := range columns {
		c := &columns[j]
		r.v.alpha[s.lo+j] = c.advance(products[j] * s.square[s.lo+j])
		if c.status == indefinite {
			c.status, s.left[s.lo+j] = paused, true
		}
	}
	if err := r.v.chunks(ctx, func(r *passes, chunk, lo, hi int) { r.cg.single.updateChunk(chunk, lo, hi) }); err != nil {
		return err
	}
	s.unscaledTotals()
	for j := range columns {
		c := &columns[j]
		r.v.beta[s.lo+j] = c.turn(r.rec.rr[s.lo+j], r.rec.rz[s.lo+j])
		switch slow := c.steps >= singleSteps; {
		case c.status == noDirection, c.status == live && slow:
			c.status, s.left[s.lo+j] = paused, true
		case c.status == live && c.residual <= s.goal[s.lo+j]:
			c.status = paused
		}
	}
	if err := r.v.chunks(ctx, func(r *passes, chunk, lo, hi int) { r.cg.single.turnChunk(chunk, lo, hi) }); err != nil {
		return err
	}
	r.rec.result.Steps++
	r.record()
	if r.cg.ladder != nil {
		r.cg.ladder.review(columns)
	}
	return nil
}

// unscaledTotals stores the slab's rᵀr and rᵀz in rr and rz.
func (s *single) unscaledTotals() {
	r := s.run
	for which, sums := range [][]float64{r.rec.rr[s.lo:s.hi], r.rec.rz[s.lo:s.hi]} {
		r.v.total(sums, s.lo, which)
		for j := range sums {
			sums[j] *= s.square[s.lo+j]
		}
	}
}

// startChunk begins from the residual of a chunk: r = z/f, p = z, x = 0.
func (s *single) startChunk(chunk, lo, hi int) {
	r := s.run
	for i := lo; i < hi; i++ {
		clear(s.x.Row(i))
		clear(s.p.Row(i))
		clear(s.q.Row(i))
		target := s.r.Row(i)
		for j, v := range r.v.r.Row(i)[s.lo:s.hi] {
			target[j] = float32(v * s.scale[s.lo+j])
		}
	}
	s.updateChunk(chunk, lo, hi)
	s.turnChunk(chunk, lo, hi)
}

// dotRows adds pᵀq over finished rows of a sweep.
func (s *single) dotRows(rows sparse.Rows) {
	if !s.run.v.team.Counts(rows.Lo) {
		return
	}
	simd.DotColumns(s.dots.Of(rows.Range), rows.Hi-rows.Lo, blocks.Rows(s.p, rows.Lo), blocks.Rows(s.q, rows.Lo))
}

// updateChunk is [passes.updateChunk] for the slab.
func (s *single) updateChunk(chunk, lo, hi int) {
	r := s.run
	rr, rz := r.v.part(chunk, 0)[s.lo:s.hi], r.v.part(chunk, 1)[s.lo:s.hi]
	clear(rr)
	clear(rz)
	simd.ResidualColumns(blocks.Rows(s.r, lo), blocks.Rows(s.q, lo), r.v.alpha[s.lo:s.hi], r.v.weight[lo:hi], r.v.inverse[lo:hi], rr, rz)
}

// turnChunk is [passes.turnChunk] for the slab.
func (s *single) turnChunk(_, lo, hi int) {
	r := s.run
	simd.TurnColumns(blocks.Rows(s.x, lo), blocks.Rows(s.p, lo), blocks.Rows(s.r, lo), r.v.alpha[s.lo:s.hi], r.v.beta[s.lo:s.hi], r.v.inverse[lo:hi])
}

// halves returns the memory of a block as two blocks of float32 with cols of
// its columns.
func halves(b *sparse.Block[float64], cols int) (first, second *sparse.Block[float32]) {
	stride := min(sparse.Stride[float32](cols), b.Stride)
	data := unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(b.Data))), 2*len(b.Data))
	size := b.Rows * stride
	first = &sparse.Block[float32]{Rows: b.Rows, Cols: cols, Stride: stride, Data: data[:size:size]}
	second = &sparse.Block[float32]{Rows: b.Rows, Cols: cols, Stride: stride, Data: data[size : 2*size]}
	return first, second
}
