package double

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// Operations err by less than what they promise, beside numbers of 300 bits.
func TestRounding(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 6))
	number := func() Number {
		a := rng.NormFloat64() * math.Pow(10, 20*rng.Float64()-10)
		return Sum(a, a*0x1p-53*(rng.Float64()-0.5))
	}
	exact := func(a Number) *big.Float {
		x := new(big.Float).SetPrec(300).SetFloat64(a.Hi)
		return x.Add(x, big.NewFloat(a.Lo))
	}
	near := func(what string, got Number, want *big.Float, size float64) {
		t.Helper()
		d := exact(got)
		if off, _ := d.Sub(d, want).Float64(); !(math.Abs(off) <= Rounding*size) {
			t.Fatalf("%s is off by %g of %g", what, off, size)
		}
		if got.Hi+got.Lo != got.Hi {
			t.Fatalf("%s is not normal: %v", what, got)
		}
	}
	zero := func() *big.Float { return new(big.Float).SetPrec(300) }
	for range 20000 {
		a, b := number(), number()
		if rng.IntN(3) == 0 { // what cancels
			b = Number{-a.Hi, a.Lo * rng.Float64()}
		}
		x, y := exact(a), exact(b)
		near("a + b", a.Plus(b), zero().Add(x, y), math.Abs(a.Hi)+math.Abs(b.Hi))
		near("a − b", a.Minus(b), zero().Sub(x, y), math.Abs(a.Hi)+math.Abs(b.Hi))
		near("a·b", a.Times(b), zero().Mul(x, y), math.Abs(a.Hi*b.Hi))
		near("a/b", a.Over(b), zero().Quo(x, y), math.Abs(a.Hi/b.Hi))
		if a.Hi > 0 {
			near("√a", a.Root(), zero().Sqrt(x), math.Sqrt(a.Hi))
		}
	}
}
