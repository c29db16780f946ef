package lanczos

import "math"

// tridiagonal is a symmetric tridiagonal matrix: what Lanczos makes of A.
type tridiagonal struct {
	diag, off []float64 // off[i] couples i and i+1
}

// eigenRows returns the eigenvalues of T, in no order, and for each the chosen
// rows of its eigenvector: element (i, j) is vectors[j·len(rows)+i]. It is the
// implicit QL method (Martin and Wilkinson 1968), which needs 3m² operations
// for the values and as much again for each row.
func (t tridiagonal) eigenRows(rows ...int) (values, vectors []float64) {
	n, r := len(t.diag), len(rows)
	d := append([]float64(nil), t.diag...)
	e := append(append(make([]float64, 0, n), t.off[:max(0, n-1)]...), 0)
	z := make([]float64, n*r)
	for i, row := range rows {
		z[row*r+i] = 1
	}
	for l := range n {
		for range maxQL {
			m := l
			for m < n-1 && math.Abs(e[m]) > epsilon/2*(math.Abs(d[m])+math.Abs(d[m+1])) {
				m++
			}
			if m == l {
				break
			}
			// A QL step with Wilkinson's shift on the rows l … m.
			g := (d[l+1] - d[l]) / (2 * e[l])
			g = d[m] - d[l] + e[l]/(g+math.Copysign(math.Hypot(g, 1), g))
			s, c, p := 1.0, 1.0, 0.0
			i := m - 1
			for ; i >= l; i-- {
				f, b := s*e[i], c*e[i]
				h := math.Hypot(f, g)
				e[i+1] = h
				if h == 0 {
					d[i+1] -= p
					e[m] = 0
					break
				}
				s, c = f/h, g/h
				g = d[i+1] - p
				h = (d[i]-g)*s + 2*c*b
				p = s * h
				d[i+1] = g + p
				g = c*h - b
				turn(z[i*r:][:r], z[(i+1)*r:][:r], c, s)
			}
			if i < l {
				d[l] -= p
				e[l], e[m] = g, 0
			}
		}
	}
	return d, z
}

// maxQL is the number of steps allowed for one eigenvalue; a few are needed.
const maxQL = 60

// turn rotates two rows.
func turn(a, b []float64, c, s float64) {
	for k, x := range a {
		y := b[k]
		b[k] = s*x + c*y
		a[k] = c*x - s*y
	}
}
