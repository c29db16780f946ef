package lanczos

// segment is the number of rows of a basis that stand together: a column's
// part of a chunk, 4 KiB, so that eight of them fit into the nearest cache.
// Sums over rows are added by segments; bits of results depend on it.
const segment = 512

// A panel is a chunk of rows of a basis: its columns one after the other,
// segment numbers each.

// addDots adds to dst the products of the columns of two panels:
//
//	dst[i·stride+j] += Σ_r v[i][r]·w[j][r],  i < nv, j < nw
//
// Two columns of v and four of w are read at a time. Products are rounded
// before they are added, here and in addColumns.
func addDots(dst []float64, stride int, v []float64, nv int, w []float64, nw int) {
	for j := 0; j < nw; j += 4 {
		w0, w1 := column(w, j, nw), column(w, j+1, nw)
		w2, w3 := column(w, j+2, nw), column(w, j+3, nw)
		for i := 0; i < nv; i += 2 {
			v0, v1 := column(v, i, nv), column(v, i+1, nv)
			var a0, a1, a2, a3, b0, b1, b2, b3 float64
			for r := range segment {
				x, y := v0[r], v1[r]
				p, q, s, t := w0[r], w1[r], w2[r], w3[r]
				a0 += float64(x * p)
				a1 += float64(x * q)
				a2 += float64(x * s)
				a3 += float64(x * t)
				b0 += float64(y * p)
				b1 += float64(y * q)
				b2 += float64(y * s)
				b3 += float64(y * t)
			}
			row := [...]float64{a0, a1, a2, a3, b0, b1, b2, b3}
			for k := range min(4, nw-j) {
				dst[i*stride+j+k] += row[k]
				if i+1 < nv {
					dst[(i+1)*stride+j+k] += row[4+k]
				}
			}
		}
	}
}

// addColumns adds to the columns of w those of v, combined:
//
//	w[j][r] += Σ_i v[i][r]·c[i·stride+j],  i < nv, j < nw
//
// w must not overlap v.
func addColumns(w []float64, nw int, v []float64, nv int, c []float64, stride int) {
	var dummy [segment]float64
	for j := 0; j < nw; j += 2 {
		w0, w1, pair := column(w, j, nw), &dummy, 0
		if j+1 < nw {
			w1, pair = column(w, j+1, nw), 1
		}
		for i := 0; i < nv; i += 4 {
			v0, v1 := column(v, i, nv), column(v, i+1, nv)
			v2, v3 := column(v, i+2, nv), column(v, i+3, nv)
			var a, b [4]float64
			for k := range min(4, nv-i) {
				a[k], b[k] = c[(i+k)*stride+j], c[(i+k)*stride+j+pair]
			}
			a0, a1, a2, a3 := a[0], a[1], a[2], a[3]
			b0, b1, b2, b3 := b[0], b[1], b[2], b[3]
			for r := range segment {
				p, q, s, t := v0[r], v1[r], v2[r], v3[r]
				w0[r] += float64(p*a0) + float64(q*a1) + (float64(s*a2) + float64(t*a3))
				w1[r] += float64(p*b0) + float64(q*b1) + (float64(s*b2) + float64(t*b3))
			}
		}
	}
}

// column returns column j of a panel, or the last one beyond the end.
func column(panel []float64, j, cols int) *[segment]float64 {
	return (*[segment]float64)(panel[min(j, cols-1)*segment:])
}
