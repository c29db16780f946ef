package simd

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"testing"
)

// TestTake compares what is taken with the elements one by one, and lists that name what is
// not there, which panic.
func TestTake(t *testing.T) {
	t.Run("float32 from float32", testTake[float32, float32])
	t.Run("float32 from float64", testTake[float32, float64])
	t.Run("float64 from float32", testTake[float64, float32])
	t.Run("float64 from float64", testTake[float64, float64])
}

func testTake[D, S Float](t *testing.T) {
	eachVariant(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(13, 14))
		for _, n := range []int{0, 1, 3, 4, 5, 8, 19, 64, 130} {
			x, _ := guarded(t, 1+rng.IntN(200), S(guard))
			for i := range x {
				x[i] = S(rng.NormFloat64())
			}
			at := make([]int, n)
			for j := range at {
				at[j] = rng.IntN(len(x))
			}
			dst, intact := guarded(t, n, D(guard))
			Take(dst, x, at)
			for j, v := range dst {
				if want := D(x[at[j]]); v != want {
					t.Fatalf("%d of %d: number %d is %v, want %v", n, len(x), j, v, want)
				}
			}
			for _, place := range []int{-1, len(x), len(x) + 1<<40} {
				if n == 0 {
					break
				}
				was := at[n/2]
				at[n/2] = place
				func() {
					defer func() {
						if recover() == nil {
							t.Fatalf("place %d of %d was read", place, len(x))
						}
					}()
					Take(dst, x, at)
				}()
				at[n/2] = was
			}
			intact()
		}
	})
}

// BenchmarkTake reads two fifths of rows that no cache holds.
func BenchmarkTake(b *testing.B) {
	const n, rows = 5000, 2000
	x, dst := make([]float64, n*rows), make([]float32, 2*n/5)
	rng := rand.New(rand.NewPCG(1, 3))
	at := rng.Perm(n)[:len(dst)]
	sort.Ints(at)
	order := rng.Perm(rows)
	b.Run(fmt.Sprint(len(at)), func(b *testing.B) {
		benchmarkEach(b, false, func(b *testing.B) {
			for r := 0; b.Loop(); r = (r + 1) % rows {
				Take(dst, x[order[r]*n:][:n], at)
			}
		})
	})
}
