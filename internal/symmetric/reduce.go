package symmetric

import (
	lapack "gonum.org/v1/gonum/lapack/gonum"
	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/internal/simd"
)

const (
	panel   = 16  // reflections after which the rest of the matrix is updated, a multiple of 4
	piece   = 64  // rows of one piece of parallel work, a multiple of 4
	strand  = 16  // consecutive rows of a product in one strand
	strands = 16  // parts of a product: part i has every sixteenth strand, from strand i on
	span    = 128 // columns that are updated together, whose elements of the pairs fit the first-level cache
)

// reduction makes a matrix A tridiagonal by reflections I − τ·v·vᵀ (Householder 1958). The reflections of a panel of columns
// update the rest of A in one pass (Dongarra, Sorensen and Hammarling 1989):
//
//	A ← A − Σ (v·wᵀ + w·vᵀ)
//
// Only the upper triangle of A and the blocks of 4×4 on the diagonal are read. Rows are padded to a multiple of 4. At
// the end, row j of A is the vector v of the reflection for column j.
type reduction struct {
	runPieces runner
	n         int
	width     int       // padded width of A
	a         []float64 // width rows of A
	tau       []float64
	pairs     []float64 // the vectors v, w, v, w, … of the panel
	x, y      []float64 // the row that is reduced, which becomes v; and A·v
	parts     []float64 // the contribution of each part to y
	spare     []float64
}

// reduce returns the tridiagonal matrix T, and the reflections whose product is Q: H = Q·T·Qᵀ.
func reduce(h *mat.SymDense,
	parallel runner) (Tridiagonal, *reduction) {
	n := h.SymmetricDim()
	width := pad(n)
	r := &reduction{
		runPieces: parallel, n: n, width: width, a: make([]float64, width*width),
		tau: make([]float64, n), pairs: make([]float64, 2*panel*width),
		x: make([]float64, width), y: make([]float64, width),
		parts: make([]float64, strands*width), spare: make([]float64, width),
	}
	for i := range n {
		for j := range n {
			r.a[i*width+j] = h.At(i, j)
		}
	}
	t := Tridiagonal{make([]float64, n), make([]float64, n-1)}
	var impl lapack.Implementation
	for first := 0; first < n; first += panel {
		clear(r.pairs)
		last := min(first+panel, n)
		for j := first; j < last; j++ {
			held := 2 * (j - first)
			start := j &^ 3
			copy(r.x[start:], r.row(j)[start:])
			r.follow(r.x, r.spare, start, width, held, j, j)
			t.Diag[j] = r.x[j]
			clear(r.x[:j+1])
			if j < n-1 {
				t.Off[j], r.tau[j] = impl.Dlarfg(n-1-j, r.x[j+1],
					r.x[min(j+2, n-1):n], 1)
				r.x[j+1] = 1
				r.reflect(j, held, r.tau[j])
			}
			copy(r.row(j), r.x)
		}
		if last < n {
			r.runPieces((r.width-last+piece-1)/piece, func(index int) {
				for left := last; left < r.width; left += span {
					right := min(left+span, r.width)
					for i := last + index*piece; i < min(last+(index+1)*piece, right); i += 2 {
						r.follow(r.row(i), r.row(i+1), max(left, i&^3), right,
							2*panel, i, i+1)
					}
				}
			})
		}
	}
	return t, r
}

func (r *reduction) row(i int) []float64 {
	return r.a[i*r.width:][:r.width]
}

// pair returns vector i of the pairs: a v if i is even, and the w of the v before it if i is odd.
func (r *reduction) pair(i int) []float64 {
	return r.pairs[i*r.width:][:r.width]
}

// follow applies the first held vectors of the pairs to the rows i and j of A, in the columns first ≤ c < end. p and q
// must be these rows.
func (r *reduction) follow(p, q []float64, first, end, held, i, j int) {
	for k := 0; k < held; k += 4 {
		var c [8]float64
		for l := range 4 {
			partner := r.pair((k + l) ^ 1)
			c[l], c[4+l] = -partner[i], -partner[j]
		}
		r.addPairs(p, q, first, end, k, &c)
	}
}

// addPairs computes p += Σ cᵢ·pair(k+i) and q += Σ c₄₊ᵢ·pair(k+i), i = 0 … 3, in the columns first ≤ c < end.
func (r *reduction) addPairs(p, q []float64, first, end, k int, c *[8]float64) {
	simd.AddPanels(p[first:end], q[first:end], r.pair(k)[first:end],
		r.pair(k + 1)[first:end], r.pair(k + 2)[first:end],
		r.pair(k + 3)[first:end], c)
}

// reflect stores v, which is x, and w as the vectors held and held+1 of the pairs:
//
//	w = τ·A·v − ½τ²(vᵀA·v)·v
func (r *reduction) reflect(j, held int, tau float64) {
	start := (j + 1) &^ 3
	v := r.x[start:]
	count := min(strands, (r.width-start+strand-1)/strand)
	r.runPieces(count, func(index int) { r.multiply(start, index) })
	clear(r.y)
	for index := range count {
		for i, value := range r.parts[index*r.width:][:r.width] {
			r.y[i] += value
		}
	}
	for k := 0; k < held; k += 4 {
		var sums, c [8]float64
		simd.DotPanels(&sums, v, v, r.pair(k)[start:], r.pair(k + 1)[start:],
			r.pair(k + 2)[start:], r.pair(k + 3)[start:])
		c[0], c[1], c[2], c[3] = -sums[1], -sums[0], -sums[3], -sums[2]
		r.addPairs(r.y, r.spare, start, r.width, k, &c)
	}
	var dot float64
	for i := j + 1; i < r.width; i++ {
		dot += float64(r.y[i] * r.x[i])
	}
	toV := r.pair(held)
	toW := r.pair(held + 1)
	for i := j + 1; i < r.width; i++ {
		toV[i] = r.x[i]
		toW[i] = float64(tau*r.y[i]) - float64(tau*tau*dot/2*r.x[i])
	}
}

// multiply stores in part index of r.parts the contribution of its strands to A·x, in the rows and columns from start
// on. Because A is symmetric, each row is read once, as a row and as a column.
func (r *reduction) multiply(start, index int) {
	y := r.parts[index*r.width:][:r.width]
	clear(y)
	var spare [segment]float64
	for first := start + index*strand; first < r.width; first += strands * strand {
		for i := first; i < min(first+strand, r.width); i += 4 {
			rows := [4][]float64{r.row(i), r.row(i + 1), r.row(i + 2), r.row(i + 3)}
			var sums, c [8]float64
			copy(c[:4], r.x[i:])
			for lo, hi := i, i+4; lo < r.width; lo, hi = hi, min(hi+segment, r.width) {
				x := r.x[lo:hi]
				p := rows[0][lo:hi]
				q := rows[1][lo:hi]
				s := rows[2][lo:hi]
				t := rows[3][lo:hi]
				simd.DotPanels(&sums, x, x, p, q, s, t)
				if lo > i { // the block on the diagonal is whole
					simd.AddPanels(y[lo:hi], spare[:hi-lo], p, q, s, t, &c)
				}
			}
			for k := range 4 {
				y[i+k] += sums[k]
			}
		}
	}
}
