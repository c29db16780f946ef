package iterative

import (
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/internal/tall"
	"github.com/heatwalk/heatwalk/sparse"
)

// part returns the sums of a chunk: which is 0 for rᵀr, 1 for rᵀz.
func (r *run) part(chunk, which int) []float64 {
	k := r.b.Cols
	return r.parts[(2*chunk+which)*k:][:k]
}

// total stores in dst the sums of all chunks in their order, of the columns from
// lo on.
func (r *run) total(dst []float64, lo, which int) {
	clear(dst)
	for chunk := range tall.Chunks(r.b.Rows) {
		tall.AddScaled(dst, 1, r.part(chunk, which)[lo:lo+len(dst)])
	}
}

// rowsOf returns the first and the last row of a chunk, and the end.
func (r *run) rowsOf(chunk int) (lo, hi int) {
	return chunk * tall.ChunkRows, min((chunk+1)*tall.ChunkRows, r.b.Rows)
}

// from returns the rows of a block from row i on.
func from[T sparse.Float](b *sparse.Block[T], i int) simd.Rows[T] {
	return simd.Rows[T]{Data: b.Data[min(i*b.Stride, len(b.Data)):], Stride: b.Stride}
}

// dotRows adds pᵀq over finished rows of a sweep.
func (r *run) dotRows(rows sparse.Rows) {
	simd.DotColumns(r.dots.Of(rows.Range), rows.Hi-rows.Lo, from(r.p, rows.Lo), from(r.q, rows.Lo))
}

// updateChunk is update on one chunk.
func (r *run) updateChunk(_, chunk int) error { return r.lessen(chunk, r.q) }

// measureChunk is measure on one chunk, with α = 0 and anything finite for q.
func (r *run) measureChunk(_, chunk int) error { return r.lessen(chunk, r.r) }

// lessen does r −= q·diag(α) on a chunk, and adds up rᵀr, rᵀz with Jacobi, and the
// null space's share of both.
func (r *run) lessen(chunk int, q *sparse.Block[float64]) error {
	lo, hi := r.rowsOf(chunk)
	rr, rz := r.part(chunk, 0), r.part(chunk, 1)
	clear(rr)
	clear(rz)
	simd.ResidualColumns(from(r.r, lo), from(q, lo), r.alpha, r.weight[lo:hi], r.inverse[lo:hi], rr, rz)
	if r.Null != nil {
		r.null.Clear(chunk)
		for i := lo; i < hi; i++ {
			row := r.r.Row(i)
			r.addNull(i, r.inverse[i], row, row)
		}
	}
	return nil
}

// addNull adds row i's share of the null space in z = f·v and in r. In the
// scaled system they are s∘z and r/s, and the vectors are u.
func (r *run) addNull(i int, f float64, v, res []float64) {
	slot := r.Null.Slot[i]
	if slot >= tall.OwnSlot {
		return
	}
	u, s := r.Null.Unit[i], r.scale(i)
	sums := r.null.At(slot)
	tall.AddScaled(sums, f*u*s, v)
	tall.AddScaled(sums[r.b.Cols:], u/s, res)
}

// projectChunk is projectResidual on one chunk.
func (r *run) projectChunk(_, chunk int) error {
	lo, hi := r.rowsOf(chunk)
	for i := lo; i < hi; i++ {
		row := r.r.Row(i)
		switch slot := r.Null.Slot[i]; {
		case slot == tall.OwnSlot:
			clear(row)
		case slot != tall.NoSlot:
			tall.AddScaled(row, -r.Null.Unit[i]*r.scale(i), r.null.Of(slot)[r.b.Cols:][:len(row)])
		}
	}
	return nil
}

// productsChunk computes rᵀz of a chunk from z.
func (r *run) productsChunk(_, chunk int) error {
	lo, hi := r.rowsOf(chunk)
	rz := r.part(chunk, 1)
	clear(rz)
	simd.DotColumns(rz, hi-lo, from(r.r, lo), from(r.z, lo))
	if r.Null != nil {
		r.null.Clear(chunk)
		for i := lo; i < hi; i++ {
			r.addNull(i, 1, r.z.Row(i), r.r.Row(i))
		}
	}
	return nil
}

// turnChunk is turn on one chunk.
func (r *run) turnChunk(_, chunk int) error {
	lo, hi := r.rowsOf(chunk)
	z, factor := r.r, r.inverse
	if r.z != nil {
		z, factor = r.z, r.ones
	}
	simd.TurnColumns(from(r.x, lo), from(r.p, lo), from(z, lo), r.alpha, r.beta, factor[lo:hi])
	if r.Null != nil {
		for i := lo; i < hi; i++ {
			r.removeNull(i, r.p.Row(i))
		}
	}
	return nil
}

// removeNull takes the null space's share of z out of row i of a direction.
func (r *run) removeNull(i int, p []float64) {
	slot := r.Null.Slot[i]
	switch {
	case slot == tall.NoSlot:
	case slot == tall.OwnSlot:
		clear(p)
	default:
		tall.AddScaled(p, -r.Null.Unit[i]/r.scale(i), r.null.Of(slot)[:len(p)])
	}
}
