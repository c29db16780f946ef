package symmetric

import (
	"gonum.org/v1/gonum/blas"
	lapack "gonum.org/v1/gonum/lapack/gonum"
	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/internal/simd"
)

const (
	panel = 16  // reflections after which the rest of the matrix follows, a multiple of 4
	piece = 64  // rows that one worker takes up, a multiple of 4
	tile  = 128 // columns in which they follow: what the pairs have there stays in the nearest cache
)

// reduction makes a matrix A tridiagonal by reflections I − τ·v·vᵀ (Householder
// 1958). Those of a panel of columns change the rest of A in one pass (Dongarra,
// Sorensen and Hammarling 1989):
//
//	A ← A − Σ (v·wᵀ + w·vᵀ)
//
// A is stored whole, so that both its product with v and that pass take rows,
// which are padded to a multiple of 4. Rows and columns stand in reverse, so
// that T begins with what is left last, as QL prefers it.
type reduction struct {
	each  func(pieces int, do func(piece int))
	width int       // of A, padded
	a     []float64 // width rows
	pairs []float64 // v, w, v, w, … of the panel
	x, y  []float64
	spare []float64
}

// reduce returns T and the rows of Q, with H = Q·T·Qᵀ.
func reduce(h *mat.SymDense, each func(pieces int, do func(piece int))) (Tridiagonal, []float64) {
	n := h.SymmetricDim()
	width := (n + 3) &^ 3
	r := &reduction{
		each: each, width: width, a: make([]float64, width*width), pairs: make([]float64, 2*panel*width),
		x: make([]float64, width), y: make([]float64, width), spare: make([]float64, width),
	}
	for i := range n {
		for j := range n {
			r.a[i*width+j] = h.At(n-1-i, n-1-j)
		}
	}
	t := Tridiagonal{make([]float64, n), make([]float64, n-1)}
	// The reflections as LAPACK has them, those of the last columns first.
	q, tau := make([]float64, n*n), make([]float64, n-1)
	var impl lapack.Implementation
	for first := 0; first < n; first += panel {
		clear(r.pairs)
		last := min(first+panel, n)
		for j := first; j < last; j++ {
			held, from, i := 2*(j-first), j&^3, n-1-j
			copy(r.x[from:], r.row(j)[from:])
			r.follow(r.x, r.spare, from, width, held, j, j)
			t.Diag[i] = r.x[j]
			if i == 0 {
				break
			}
			t.Off[i-1], tau[i-1] = impl.Dlarfg(i, r.x[j+1], r.x[min(j+2, n-1):n], 1)
			clear(r.x[:j+1])
			r.x[j+1] = 1
			for k := range i - 1 {
				q[k*n+i] = r.x[n-1-k]
			}
			r.reflect(j, held, tau[i-1])
		}
		if last < n {
			r.update(last, 2*panel)
		}
	}
	if n == 1 {
		q[0] = 1
		return t, q
	}
	ask := make([]float64, 1)
	impl.Dorgtr(blas.Upper, n, q, n, tau, ask, -1)
	work := make([]float64, int(ask[0]))
	impl.Dorgtr(blas.Upper, n, q, n, tau, work, len(work))
	return t, q
}

func (r *reduction) row(i int) []float64 { return r.a[i*r.width:][:r.width] }

func (r *reduction) pair(i int) []float64 { return r.pairs[i*r.width:][:r.width] }

// follow adds to two rows of A, i and j, what the pairs held change of them, in
// the columns from ≤ c < to.
func (r *reduction) follow(p, q []float64, from, to, held, i, j int) {
	for k := 0; k < held; k += 4 {
		var c [8]float64
		for l := range 4 {
			partner := r.pair((k + l) ^ 1)
			c[l], c[4+l] = -partner[i], -partner[j]
		}
		r.add(p, q, from, to, k, &c)
	}
}

// add adds combinations of the four pairs from k on.
func (r *reduction) add(p, q []float64, from, to, k int, c *[8]float64) {
	simd.AddPanels(p[from:to], q[from:to], r.pair(k)[from:to], r.pair(k + 1)[from:to], r.pair(k + 2)[from:to], r.pair(k + 3)[from:to], c)
}

// reflect appends v, which is x, and w to the pairs:
//
//	w = τ·A·v − ½τ²(vᵀA·v)·v
func (r *reduction) reflect(j, held int, tau float64) {
	from := (j + 1) &^ 3
	v := r.x[from:]
	r.each((r.width-from+piece-1)/piece, func(at int) {
		lo := from + at*piece
		for i := lo; i < min(lo+piece, r.width); i += 4 {
			var sums [8]float64
			simd.DotPanels(&sums, v, v, r.row(i)[from:], r.row(i + 1)[from:], r.row(i + 2)[from:], r.row(i + 3)[from:])
			copy(r.y[i:i+4], sums[:4])
		}
	})
	for k := 0; k < held; k += 4 {
		var sums, c [8]float64
		simd.DotPanels(&sums, v, v, r.pair(k)[from:], r.pair(k + 1)[from:], r.pair(k + 2)[from:], r.pair(k + 3)[from:])
		c[0], c[1], c[2], c[3] = -sums[1], -sums[0], -sums[3], -sums[2]
		r.add(r.y, r.spare, from, r.width, k, &c)
	}
	var dot float64
	for i := j + 1; i < r.width; i++ {
		dot += float64(r.y[i] * r.x[i])
	}
	toV, toW := r.pair(held), r.pair(held+1)
	for i := j + 1; i < r.width; i++ {
		toV[i] = r.x[i]
		toW[i] = float64(tau*r.y[i]) - float64(tau*tau*dot/2*r.x[i])
	}
}

// update changes the rows and columns of A from the given one on, a multiple of
// 4, by the pairs.
func (r *reduction) update(from, held int) {
	r.each((r.width-from+piece-1)/piece, func(at int) {
		for left := from; left < r.width; left += tile {
			for i := from + at*piece; i < min(from+(at+1)*piece, r.width); i += 2 {
				r.follow(r.row(i), r.row(i+1), left, min(left+tile, r.width), held, i, i+1)
			}
		}
	})
}
