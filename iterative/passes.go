package iterative

import (
	"slices"

	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

func (r *passes) unit() []float64 {
	if n := r.b.Rows; len(r.ones) != n {
		r.ones = slices.Repeat([]float64{1}, n)
	}
	return r.ones
}

// part returns the sums of a chunk by column: rᵀr if which is 0, rᵀz if which is 1.
func (r *passes) part(chunk, which int) []float64 {
	k := r.b.Cols
	return r.parts[(2*chunk+which)*k:][:k]
}

// total stores in dst the sums over all rows: rᵀr if which is 0, rᵀz if which is 1. It adds the sums of chunks in order,
// and then the sums of processes.
func (r *passes) total(dst []float64, which int) {
	clear(dst)
	for chunk := range blocks.Chunks(r.b.Rows) {
		if r.team.Counts(chunk * blocks.ChunkRows) {
			blocks.AddScaled(dst, 1, r.part(chunk, which))
		}
	}
	r.team.Sum(dst)
}

func (r *passes) dotRows(rows sparse.Rows) {
	if !r.team.Counts(rows.Lo) {
		return
	}
	simd.DotColumns(r.dots.Of(rows.Range), rows.Hi-rows.Lo,
		simd.RowsOf(r.p.Data, r.p.Stride, rows.Lo), simd.RowsOf(r.q.Data, r.q.Stride, rows.Lo))
}

// lessen computes r −= q·diag(α) on a chunk, the rows lo to hi. It adds up rᵀr and the part of r in the null space. If the
// preconditioner is Jacobi's, it also adds up rᵀz and the part of z.
func (r *passes) lessen(chunk, lo, hi int, q *sparse.Block[float64]) {
	rr := r.part(chunk, 0)
	rz := r.part(chunk, 1)
	clear(rr)
	clear(rz)
	var weights [blocks.ChunkRows]float64 // weight of each row in the norm of a residual
	for i := range hi - lo {
		s := blocks.Factor(r.cg.Scale, lo+i)
		weights[i] = 1 / (s * s)
	}
	simd.ResidualColumns(simd.RowsOf(r.r.Data, r.r.Stride, lo), simd.RowsOf(q.Data, q.Stride, lo), r.alpha,
		weights[:hi-lo], r.inverse[lo:hi], rr, rz)
	if r.cg.Null == nil {
		return
	}
	var room [blocks.ChunkRows]float64
	r.null.Clear(chunk)
	r.null.Add(lo, hi, r.b.Cols, r.null.factors(&room, lo, hi, true), r.r)
	if r.z == nil {
		for i, u := range r.null.factors(&room, lo, hi, false) {
			room[i] = u * r.inverse[lo+i]
		}
		r.null.Add(lo, hi, 0, room[:hi-lo], r.r)
	}
}

func (r *passes) productsChunk(chunk, lo, hi int) {
	rz := r.part(chunk, 1)
	clear(rz)
	simd.DotColumns(rz, hi-lo, simd.RowsOf(r.r.Data, r.r.Stride, lo), simd.RowsOf(r.z.Data, r.z.Stride, lo))
	r.addNull(chunk, lo, hi, r.z)
}

func (r *passes) addNull(chunk, lo, hi int, z *sparse.Block[float64]) {
	if r.cg.Null != nil {
		var room [blocks.ChunkRows]float64
		r.null.Clear(chunk)
		r.null.Add(lo, hi, 0, r.null.factors(&room, lo, hi, false), z)
	}
}

func (r *passes) turnChunk(_, lo, hi int) {
	z := r.r
	factor := r.inverse
	if r.z != nil {
		z = r.z // inverse is 1 here
	}
	simd.TurnColumns(simd.RowsOf(r.x.Data, r.x.Stride, lo), simd.RowsOf(r.p.Data, r.p.Stride, lo), simd.RowsOf(z.Data, z.Stride, lo),
		r.alpha, r.beta, factor[lo:hi])
	r.removeNull(lo, hi, r.p)
}

func (r *passes) removeNull(lo, hi int, p *sparse.Block[float64]) {
	if r.cg.Null != nil {
		var room [blocks.ChunkRows]float64
		r.null.Subtract(lo, hi, 0, r.null.factors(&room, lo, hi, true), p, p)
	}
}
