package symmetric

import (
	"cmp"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/internal/simd"
)

const (
	leaf    = 32  // largest number of rows of a tridiagonal matrix that is solved by QL
	outputs = 32  // number of vectors that one worker combines from those of the halves
	inputs  = 64  // number of vectors of the halves that stay in the cache of a worker
	tile    = 256 // elements of each of these vectors in the cache, a multiple of 4
)

// division computes the eigenpairs of a tridiagonal matrix T by divide and conquer (Cuppen 1981; Gu
// and Eisenstat 1995). With e the off-diagonal element between its halves,
//
//	T = diag(T₁, T₂) + |e|·u·uᵀ,  u = (0 … 0 1 ±1 0 … 0).
//
// Given the eigenpairs of T₁ and T₂, a diagonal matrix plus a matrix of rank one remains. Pairs that
// the rank-one matrix hardly changes, and all but one of the pairs with the same eigenvalue, are
// kept (deflation). In spectra of graphs these are often most pairs.
//
// Vectors are stored as rows, padded to a multiple of 4; T is divided at multiples of 4. The vectors
// of a part are in its own rows and columns.
type division struct {
	each      func(pieces int, do func(piece int))
	many      func(values []float64) int
	n, width  int
	diag, off []float64
	values    []float64    // eigenvalues, in increasing order within each solved part
	vectors   [2][]float64 // eigenvectors of the parts at even and at odd depths
	first     int          // the first requested vector of T
}

// padded returns n rounded up to a multiple of 4.
func padded(n int) int { return (n + 3) &^ 3 }

// divide passes the eigenvalues of T in increasing order to many, which returns the number of largest
// eigenvalues whose vectors are requested. It returns these vectors, from row first on, and spare
// memory of the same size.
func divide(t Tridiagonal, n int, many func(values []float64) int, each func(pieces int, do func(piece int))) (vectors, spare []float64, first int) {
	width := padded(n)
	d := &division{
		each: each, many: many, n: n, width: width, diag: t.Diag, off: t.Off, values: make([]float64, n),
		vectors: [2][]float64{make([]float64, n*width), make([]float64, n*width)},
	}
	depth := 0
	for (n-1)>>depth >= leaf {
		depth++
	}
	d.part(0, n, depth)
	return d.vectors[depth&1], d.vectors[(depth+1)&1], d.first
}

// row returns vector i at a depth in the columns lo ≤ c < hi, padded.
func (d *division) row(depth, i, lo, hi int) []float64 {
	return d.vectors[depth&1][i*d.width+lo : i*d.width+padded(hi)]
}

// part solves the rows lo ≤ i < hi of T, divided depth times.
func (d *division) part(lo, hi, depth int) {
	if depth == 0 {
		d.leaf(lo, hi)
		return
	}
	mid := lo + padded((hi-lo)/2)
	e := d.off[mid-1]
	d.diag[mid-1] -= math.Abs(e)
	d.diag[mid] -= math.Abs(e)
	d.part(lo, mid, depth-1)
	d.part(mid, hi, depth-1)
	newMerge(d, lo, mid, hi, depth, e).run()
}

// choose returns the first vector of a part that is needed: all except in the last step, which calls
// many with the eigenvalues.
func (d *division) choose(lo, hi int) int {
	if lo == 0 && hi == d.n {
		d.first = d.n - d.many(d.values)
		return d.first
	}
	return lo
}

// leaf solves a small part by QL.
func (d *division) leaf(lo, hi int) {
	n := hi - lo
	x := make([]float64, n*n) // the identity; becomes the eigenvectors, as rows
	for i := range n {
		x[i*n+i] = 1
	}
	part := Tridiagonal{d.diag[lo:hi], d.off[lo:max(lo, hi-1)]}
	found := part.diagonalize(func(at int, c, s float64) { rotate(x[at*n:][:n], x[(at+1)*n:][:n], c, s) })
	for to, from := range rising(found) {
		d.values[lo+to] = found[from]
		row := d.row(0, lo+to, lo, hi)
		clear(row)
		copy(row, x[from*n:][:n])
	}
	d.choose(lo, hi)
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

// rising returns the indices of the values in increasing order.
func rising(values []float64) []int {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(values[i], values[j]) })
	return order
}

// merge computes the pairs of a part from those of its halves.
type merge struct {
	*division
	lo, mid, hi int
	depth       int
	rho         float64
	z           []float64 // element of each pair in the rank-one matrix
	spread      []bool    // the vector of the pair has elements in both halves

	live, still []int    // pairs that change, in increasing order, and deflated pairs
	halves      [2][]int // indices in live of the pairs with elements in each half
	equation    *secular
	weights     []float64
}

func newMerge(d *division, lo, mid, hi, depth int, e float64) *merge {
	m := &merge{
		division: d, lo: lo, mid: mid, hi: hi, depth: depth, rho: 2 * math.Abs(e),
		z: make([]float64, hi-lo), spread: make([]bool, hi-lo),
	}
	for i := range m.z {
		if own := m.own(i); m.upper(i) {
			m.z[i] = own[mid-1-lo] / math.Sqrt2
		} else {
			m.z[i] = math.Copysign(1/math.Sqrt2, e) * own[0]
		}
	}
	return m
}

// upper reports whether a pair belongs to the upper half.
func (m *merge) upper(i int) bool { return i < m.mid-m.lo }

// own returns the elements of the vector of a pair within its half, or within both.
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

