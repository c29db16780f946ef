package expm

import (
	"errors"
	"math"
	"math/big"
	"testing"
)

const bits = 400 // precision of series

func expSeries(z float64) *big.Float {
	e, t := new(big.Float).SetPrec(bits).SetInt64(1), new(big.Float).SetPrec(bits).SetInt64(1)
	for m := 1; m < int(6*z)+150; m++ {
		t.Mul(t, new(big.Float).SetPrec(bits).SetFloat64(z))
		t.Quo(t, big.NewFloat(float64(m)))
		e.Add(e, t)
	}
	return e
}

func besselSeries(j int, z float64, exp *big.Float) float64 {
	half := new(big.Float).SetPrec(bits).Quo(new(big.Float).SetPrec(bits).SetFloat64(z), big.NewFloat(2))
	term := new(big.Float).SetPrec(bits).SetInt64(1)
	for i := 1; i <= j; i++ {
		term.Mul(term, half)
		term.Quo(term, big.NewFloat(float64(i)))
	}
	sum := new(big.Float).SetPrec(bits).Set(term)
	square := new(big.Float).SetPrec(bits).Mul(half, half)
	for m := 1; m < int(3*z)+80; m++ {
		term.Mul(term, square)
		term.Quo(term, big.NewFloat(float64(m)*float64(m+j)))
		sum.Add(sum, term)
	}
	v, _ := sum.Quo(sum, exp).Float64()
	return v
}

func TestScaledBessel(t *testing.T) {
	for _, z := range []float64{1e-300, 1e-20, 1e-9, .01, 1, 7.5, 60} {
		coef, rest := scaledBessel(z)
		exp := expSeries(z)
		largest := besselSeries(0, z, exp)
		for j, c := range coef {
			want := 0.0
			if z > 1e-15 || j < 2 {
				want = besselSeries(j, z, exp)
			}
			if d := math.Abs(c - want); !(d <= 4e-16*largest) {
				t.Errorf("z = %g: term %d is %g, want %g", z, j, c, want)
			}
		}
		var beyond float64
		for j := len(coef); j < len(coef)+20; j++ {
			beyond += 2 * besselSeries(j, z, exp)
		}
		if !(beyond <= rest) && rest > 0 {
			t.Errorf("z = %g: %g beyond the last term, bound %g", z, beyond, rest)
		}
	}
}

// The generating function at ±1 and the second moment z hold for any z.
func TestScaledBesselLarge(t *testing.T) {
	for _, z := range []float64{1e2, 1e4, 1e6, 1e7, 1e9} {
		coef, rest := scaledBessel(z)
		sum, moment, err := coef[0], 0.0, 0.0
		for j := len(coef) - 1; j > 0; j-- {
			sum += 2 * coef[j]
			moment += 2 * float64(j) * float64(j) * coef[j]
			if math.IsNaN(coef[j]) || coef[j] < 0 || coef[j] > coef[j-1]+1e-20 {
				t.Fatalf("z = %g: term %d is %g after %g", z, j, coef[j], coef[j-1])
			}
		}
		err = math.Abs(sum - 1)
		if err > 1e-12 || math.Abs(moment/z-1) > 1e-11 || rest > 1e-17 {
			t.Errorf("z = %g: sum 1%+g, second moment %g·z, rest %g", z, err, moment/z, rest)
		}
		// e^−z·I_0(z) ~ (2πz)^−½·(1 + 1/8z + 9/128z² + 225/3072z³).
		if want := (1 + 1/(8*z) + 9/(128*z*z) + 225/(3072*z*z*z)) / math.Sqrt(2*math.Pi*z); math.Abs(coef[0]/want-1) > 1/(z*z*z*z)*.2+5e-12*math.Sqrt(z/1e7+1e-2) {
			t.Errorf("z = %g: first term off by %g", z, coef[0]/want-1)
		}
	}
}

func TestDegree(t *testing.T) {
	for _, c := range []struct {
		z    float64
		want [3]int
	}{
		{1, [3]int{8, 11, 14}}, {10, [3]int{19, 25, 30}}, {100, [3]int{55, 71, 84}}, {1000, [3]int{171, 219, 258}},
		{1e5, [3]int{1704, 2179, 2567}}, {1e7, [3]int{17035, 21781, 25663}},
	} {
		for i, eps := range []float64{1e-6, 1e-10, 1e-14} {
			if d := degree(c.z, eps); d != c.want[i] {
				t.Errorf("degree(%g, %g) = %d, want %d", c.z, eps, d, c.want[i])
			}
		}
	}
	if degree(0, 1e-10) != 0 {
		t.Error("degree of a constant")
	}
}

func TestExpansions(t *testing.T) {
	for name, f := range map[string]Function{
		"exp(−3x)": Exp(-3), "exp(−1000x)": Exp(-1000), "exp(2x)": Exp(2), "exp(200x)": Exp(200), "1": Exp(0),
		"1/(.3+x)": Inverse(.3, 1), "1/(4−x)": Inverse(4, -1), "1/(−4+x)": Inverse(-4, 1), "1/2": Inverse(2, 0),
		"Matérn": Matern(.05, 1.7), "p-step": Power(3, 7), "sine": Smooth(math.Sin), "zero": Smooth(func(float64) float64 { return 0 }),
	} {
		const lo, hi = 0, 2.5
		e, err := f.expand(lo, hi)
		if err != nil {
			t.Fatal(name, err)
		}
		for i := 0; i <= 50; i++ {
			y := float64(i)/25 - 1
			x := (hi + lo + y*(hi-lo)) / 2
			for _, cut := range []int{len(e.coef) - 1, len(e.coef) / 2, 0} {
				var sum float64
				for j := range e.coef[:cut+1] {
					sum += e.coef[j] * math.Cos(float64(j)*math.Acos(y))
				}
				if d := math.Abs(sum - f.value(x)); d > e.tail[cut]+float64(len(e.coef)+4)*4*epsilon*e.size {
					t.Errorf("%s at %g, cut after %d of %d: off by %g, bound %g", name, x, cut, len(e.coef), d, e.tail[cut])
				}
			}
		}
	}
	for name, f := range map[string]Function{"step": Smooth(func(x float64) float64 { return math.Floor(x) }), "pole": Smooth(func(x float64) float64 { return 1 / x })} {
		if _, err := f.expand(0, 2); !errors.Is(err, ErrSmooth) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFitPower(t *testing.T) {
	powers := []float64{.3, .01, .5, .9, .99}
	if testing.Short() {
		powers = powers[:1]
	}
	for _, s := range powers {
		for _, top := range []float64{1.5, 100, 1e6} {
			for _, tolerance := range []float64{1e-4, 1e-10} {
				r := fitPower(s, top, tolerance)
				if r.err > tolerance {
					t.Errorf("x^−%g on [1, %g]: error %g, asked for %g", s, top, r.err, tolerance)
				}
				for _, x := range grid(top, 5557) {
					if e := math.Abs(r.at(x)*math.Pow(x, s) - 1); e > 1.2*r.err+8*epsilon {
						t.Fatalf("x^−%g on [1, %g]: error %g at %g, bound %g", s, top, e, x, r.err)
					}
				}
				for i, q := range r.pole {
					if !(q > 0 && r.weight[i] > 0) || r.constant < 0 {
						t.Errorf("pole %g, weight %g, constant %g", q, r.weight[i], r.constant)
					}
				}
			}
		}
	}
}
