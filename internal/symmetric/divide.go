package symmetric

import (
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
)

const (
	leaf    = 32  // largest number of rows of a part that is solved by QL
	outputs = 32  // merged vectors that one piece of work computes
	inputs  = 64  // vectors of the halves that a worker reads at a time
	tile    = 256 // numbers of each vector that a worker keeps in its cache, a multiple of 4
)

// division finds the eigenpairs of a tridiagonal matrix T by divide and conquer (Cuppen 1981; Gu and Eisenstat 1995). T
// is split at an element e next to its diagonal,
//
//	T = diag(T₁, T₂) + |e|·u·uᵀ,  u = (0 … 0 1 ±1 0 … 0),
//
// so that, in the eigenvectors of T₁ and T₂, T is a diagonal matrix plus a matrix of rank one. A pair is an eigenvalue
// with its eigenvector. A pair of a half stays as it is if the matrix of rank one changes it by less than rounding. Of
// several pairs with equal eigenvalues, all but one stay. For graphs, the majority of the pairs often stays, which
// saves most of the time.
//
// Vectors are stored as rows. Their length and the positions at which T is split are multiples of 4, because the loops
// of [simd] read 4 numbers at a time. The vectors of the part lo ≤ i < hi are rows lo ≤ i < hi, and zero in other
// columns.
type division struct {
	runPieces runner
	count     func(values []float64) int // number of wanted vectors
	n, width  int
	diag, off []float64
	values    []float64    // eigenvalues, increasing in each part that is solved
	vectors   [2][]float64 // eigenvectors of the parts of even depth, and of odd depth
	first     int          // number of the first wanted vector of T
}

// runner calls do for every piece 0 ≤ piece < pieces, from several goroutines.
type runner = func(pieces int, do func(piece int))

func pad(n int) int { return (n + 3) &^ 3 }

// divide computes the eigenvalues of T, increasing, and calls count with them. It returns the eigenvectors of the
// count(values) largest eigenvalues: the rows of vectors from row first on. spare is another slice of the same size,
// which the caller may overwrite.
func (t Tridiagonal) divide(n int, count func(values []float64) int,
	parallel runner) (vectors, spare []float64, first int) {
	width := pad(n)
	d := &division{
		runPieces: parallel, count: count, n: n, width: width, diag: t.Diag,
		off: t.Off, values: make([]float64, n),
		vectors: [2][]float64{make([]float64, n*width), make([]float64, n*width)},
	}
	depth := 0
	for (n-1)>>depth >= leaf {
		depth++
	}
	d.part(0, n, depth)
	return d.vectors[depth&1], d.vectors[(depth+1)&1], d.first
}

// row returns the columns lo ≤ c < pad(hi) of vector i of the parts of the given depth.
func (d *division) row(depth, i, lo, hi int) []float64 {
	return d.vectors[depth&1][i*d.width+lo : i*d.width+pad(hi)]
}

// part computes the pairs of the part with the rows lo ≤ i < hi. depth is the number of times that the part is split
// further.
func (d *division) part(lo, hi, depth int) {
	if depth == 0 {
		// Below about 32 rows QL is faster than splitting further.
		n := hi - lo
		x := make([]float64, n*n) // vectors of the identity, as columns of rows
		for i := range n {
			x[i*n+i] = 1
		}
		half := Tridiagonal{d.diag[lo:hi], d.off[lo:max(lo, hi-1)]}
		eigenvalues := half.diagonalize(func(column int, c, s float64) { rotate(x[column*n:][:n], x[(column+1)*n:][:n], c, s) })
		for column, source := range sched.Ascending(eigenvalues) {
			d.values[lo+column] = eigenvalues[source]
			row := d.row(0, lo+column, lo, hi)
			clear(row)
			copy(row, x[source*n:][:n])
		}
		d.choose(lo, hi)
		return
	}
	mid := lo + pad((hi-lo)/2)
	e := d.off[mid-1]
	d.diag[mid-1] -= math.Abs(e)
	d.diag[mid] -= math.Abs(e)
	d.part(lo, mid, depth-1)
	d.part(mid, hi, depth-1)
	newMerge(d, lo, mid, hi, depth, e).run()
}