func (m *merge) run() {
	m.deflate()
	values := m.values[m.lo:m.hi]
	d, z := make([]float64, len(m.live)), make([]float64, len(m.live))
	for at, i := range m.live {
		d[at], z[at] = values[i], m.z[i]
	}
	m.equation = newSecular(d, z, m.rho)
	m.weights = make([]float64, len(d))
	m.eachOf(len(d), m.equation.solve)
	m.eachOf(len(d), func(i int) { m.weights[i] = m.equation.weight(i) })
	all := make([]float64, 0, len(m.z))
	for at := range m.live {
		all = append(all, m.equation.value(at))
	}
	for _, i := range m.still {
		all = append(all, values[i])
	}
	from := rising(all)
	for to, at := range from {
		values[to] = all[at]
	}
	first := m.choose(m.lo, m.hi) - m.lo
	m.each((len(from)-first+outputs-1)/outputs, func(piece int) {
		m.combine(from, first+piece*outputs, min(len(from), first+(piece+1)*outputs))
	})
}

// eachOf calls do for each i < n, in pieces of several i.
func (m *merge) eachOf(n int, do func(i int)) {
	m.each((n+outputs-1)/outputs, func(piece int) {
		for i := piece * outputs; i < min(n, (piece+1)*outputs); i++ {
			do(i)
		}
	})
}

// deflate separates the pairs that change from those that do not.
func (m *merge) deflate() {
	values := m.values[m.lo:m.hi]
	order := rising(values)
	var largest, most float64
	for i, v := range values {
		largest, most = max(largest, math.Abs(v)), max(most, math.Abs(m.z[i]))
	}
	tolerance := 8 * epsilon * max(largest, most)
	before := -1
	for _, i := range order {
		switch {
		case m.rho*math.Abs(m.z[i]) <= tolerance:
			m.still = append(m.still, i)
			continue
		case before >= 0 && m.join(before, i, tolerance):
			m.still = append(m.still, before)
		case before >= 0:
			m.live = append(m.live, before)
		}
		before = i
	}
	if before >= 0 {
		m.live = append(m.live, before)
	}
	for at, i := range m.live {
		for h := range m.halves {
			if m.spread[i] || m.upper(i) == (h == 0) {
				m.halves[h] = append(m.halves[h], at)
			}
		}
	}
}

// join rotates two pairs with neighbouring values so that z vanishes in the first. It returns false
// if the rotation would change T by more than the tolerance.
func (m *merge) join(i, j int, tolerance float64) bool {
	values := m.values[m.lo:m.hi]
	length := math.Hypot(m.z[i], m.z[j])
	c, s := m.z[j]/length, m.z[i]/length
	a, b := values[i], values[j]
	if math.Abs((b-a)*c*s) > tolerance {
		return false
	}
	m.z[i], m.z[j] = 0, length
	values[i], values[j] = a*c*c+b*s*s, a*s*s+b*c*c
	if m.spread[i] || m.spread[j] || m.upper(i) != m.upper(j) {
		m.spread[i], m.spread[j] = true, true // the other half of each vector is still zero
	}
	rotate(m.own(i), m.own(j), c, s)
	return true
}

// combine computes the vectors a ≤ to < b of the part; from[to] is the index among the roots and then
// the deflated pairs.
func (m *merge) combine(from []int, a, b int) {
	var made []int // rows
	factors := make([]float64, 0, (b-a)*len(m.live))
	for to := a; to < b; to++ {
		row := m.row(m.depth, m.lo+to, m.lo, m.hi)
		clear(row)
		at := from[to]
		if at >= len(m.live) {
			i := m.still[at-len(m.live)]
			if own := m.own(i); m.spread[i] || m.upper(i) {
				copy(row, own)
			} else {
				copy(row[m.mid-m.lo:], own)
			}
			continue
		}
		made = append(made, m.lo+to)
		factors = factors[:len(factors)+len(m.live)]
		m.equation.vectorTo(factors[len(factors)-len(m.live):], m.weights, at)
	}
	for h, of := range m.halves {
		lo, hi := m.lo, m.mid
		if h == 1 {
			lo, hi = m.mid, m.hi
		}
		for left := lo; left < hi; left += tile {
			for some := range slices.Chunk(of, inputs) {
				m.add(made, factors, some, left, min(left+tile, hi))
			}
		}
	}
}

// add adds the terms of some of the live pairs to the rows made, in the columns lo ≤ c < hi.
func (m *merge) add(made []int, factors []float64, some []int, lo, hi int) {
	var spare [tile]float64
	for o := 0; o < len(made); o += 2 {
		w0, w1 := m.row(m.depth, made[o], lo, hi), spare[:padded(hi)-lo]
		f0 := factors[o*len(m.live):]
		f1 := f0
		if o+1 < len(made) {
			w1, f1 = m.row(m.depth, made[o+1], lo, hi), factors[(o+1)*len(m.live):]
		}
		for i := 0; i < len(some); i += 4 {
			var c [8]float64
			var v [4][]float64
			for k := range v {
				v[k] = m.row(m.depth-1, m.lo+m.live[some[min(i+k, len(some)-1)]], lo, hi)
				if i+k < len(some) {
					c[k], c[4+k] = f0[some[i+k]], f1[some[i+k]]
				}
			}
			simd.AddPanels(w0, w1, v[0], v[1], v[2], v[3], &c)
		}
	}
}
