package symmetric

import (
	"math"
	"slices"
)

// Tridiagonal is a symmetric tridiagonal matrix, for example the projection of a map by Lanczos.
type Tridiagonal struct {
	Diag, Off []float64 // Off[i] is the element at (i, i+1) and (i+1, i)
}

// Norm returns the largest absolute sum of a row of T.
func (t Tridiagonal) Norm() float64 {
	var largest float64
	for i, a := range t.Diag {
		row := math.Abs(a)
		if i > 0 {
			row += math.Abs(t.Off[i-1])
		}
		if i < len(t.Off) {
			row += math.Abs(t.Off[i])
		}
		largest = max(largest, row)
	}
	return largest
}

// Eigenvalues returns the eigenvalues of T, in no order. Cost: 3m² operations.
func (t Tridiagonal) Eigenvalues() []float64 {
	return t.diagonalize(func(int, float64, float64) {})
}

// diagonalize returns the eigenvalues of T, in no order, by the implicit QL method (Martin and Wilkinson 1968). It
// calls rotate for every rotation of the columns i and i+1 to c·(column i) − s·(column i+1) and s·(column i) +
// c·(column i+1). Applied to the identity in turn, the rotations give the eigenvectors.
func (t Tridiagonal) diagonalize(rotate func(i int, c, s float64)) []float64 {
	const (
		epsilon = 0x1p-53
		maxQL   = 60 // steps for one eigenvalue; a few are needed
	)
	n := len(t.Diag)
	d := slices.Clone(t.Diag)
	e := append(append(make([]float64, 0, n), t.Off[:max(0, n-1)]...), 0)
	for l := range n {
		for range maxQL {
			m := l
			for m < n-1 && math.Abs(e[m]) > epsilon*(math.Abs(d[m])+
				math.Abs(d[m+1])) {
				m++
			}
			if m == l {
				break
			}
			// A QL step with Wilkinson's shift on the rows l … m.
			g := (d[l+1] - d[l]) / (2 * e[l])
			g = d[m] - d[l] + e[l]/(g+math.Copysign(math.Hypot(g, 1), g))
			s := 1.0
			c := 1.0
			p := 0.0
			i := m - 1
			for ; i >= l; i-- {
				f := s * e[i]
				b := c * e[i]
				h := math.Hypot(f, g)
				e[i+1] = h
				if h == 0 {
					d[i+1] -= p
					e[m] = 0
					break
				}
				s = f / h
				c = g / h
				g = d[i+1] - p
				h = (d[i]-g)*s + 2*c*b
				p = s * h
				d[i+1] = g + p
				g = c*h - b
				rotate(i, c, s)
			}
			if i < l {
				d[l] -= p
				e[l] = g
				e[m] = 0
			}
		}
	}
	return d
}
