package iterative

import "github.com/heatwalk/heatwalk/sparse"

// part returns the sums of a chunk: which is 0 for rᵀr, 1 for rᵀz.
func (r *run) part(chunk, which int) []float64 {
	k := r.b.Cols
	return r.parts[(2*chunk+which)*k:][:r.width]
}

// total stores in dst the sums of all chunks in their order.
func (r *run) total(dst []float64, which int) {
	clear(dst)
	for chunk := range chunkCount(r.b.Rows) {
		addScaled(dst, 1, r.part(chunk, which))
	}
}

// factors returns what row i's residual is multiplied by for its norm and for
// Jacobi's z.
func (r *run) factors(i int, inverse []float64) (norm, z float64) {
	norm, z = 1, 1
	if r.Scale != nil {
		norm = 1 / r.Scale[i]
	}
	if inverse != nil {
		z = inverse[i]
	}
	return norm, z
}

// dotRows adds pᵀq over finished rows of a sweep.
func (r *run) dotRows(rows sparse.Rows) {
	sums := r.dots.of(rows.Range)
	for i := rows.Lo; i < rows.Hi; i++ {
		p, q := r.p.Row(i)[:len(sums)], r.q.Row(i)[:len(sums)]
		for j := range sums {
			sums[j] += float64(p[j] * q[j])
		}
	}
}

// updateChunk is update on one chunk.
func (r *run) updateChunk(_, chunk int) error { return r.residualChunk(chunk, r.alpha[:r.width]) }

// measureChunk computes the sums of update and leaves r as it is.
func (r *run) measureChunk(_, chunk int) error { return r.residualChunk(chunk, nil) }

func (r *run) residualChunk(chunk int, alpha []float64) error {
	inverse, general := r.diagonal()
	project := r.Null != nil && !general
	if project {
		r.null.clear(chunk)
	}
	rr, rz := r.part(chunk, 0), r.part(chunk, 1)
	clear(rr)
	clear(rz)
	for i := chunk * chunkRows; i < min((chunk+1)*chunkRows, r.b.Rows); i++ {
		res, q := r.r.Row(i)[:r.width], r.q.Row(i)[:r.width]
		norm, f := r.factors(i, inverse)
		for j, a := range alpha {
			res[j] -= float64(a * q[j])
		}
		for j, v := range res {
			w := norm * v
			rr[j] += float64(w * w)
			rz[j] += float64(f * v * v)
		}
		if project {
			r.addNull(i, f, res, res)
		}
	}
	return nil
}

// addNull adds row i's share of the null space in z = f·v and in r. In the
// scaled system they are s∘z and r/s, and the vectors are u.
func (r *run) addNull(i int, f float64, v, res []float64) {
	slot := r.Null.slot[i]
	if slot >= ownSlot {
		return
	}
	u, s := r.Null.unit[i], 1.0
	if r.Scale != nil {
		s = r.Scale[i]
	}
	sums := r.null.at(slot)
	addScaled(sums, f*u*s, v)
	addScaled(sums[r.b.Cols:], u/s, res)
}

// productsChunk computes rᵀz of a chunk from z.
func (r *run) productsChunk(_, chunk int) error {
	if r.Null != nil {
		r.null.clear(chunk)
	}
	rz := r.part(chunk, 1)
	clear(rz)
	for i := chunk * chunkRows; i < min((chunk+1)*chunkRows, r.b.Rows); i++ {
		res, z := r.r.Row(i)[:r.width], r.z.Row(i)[:r.width]
		for j := range rz {
			rz[j] += float64(res[j] * z[j])
		}
		if r.Null != nil {
			r.addNull(i, 1, z, res)
		}
	}
	return nil
}

// turnChunk is turn on one chunk.
func (r *run) turnChunk(_, chunk int) error {
	inverse, general := r.diagonal()
	alpha, beta := r.alpha[:r.width], r.beta[:r.width]
	for i := chunk * chunkRows; i < min((chunk+1)*chunkRows, r.b.Rows); i++ {
		x, p, z := r.x.Row(i)[:r.width], r.p.Row(i)[:r.width], r.r.Row(i)[:r.width]
		_, f := r.factors(i, inverse)
		if general {
			z, f = r.z.Row(i)[:r.width], 1
		}
		for j, a := range alpha {
			x[j] += float64(a * p[j])
			p[j] = float64(f*z[j]) + float64(beta[j]*p[j])
		}
		if r.Null != nil {
			r.removeNull(i, p)
		}
	}
	return nil
}

// removeNull takes the null space's share of z out of row i of a direction.
func (r *run) removeNull(i int, p []float64) {
	slot := r.Null.slot[i]
	switch {
	case slot == noSlot:
	case slot == ownSlot:
		clear(p)
	default:
		f := r.Null.unit[i]
		if r.Scale != nil {
			f /= r.Scale[i]
		}
		addScaled(p, -f, r.null.of(slot)[:len(p)])
	}
}
