package expm

import (
	"fmt"
	"math"
)

// Function is a function of the eigenvalues of a [Map].
type Function struct {
	kind  kind
	value func(x float64) float64

	rate         float64
	shift, slope float64 // coefficients of a resolvent; shift of a Matérn function, or of the exponent of an exponential
	power        float64 // exponent of a Matérn function or of a whole power
}

type kind uint8

const (
	smooth kind = iota
	exponential
	resolvent
	matern
)

// Exp is x ↦ exp(t·x). With t = −β it is the diffusion of a Laplacian, with t = β the exponential kernel of an adjacency.
func Exp(t float64) Function {
	return Function{kind: exponential, rate: t,
		value: func(x float64) float64 { return math.Exp(t * x) }}
}

// lowerPeak returns exp(t·x − s) for f = exp(t·x). If squares of exp(t·x) cannot overflow on [lo, hi], s is 0.
func (f *Function) lowerPeak(lo, hi float64) *Function {
	const largest = 200
	rate := f.rate
	s := max(rate*lo, rate*hi)
	if f.kind != exponential || s <= largest {
		return f
	}
	return &Function{kind: exponential, rate: rate, shift: s,
		value: func(x float64) float64 { return math.Exp(rate*x - s) }}
}

// Inverse is x ↦ 1/(shift + slope·x), which must have no pole on the interval.
// (I − αS)⁻¹ is Inverse(1, −α) of S, (I + αL)⁻¹ is Inverse(1, α) of L, and
// PageRank (1−α)(I − αT)⁻¹ is Inverse(1, α/(1−α)) of I − T.
func Inverse(shift, slope float64) Function {
	return Function{kind: resolvent, shift: shift, slope: slope,
		value: func(x float64) float64 { return 1 / (shift + slope*x) }}
}

// Power is x ↦ (shift − x)ᵖ, p ≥ 0, the p-step kernel of a Laplacian. It takes p sweeps and has no truncation error.
func Power(shift float64, p int) Function {
	return Function{kind: smooth, power: float64(p),
		value: func(x float64) float64 { return wholePower(shift-x, p) }}
}

// wholePower returns xᵖ, p ≥ 0, to about half an ulp; [math.Pow] errs by p/2 ulps.
func wholePower(x float64, p int) float64 {
	times := func(a, da, b, db float64) (c, dc float64) {
		c = a * b
		if math.IsInf(c, 0) || c == 0 {
			return c, 0
		}
		return c, math.FMA(a, b, -c) + (float64(a*db) + float64(da*b))
	}
	y := 1.0
	dy := 0.0
	square := x
	dsquare := 0.0
	for ; p > 0; p /= 2 {
		if p%2 == 1 {
			y, dy = times(y, dy, square, dsquare)
		}
		if p > 1 {
			square, dsquare = times(square, dsquare, square, dsquare)
		}
	}
	return y + dy
}

// Matern is x ↦ (σ + x)^−ν with σ > 0 and ν > 0. The Matérn kernel of a
// Laplacian has σ = 2ν/κ².
func Matern(sigma, nu float64) Function {
	return Function{kind: matern, shift: sigma, power: nu,
		value: func(x float64) float64 { return math.Pow(sigma+x, -nu) }}
}

// Smooth is any function that is smooth on the interval: its Chebyshev coefficients are computed from samples, and the error
// bound assumes that the coefficients beyond the samples continue to decay.
func Smooth(f func(x float64) float64) Function {
	return Function{kind: smooth, value: f}
}

func (f *Function) check(lo, hi float64) error {
	bad := func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }
	switch f.kind {
	case smooth:
		if f.power < 0 {
			return fmt.Errorf("%w: power %g; it must not be negative",
				ErrParameter, f.power)
		}
	case exponential:
		if bad(f.rate) {
			return fmt.Errorf("%w: rate %g of an exponential", ErrParameter, f.rate)
		}
	case resolvent:
		// Both ends are on the same side of the pole.
		a, b := f.shift+f.slope*lo, f.shift+f.slope*hi
		if bad(a) || bad(b) || !(a*b > 0) {
			return fmt.Errorf("%w: %g %+g·x has a zero in [%.6g, %.6g], which holds the spectrum", ErrParameter, f.shift, f.slope, lo, hi)
		}
	case matern:
		if !(f.power > 0) || bad(f.power) || !(f.shift > 0) ||
			bad(f.shift) || lo < 0 {
			return fmt.Errorf("%w: (%g + x)^−%g on [%.6g, %.6g]; the shift and the power must be positive and the map a Laplacian", ErrParameter, f.shift, f.power, lo, hi)
		}
	}
	return nil
}

