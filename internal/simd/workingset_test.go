package simd

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Some numbers are often equal, bounds may be infinite, gains may be too small to be exact, and some numbers are NaN.
func TestWorkingSet(t *testing.T) {
	t.Run("float32", testWorkingSet[float32])
	t.Run("float64", testWorkingSet[float64])
}

var numbersOf = map[string]func(rng *rand.Rand) float64{
	"any":     func(rng *rand.Rand) float64 { return rng.NormFloat64() },
	"equal":   func(rng *rand.Rand) float64 { return float64(rng.IntN(3)) },
	"bounded": func(rng *rand.Rand) float64 { return []float64{math.Inf(-1), 1, rng.Float64()}[rng.IntN(3)] },
	"tiny":    func(rng *rand.Rand) float64 { return math.Ldexp(rng.Float64(), -500-rng.IntN(100)) },
	"huge":    func(rng *rand.Rand) float64 { return math.Ldexp(rng.Float64(), 500+rng.IntN(100)) },
	"none": func(rng *rand.Rand) float64 {
		return []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, rng.NormFloat64()}[rng.IntN(5)]
	},
}

func testWorkingSet[T Float](t *testing.T) {
	eachVariant(t, func(t *testing.T) {
		for name, number := range numbersOf {
			rng := rand.New(rand.NewPCG(11, 12))
			for _, n := range []int{0, 1, 3, 4, 5, 8, 17, 64, 131} {
				for range 20 {
					down, intact := guarded(t, n, float64(guard))
					up, alsoIntact := guarded(t, n, float64(guard))
					diag, ri, rj := make([]float64, n), make([]T, n), make([]T, n)
					for k := range n {
						down[k], up[k], diag[k] = number(rng), -number(rng), number(rng)
						ri[k], rj[k] = T(number(rng)), T(rng.NormFloat64())
					}
					f, kii, step := number(rng), number(rng), number(rng)
					if got, want := LargestGain(down, diag, ri, f, kii, 1e-12), slowGain(down, diag, ri, f, kii); got != want {
						t.Fatalf("%s, %d numbers: place %d, want %d", name, n, got, want)
					}
					before := [2][]float64{append([]float64(nil), up...), append([]float64(nil), down...)}
					at, lowest, highest := Advance(up, down, ri, rj, step)
					wantAt, wantLowest, wantHighest := 0, math.MaxFloat64, math.Inf(-1)
					for k := range n {
						change := float64(step * (float64(ri[k]) - float64(rj[k])))
						for s, moved := range [2]float64{up[k], down[k]} {
							if want := before[s][k] + change; moved != want && !(math.IsNaN(moved) && math.IsNaN(want)) {
								t.Fatalf("%s, %d numbers: number %d is %g, want %g", name, n, k, moved, want)
							}
						}
						if up[k] < wantLowest || up[k] == wantLowest {
							wantAt, wantLowest = k, up[k]
						}
						if down[k] > wantHighest {
							wantHighest = down[k]
						}
					}
					if at != wantAt || lowest != wantLowest || highest != wantHighest {
						t.Fatalf("%s, %d numbers: %d, %g, %g, want %d, %g, %g", name, n, at, lowest, highest, wantAt, wantLowest, wantHighest)
					}
					intact()
					alsoIntact()
				}
			}
		}
	})
}

func slowGain[T Float](down, diag []float64, row []T, f, kii float64) int {
	gain := func(k int) float64 {
		e := kii + diag[k] - 2*float64(row[k])
		if !(e > 0) {
			e = 1e-12
		}
		return (down[k] - f) * (down[k] - f) / e
	}
	largest := math.Inf(-1)
	for k := range down {
		if down[k] > f && gain(k) > largest {
			largest = gain(k)
		}
	}
	for k := len(down) - 1; k >= 0; k-- {
		if down[k] > f && gain(k) == largest {
			return k
		}
	}
	return -1
}

func BenchmarkWorkingSet(b *testing.B) {
	const n = 2000
	rng := rand.New(rand.NewPCG(1, 2))
	up, down, diag := make([]float64, n), make([]float64, n), make([]float64, n)
	ri, rj := make([]float32, n), make([]float32, n)
	for k := range n {
		up[k], down[k], diag[k] = rng.NormFloat64(), rng.NormFloat64(), 1
		ri[k], rj[k] = rng.Float32(), rng.Float32()
	}
	b.Run("gain", func(b *testing.B) {
		benchmarkEach(b, true, func(b *testing.B) {
			for b.Loop() {
				LargestGain(down, diag, ri, 0, 1, 1e-12)
			}
		})
	})
	b.Run("advance", func(b *testing.B) {
		benchmarkEach(b, true, func(b *testing.B) {
			for b.Loop() {
				Advance(up, down, ri, rj, 1e-9)
			}
		})
	})
}
