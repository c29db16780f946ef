package symmetric

import "github.com/heatwalk/heatwalk/internal/simd"

const (
	block   = 32  // reflections that are applied together, a multiple of 4
	group   = 32  // vectors of one piece of parallel work, a multiple of 4
	segment = 512 // numbers of each vector that stay in the nearest cache, a multiple of 4
)

// turn multiplies the eigenvectors of T, which are rows from row first on, by Q. The reflections of a block are
//
//	I − Y·F·Yᵀ,  with an upper triangle F
//
// (Schreiber and Van Loan 1989), so that two passes over the vectors apply all reflections of the block.
func (r *reduction) turn(rows []float64, first int) {
	blocks := (r.n + block - 1) / block
	factors := make([][block * block]float64, blocks)
	r.runPieces(blocks, func(b int) { r.factorTo(&factors[b], b) })
	r.runPieces((r.n-first+group-1)/group, func(index int) {
		lo := first + index*group
		for b := blocks - 1; b >= 0; b-- {
			r.turnBy(rows, lo, min(lo+group, r.n), b, &factors[b])
		}
	})
}

// reflection returns the columns lo ≤ c < hi of the vector v of reflection k of block b. After the last reflection it
// returns the last v, so that callers can always read groups of 4.
func (r *reduction) reflection(b, k, lo, hi int) []float64 {
	return r.row(min(b*block+k, r.width-1))[lo:hi]
}

// factorTo stores in f the triangle F of block b:
//
//	F_jj = τ_j,  F_ij = −τ_j·Σ_k F_ik·(v_k·v_j),  i ≤ k < j
func (r *reduction) factorTo(f *[block * block]float64, b int) {
	start := (b*block + 1) &^ 3
	for j := range min(block, r.n-b*block) {
		tau := r.tau[b*block+j]
		v := r.reflection(b, j, start, r.width)
		var products [block]float64
		for k := 0; k < j; k += 4 {
			var sums [8]float64
			simd.DotPanels(&sums, v, v, r.reflection(b, k, start, r.width), r.reflection(b, k+1, start, r.width),
				r.reflection(b, k+2, start, r.width),
				r.reflection(b, k+3, start, r.width))
			copy(products[k:], sums[:4])
		}
		for i := range j {
			var sum float64
			for k := i; k < j; k++ {
				sum += f[i*block+k] * products[k]
			}
			f[i*block+j] = -tau * sum
		}
		f[j*block+j] = tau
	}
}

// turnBy applies the reflections of a block to the rows first ≤ i < last.
func (r *reduction) turnBy(rows []float64, first, last, b int,
	f *[block * block]float64) {
	start := (b*block + 1) &^ 3
	row := func(i, lo, hi int) []float64 { return rows[min(i, last-1)*r.width:][lo:hi] }
	var products, factors [group][block]float64
	for lo := start; lo < r.width; lo += segment {
		hi := min(lo+segment, r.width)
		for i := first; i < last; i += 4 {
			for k := 0; k < block; k += 2 {
				var sums [8]float64
				simd.DotPanels(&sums, r.reflection(b, k, lo, hi), r.reflection(b, k+1, lo, hi),
					row(i, lo, hi), row(i+1, lo, hi), row(i+2, lo, hi),
					row(i+3, lo, hi))
				for l := range 4 {
					products[i-first+l][k] += sums[l]
					products[i-first+l][k+1] += sums[4+l]
				}
			}
		}
	}
	for i := range last - first {
		for k := range block {
			var sum float64
			for l := k; l < block; l++ {
				sum += f[k*block+l] * products[i][l]
			}
			factors[i][k] = -sum
		}
	}
	var spare [segment]float64
	for lo := start; lo < r.width; lo += segment {
		hi := min(lo+segment, r.width)
		for i := first; i < last; i += 2 {
			p := row(i, lo, hi)
			q := spare[:hi-lo]
			offset := i - first
			if i+1 < last {
				q = row(i+1, lo, hi)
				offset = i + 1 - first
			}
			for k := 0; k < block; k += 4 {
				var c [8]float64
				copy(c[:4], factors[i-first][k:])
				copy(c[4:], factors[offset][k:])
				simd.AddPanels(p, q, r.reflection(b, k, lo, hi), r.reflection(b, k+1, lo, hi),
					r.reflection(b, k+2, lo, hi), r.reflection(b, k+3, lo, hi), &c)
			}
		}
	}
}
