package lanczos

import "math"

// Monotone says which signs the derivatives of a function have on the
// spectrum. For the two kinds with a name the error bounds are rigorous.
type Monotone uint8

const (
	General Monotone = iota
	Falling          // completely monotone, f ≥ 0, f' ≤ 0, f'' ≥ 0, …: e^(−βx), (x+σ)^(−ν)
	Rising           // absolutely monotone, all derivatives ≥ 0: e^(βx)
)

// Function is a function of a symmetric matrix.
type Function struct {
	Value    func(x float64) float64
	Monotone Monotone

	// Quotient, if not nil, returns (f(x) − f(y))/(x − y) without cancellation.
	Quotient func(x, y float64) float64
}

// Exp returns e^(t·x).
func Exp(t float64) Function {
	f := Function{
		Value: func(x float64) float64 { return math.Exp(t * x) },
		Quotient: func(x, y float64) float64 {
			if x == y {
				return t * math.Exp(t*y)
			}
			return math.Exp(t*y) * math.Expm1(t*(x-y)) / (x - y)
		},
		Monotone: Falling,
	}
	if t > 0 {
		f.Monotone = Rising
	}
	return f
}

// Power returns (x + shift)^(−exponent), for an exponent > 0; the spectrum must
// lie above −shift.
func Power(shift, exponent float64) Function {
	value := func(x float64) float64 { return math.Pow(x+shift, -exponent) }
	return Function{
		Value: value,
		Quotient: func(x, y float64) float64 {
			if x == y {
				return -exponent * math.Pow(y+shift, -exponent-1)
			}
			return value(y) * math.Expm1(-exponent*math.Log1p((x-y)/(y+shift))) / (x - y)
		},
		Monotone: Falling,
	}
}

// quotient returns the difference quotient of f; where x and y are too close,
// on a spectrum of the given length, by extrapolation from longer steps.
func (f Function) quotient(x, y, length float64) float64 {
	if f.Quotient != nil {
		return f.Quotient(x, y)
	}
	step := math.Copysign(1e-6*length, x-y)
	if d := x - y; math.Abs(d) < math.Abs(step) {
		at := func(d float64) float64 { return (f.Value(y+d) - f.Value(y)) / d }
		near, far := at(step), at(2*step)
		return near + (near-far)*(1-d/step)
	}
	if x == y {
		return 0 // a spectrum of length 0
	}
	return (f.Value(x) - f.Value(y)) / (x - y)
}

// errorFactor returns what the error of f(A)b, by the Lanczos chain of b, is
// relative to ‖b‖:
//
//	β·|e_mᵀ g(T) e₁|,  g(x) = (f(x) − f(z))/(x − z)
//
// For an exponential this is the integral of the residual of y' = ±(A − z)y
// when z is the end of the spectrum at which f is largest (Hochbruck and Lubich
// 1997; Ye 2013): a bound, since the entry of e^(sT) in the corner has one sign for
// all s; for the monotone kinds, which are integrals of exponentials, likewise.
// Otherwise it is the first term of the error's expansion, the largest of both ends:
// an estimate.
func (c *chain) errorFactor(f Function, spectrum Bounds, values, vectors []float64) float64 {
	corner := func(z float64) float64 {
		var sum float64
		for i, theta := range values {
			sum += vectors[2*i] * vectors[2*i+1] * f.quotient(theta, z, spectrum.Hi-spectrum.Lo)
		}
		return c.last * math.Abs(sum)
	}
	switch f.Monotone {
	case Falling:
		return corner(spectrum.Lo)
	case Rising:
		return corner(spectrum.Hi)
	}
	return max(corner(spectrum.Lo), corner(spectrum.Hi))
}
