package lanczos

import (
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// segment is the number of rows of a panel. A column of a panel has 4 KiB, so that eight fit into the first-level cache. Bits
// of results depend on it.
const segment = blocks.ChunkRows

// A panel is a chunk of rows of a basis: its columns are stored one after the other,
// segment numbers each.

// addDots adds to dst the products of the columns of two panels:
//
//	dst[i·nw+j] += Σ_r v[i][r]·w[j][r],  i < nv, j < nw
//
// It reads two columns of v and four of w at a time. If fewer remain, the last column is read again and its sum ignored.
func addDots(dst, v []float64, nv int, w []float64, nw int) {
	for j := 0; j < nw; j += 4 {
		w0 := column(w, j, nw)
		w1 := column(w, j+1, nw)
		w2 := column(w, j+2, nw)
		w3 := column(w, j+3, nw)
		for i := 0; i < nv; i += 2 {
			var sums [8]float64
			simd.DotPanels(&sums, column(v, i, nv)[:], column(v, i+1, nv)[:], w0[:],
				w1[:], w2[:], w3[:])
			for k := range min(4, nw-j) {
				dst[i*nw+j+k] += sums[k]
				if i+1 < nv {
					dst[(i+1)*nw+j+k] += sums[4+k]
				}
			}
		}
	}
}

// addColumns adds combinations of the columns of v to the columns of w:
//
//	w[j][r] += Σ_i v[i][r]·c[i·nw+j],  i < nv, j < nw
//
// w must not overlap v.
func addColumns(w []float64, nw int, v []float64, nv int, c []float64) {
	var spare [segment]float64
	for j := 0; j < nw; j += 2 {
		w0 := column(w, j, nw)
		w1 := &spare
		pair := 0
		if j+1 < nw {
			w1 = column(w, j+1, nw)
			pair = 1
		}
		for i := 0; i < nv; i += 4 {
			var f [8]float64
			for k := range min(4, nv-i) {
				f[k], f[4+k] = c[(i+k)*nw+j], c[(i+k)*nw+j+pair]
			}
			simd.AddPanels(w0[:], w1[:], column(v, i, nv)[:], column(v, i+1, nv)[:],
				column(v, i+2, nv)[:], column(v, i+3, nv)[:], &f)
		}
	}
}

// column returns column j, or the last column if there is no column j.
func column(panel []float64, j, cols int) *[segment]float64 {
	return (*[segment]float64)(panel[min(j, cols-1)*segment:])
}
