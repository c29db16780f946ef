package simd

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestVectors(t *testing.T) {
	t.Run("float32", testVectors[float32])
	t.Run("float64", testVectors[float64])
}

func testVectors[T Float](t *testing.T) {
	var first []float64
	eachVariant(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 6))
		var all []float64
		for _, n := range []int{0, 1, 3, 4, 7, 16, 19, 20, 55, 64, 131} {
			x, intact := guarded(t, n, T(guard))
			y, alsoIntact := guarded(t, n, float64(guard))
			var want, size float64
			for i := range x {
				x[i], y[i] = T(rng.NormFloat64()), rng.NormFloat64()
				want += float64(x[i]) * y[i]
				size += math.Abs(float64(x[i]) * y[i])
			}
			got := Dot(x, y)
			if math.Abs(got-want) > 1e-15*float64(n)*size {
				t.Fatalf("%d numbers: %g, want %g", n, got, want)
			}
			sums := make([]float64, n)
			for i := range sums {
				sums[i] = y[i] + float64(0.3*float64(x[i]))
			}
			AddScaled(y, 0.3, x)
			for i, v := range sums {
				if y[i] != v {
					t.Fatalf("%d numbers: sum %d is %g, want %g", n, i, y[i], v)
				}
			}
			intact()
			alsoIntact()
			all = append(append(all, got), y...)
		}
		if first == nil {
			first = all
		}
		for i, v := range all {
			if v != first[i] {
				t.Fatalf("result %d is %v, with another variant %v", i, v, first[i])
			}
		}
	})
}

func BenchmarkVectors(b *testing.B) {
	const n = 55
	x, y := make([]float64, n), make([]float64, n)
	b.Run("dot", func(b *testing.B) {
		for b.Loop() {
			Dot(x, y)
		}
	})
	b.Run("add", func(b *testing.B) {
		for b.Loop() {
			AddScaled(y, 0, x)
		}
	})
}
