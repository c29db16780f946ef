package iterative

import "math"

// double is the sum of two numbers, the second at most half an ulp of the first: about
// 106 bits (Dekker 1971; Joldes, Muller and Popescu 2017). A sum or product errs by less
// than 2⁻¹⁰² of the sum of the sizes of what goes in.
type double struct{ hi, lo float64 }

// doubleRounding bounds the relative error of an operation.
const doubleRounding = 0x1p-102

func twoSum(a, b float64) double {
	s := a + b
	t := s - a
	return double{s, (a - (s - t)) + (b - t)}
}

// quickSum is twoSum for |a| ≥ |b|.
func quickSum(a, b float64) double {
	s := a + b
	return double{s, b - (s - a)}
}

func (a double) plus(b double) double {
	s, t := twoSum(a.hi, b.hi), twoSum(a.lo, b.lo)
	s = quickSum(s.hi, s.lo+t.hi)
	return quickSum(s.hi, s.lo+t.lo)
}

func (a double) minus(b double) double { return a.plus(double{-b.hi, -b.lo}) }

func (a double) times(b double) double {
	p := a.hi * b.hi
	e := math.FMA(a.hi, b.hi, -p)
	return quickSum(p, e+(math.FMA(a.hi, b.lo, float64(a.lo*b.hi))))
}

// over returns a/b.
func (a double) over(b double) double {
	q := a.hi / b.hi
	r := a.minus(b.times(double{hi: q}))
	p := r.hi / b.hi
	r = r.minus(b.times(double{hi: p}))
	return quickSum(q, p).plus(double{hi: r.hi / b.hi})
}

// root returns √a for a ≥ 0.
func (a double) root() double {
	if a.hi == 0 {
		return double{}
	}
	s := math.Sqrt(a.hi)
	rest := a.minus(double{hi: s}.times(double{hi: s}))
	return quickSum(s, rest.hi/(2*s))
}

func (a double) value() float64 { return a.hi + a.lo }
