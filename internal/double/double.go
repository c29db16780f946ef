// Package double computes with sums of two numbers, about 106 bits each, for the few jobs
// that float64 leaves no digit: a Laplacian applied as L·z = Σ_j w_ij·(z_i − z_j), in
// which nothing cancels but what is to.
package double

import "math"

// Number is the sum of two numbers, the second at most half an ulp of the first: about
// 106 bits (Dekker 1971; Joldes, Muller and Popescu 2017). A sum or product errs by less
// than 2⁻¹⁰² of the sum of the sizes of what goes in.
type Number struct{ Hi, Lo float64 }

// Rounding bounds the relative error of an operation.
const Rounding = 0x1p-102

// Sum returns a + b.
func Sum(a, b float64) Number {
	s := a + b
	t := s - a
	return Number{s, (a - (s - t)) + (b - t)}
}

// quickSum is Sum for |a| ≥ |b|.
func quickSum(a, b float64) Number {
	s := a + b
	return Number{s, b - (s - a)}
}

// Plus returns a + b.
func (a Number) Plus(b Number) Number {
	s, t := Sum(a.Hi, b.Hi), Sum(a.Lo, b.Lo)
	s = quickSum(s.Hi, s.Lo+t.Hi)
	return quickSum(s.Hi, s.Lo+t.Lo)
}

// Minus returns a − b.
func (a Number) Minus(b Number) Number { return a.Plus(Number{-b.Hi, -b.Lo}) }

// Times returns a·b.
func (a Number) Times(b Number) Number {
	p := a.Hi * b.Hi
	e := math.FMA(a.Hi, b.Hi, -p)
	return quickSum(p, e+(math.FMA(a.Hi, b.Lo, float64(a.Lo*b.Hi))))
}

// Over returns a/b.
func (a Number) Over(b Number) Number {
	q := a.Hi / b.Hi
	r := a.Minus(b.Times(Number{Hi: q}))
	p := r.Hi / b.Hi
	r = r.Minus(b.Times(Number{Hi: p}))
	return quickSum(q, p).Plus(Number{Hi: r.Hi / b.Hi})
}

// Root returns √a for a ≥ 0.
func (a Number) Root() Number {
	if a.Hi == 0 {
		return Number{}
	}
	s := math.Sqrt(a.Hi)
	rest := a.Minus(Number{Hi: s}.Times(Number{Hi: s}))
	return quickSum(s, rest.Hi/(2*s))
}

// Value returns the nearest float64.
func (a Number) Value() float64 { return a.Hi + a.Lo }