// choose returns the number of the first wanted vector of a part whose eigenvalues are known. For T it asks count. All
// vectors of a smaller part are wanted, because the next merge needs them.
func (d *division) choose(lo, hi int) int {
	if lo == 0 && hi == d.n {
		d.first = d.n - d.count(d.values)
		return d.first
	}
	return lo
}

// rotate stores c·a − s·b in a and s·a + c·b in b.
func rotate(a, b []float64, c, s float64) {
	b = b[:len(a)]
	for k, x := range a {
		y := b[k]
		a[k] = c*x - s*y
		b[k] = s*x + c*y
	}
}

// merge computes the pairs of a part from the pairs of its two halves.
type merge struct {
	*division
	lo, mid, hi int
	depth       int
	rho         float64
	z           []float64 // for each pair of the halves, element of the vector z of the rank-one matrix
	spread      []bool    // for each pair, whether its vector has nonzero elements in both halves

	live, still []int    // pairs that change, by increasing eigenvalue, and pairs that stay
	halves      [2][]int // indices in live of the pairs with nonzero elements in each half
	equation    *secular
	weights     []float64
}

// newMerge returns the merge of the halves [lo, mid) and [mid, hi), which the element e next to the diagonal joins. In
// the vectors of the halves the part is diag(values) + ρ·zzᵀ with ρ = 2|e| and ‖z‖ = 1.
func newMerge(d *division, lo, mid, hi, depth int, e float64) *merge {
	m := &merge{
		division: d, lo: lo, mid: mid, hi: hi, depth: depth, rho: 2 * math.Abs(e),
		z: make([]float64, hi-lo), spread: make([]bool, hi-lo),
	}
	for i := range m.z {
		if half := m.own(i); m.upper(i) {
			m.z[i] = half[mid-1-lo] / math.Sqrt2
		} else {
			m.z[i] = math.Copysign(1/math.Sqrt2, e) * half[0]
		}
	}
	return m
}

func (m *merge) upper(i int) bool { return i < m.mid-m.lo }

// own returns the elements of the vector of pair i that may be nonzero.
func (m *merge) own(i int) []float64 {
	lo, hi := m.lo, m.hi
	switch {
	case m.spread[i]:
	case m.upper(i):
		hi = m.mid
	default:
		lo = m.mid
	}
	return m.row(m.depth-1, m.lo+i, lo, hi)
}

// run computes the eigenvalues of the part from the secular equation of the live pairs, and the vectors of the part
// from the vectors of the halves.
func (m *merge) run() {
	m.deflate()
	values := m.values[m.lo:m.hi]
	d := make([]float64, len(m.live))
	z := make([]float64, len(m.live))
	for place, i := range m.live {
		d[place], z[place] = values[i], m.z[i]
	}
	s := &secular{d: d, z: z, inverse: 1 / m.rho, roots: make([]root, len(d))}
	for _, v := range z {
		s.reach += m.rho * v * v
	}
	m.equation = s
	m.weights = make([]float64, len(d))
	m.eachOf(len(d), m.equation.solve)
	m.eachOf(len(d), func(i int) { m.weights[i] = m.equation.weight(i) })
	merged := make([]float64, 0, len(m.z))
	for place := range m.live {
		merged = append(merged, m.equation.value(place))
	}
	for _, i := range m.still {
		merged = append(merged, values[i])
	}
	order := sched.Ascending(merged)
	for column, source := range order {
		values[column] = merged[source]
	}
	first := m.choose(m.lo, m.hi) - m.lo
	m.runPieces((len(order)-first+outputs-1)/outputs, func(piece int) {
		m.combine(order, first+piece*outputs,
			min(len(order), first+(piece+1)*outputs))
	})
}

// eachOf calls do for each 0 ≤ i < n, in parallel pieces.
func (m *merge) eachOf(n int, do func(i int)) {
	m.runPieces((n+outputs-1)/outputs, func(piece int) {
		for i := piece * outputs; i < min(n, (piece+1)*outputs); i++ {
			do(i)
		}
	})
}