// expansion is a Chebyshev series Σ c_j T_j.
type expansion struct {
	coef  []float64
	tail  []float64 // tail[j] ≥ Σ_{i>j} |c_i|
	size  float64   // Σ |c_j|
	slope float64   // effect of rounding errors of products, in slopeRounding·ε

	productRounding float64 // rounding errors of products, relative to the usual; 0 means 1
}

// steepest returns an upper bound of the derivative of the series on [−1, 1], by |T_j'| ≤ j².
func (s *expansion) steepest() (sum float64) {
	for j, c := range s.coef {
		sum += float64(j) * float64(j) * math.Abs(c)
	}
	return sum
}

// expand returns the Chebyshev series of f on [lo, hi]. It omits the last coefficients if float64 does not distinguish them
// from 0.
func (f *Function) expand(lo, hi float64) (*expansion, error) {
	middle := (lo + hi) / 2
	half := (hi - lo) / 2
	switch f.kind {
	case exponential:
		return expandExp(f.rate, f.shift, lo, hi)
	case resolvent:
		return expandInverse(f.shift+f.slope*middle, f.slope*half), nil
	}
	e, err := sample(func(y, shifted float64) float64 {
		if lo == 0 { // where a function of a Laplacian may be steep
			return f.value(half * shifted)
		}
		return f.value(middle + half*y)
	})
	if err == nil {
		e.slope += f.valueRounding() * e.size / slopeRounding
	}
	return e, err
}

// newExpansion returns the expansion with the given coefficients. remainder must bound the sum of the sizes of the omitted
// coefficients.
func newExpansion(coef []float64, remainder float64) *expansion {
	e := &expansion{coef: coef, tail: make([]float64, len(coef))}
	for j := len(coef) - 1; j >= 0; j-- {
		e.tail[j] = remainder
		remainder += math.Abs(coef[j])
	}
	e.size = remainder
	return e
}

// maxLog is the largest logarithm of an exponential, beyond which exp(maxLog/2) overflows.
const maxLog = 1400

// expandExp returns the series of exp(t·x − s) on [lo, hi]. With z = |t|(hi−lo)/2 (Tal-Ezer and Kosloff 1984)
//
//	exp(t·x) = e^peak·Σ_j (2−δ_j0)·(±1)^j·e^−z·I_j(z)·T_j(y),  peak = max t·x
func expandExp(t, s, lo, hi float64) (*expansion, error) {
	z := math.Abs(t) * (hi - lo) / 2
	peak := max(t*lo, t*hi)
	if last := degree(z, smallest); last > maxDegree {
		return nil, fmt.Errorf("%w: exp(%g·x) on [%.6g, %.6g] needs a series of degree %d", ErrParameter, t, lo, hi, last)
	}
	if peak > maxLog {
		return nil, fmt.Errorf("%w: exp(%g·x) on [%.6g, %.6g]",
			ErrOverflow, t, lo, hi)
	}
	coef, tail := scaledBessel(z)
	factor := math.Exp(peak - s)
	for j := range coef {
		if j > 0 {
			coef[j] *= 2
		}
		if t < 0 && j%2 == 1 {
			coef[j] = -coef[j]
		}
		coef[j] *= factor
	}
	return newExpansion(coef, tail*factor), nil
}

// expandInverse returns the series of 1/(a + b·y) on [−1, 1], |b| < |a|. With ρ = r − √(r²−1) and r = |a/b| the
// coefficients are (2−δ_j0)·(±ρ)^j/√(a²−b²).
func expandInverse(a, b float64) *expansion {
	if b == 0 {
		return newExpansion([]float64{1 / a}, 0)
	}
	r := math.Abs(a / b)
	root := math.Sqrt((r - 1) * (r + 1))
	rho := 1 / (r + root)
	first := 1 / (math.Abs(b) * root)
	last := int(math.Ceil(math.Log(smallest*(1-rho)) / math.Log(rho)))
	coef := make([]float64, min(last, maxDegree)+1)
	sign := 1.0
	if (a > 0) == (b > 0) {
		sign = -1
	}
	power := first
	for j := range coef {
		coef[j] = power
		if j > 0 {
			coef[j] *= 2
		}
		power *= rho * sign
	}
	if a < 0 {
		for j := range coef {
			coef[j] = -coef[j]
		}
	}
	e := newExpansion(coef, 2*math.Abs(power)/(1-rho))
	e.slope = math.Abs(b) / ((math.Abs(a) - math.Abs(b)) * (math.Abs(a) -
		math.Abs(b)))
	return e
}