// deflate divides the pairs into live and still pairs. A pair is still if its z is 0 up to rounding. It is also still
// if a rotation with another pair, of nearly the same eigenvalue, makes its z 0.
func (m *merge) deflate() {
	values := m.values[m.lo:m.hi]
	order := sched.Ascending(values)
	var largest, largestZ float64
	for i, v := range values {
		largest = max(largest, math.Abs(v))
		largestZ = max(largestZ, math.Abs(m.z[i]))
	}
	tolerance := 8 * epsilon * max(largest, largestZ)
	previous := -1
	for _, i := range order {
		switch {
		case m.rho*math.Abs(m.z[i]) <= tolerance:
			m.still = append(m.still, i)
			continue
		case previous >= 0 && m.join(previous, i, tolerance):
			m.still = append(m.still, previous)
		case previous >= 0:
			m.live = append(m.live, previous)
		}
		previous = i
	}
	if previous >= 0 {
		m.live = append(m.live, previous)
	}
	for place, i := range m.live {
		for h := range m.halves {
			if m.spread[i] || m.upper(i) == (h == 0) {
				m.halves[h] = append(m.halves[h], place)
			}
		}
	}
}

// join rotates the pairs i and j, with neighbouring eigenvalues, so that z becomes 0 in pair i. If this would change T
// by more than the tolerance, it only returns false.
func (m *merge) join(i, j int, tolerance float64) bool {
	values := m.values[m.lo:m.hi]
	length := math.Hypot(m.z[i], m.z[j])
	c := m.z[j] / length
	s := m.z[i] / length
	a, b := values[i], values[j]
	if math.Abs((b-a)*c*s) > tolerance {
		return false
	}
	m.z[i] = 0
	m.z[j] = length
	values[i] = a*c*c + b*s*s
	values[j] = a*s*s + b*c*c
	if m.spread[i] || m.spread[j] || m.upper(i) != m.upper(j) {
		// the other halves of their rows are still 0
		m.spread[i] = true
		m.spread[j] = true
	}
	rotate(m.own(i), m.own(j), c, s)
	return true
}

// combine computes the vectors a ≤ i < b of the part. Vector i belongs to root order[i] of the secular equation or, if
// there are fewer roots, to still pair order[i] − len(live).
func (m *merge) combine(order []int, a, b int) {
	var rows []int // rows of the vectors of roots
	factors := make([]float64, 0, (b-a)*len(m.live))
	for column := a; column < b; column++ {
		row := m.row(m.depth, m.lo+column, m.lo, m.hi)
		clear(row)
		source := order[column]
		if source >= len(m.live) {
			i := m.still[source-len(m.live)]
			if half := m.own(i); m.spread[i] || m.upper(i) {
				copy(row, half)
			} else {
				copy(row[m.mid-m.lo:], half)
			}
			continue
		}
		rows = append(rows, m.lo+column)
		factors = factors[:len(factors)+len(m.live)]
		m.equation.vectorTo(factors[len(factors)-len(m.live):], m.weights, source)
	}
	for h, columns := range m.halves {
		lo, hi := m.lo, m.mid
		if h == 1 {
			lo, hi = m.mid, m.hi
		}
		for left := lo; left < hi; left += tile {
			for chunk := range slices.Chunk(columns, inputs) {
				m.add(rows, factors, chunk, left, min(left+tile, hi))
			}
		}
	}
}

// add adds to rows, in the columns lo ≤ c < hi, combinations of the live pairs with the indices columns. factors has
// len(live) factors for each of the rows.
func (m *merge) add(rows []int, factors []float64, columns []int, lo, hi int) {
	var spare [tile]float64
	for o := 0; o < len(rows); o += 2 {
		w0 := m.row(m.depth, rows[o], lo, hi)
		w1 := spare[:pad(hi)-lo]
		f0 := factors[o*len(m.live):]
		f1 := f0
		if o+1 < len(rows) {
			w1 = m.row(m.depth, rows[o+1], lo, hi)
			f1 = factors[(o+1)*len(m.live):]
		}
		for i := 0; i < len(columns); i += 4 {
			var c [8]float64
			var v [4][]float64
			for k := range v {
				v[k] = m.row(m.depth-1,
					m.lo+m.live[columns[min(i+k, len(columns)-1)]], lo, hi)
				if i+k < len(columns) {
					c[k], c[4+k] = f0[columns[i+k]], f1[columns[i+k]]
				}
			}
			simd.AddPanels(w0, w1, v[0], v[1], v[2], v[3], &c)
		}
	}
}
