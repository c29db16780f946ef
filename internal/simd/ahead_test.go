package simd

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestGatherSumAhead gathers rows of many lengths in several calls while other ids
// are decoded, fewer than are gathered, as many and more: the sums are those of
// GatherSum, and the ids those that were coded.
func TestGatherSumAhead(t *testing.T) {
	t.Run("float32", testGatherSumAhead[float32])
	t.Run("float64", testGatherSumAhead[float64])
}

func testGatherSumAhead[T Float](t *testing.T) {
	widths := [4]uint8{4, 8, 12, 20}
	eachVariant(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(7, 8))
		for _, k := range []int{1, 2, 3, 4, 5, 8, 16, 32} {
			for _, lengths := range [][]int{
				{}, {0}, {1}, {15, 16, 17, 0, 31, 32, 33}, {3000}, {700, 700}, {0, 2000, 0}, {1, 1, 4000, 1}, {4000, 1, 1, 1},
				{500, 3000, 20, 0, 900, 31}, {7, 1100, 0, 0, 1600}, {100, 0, 107, 99, 101, 0, 0, 250, 600, 3, 70, 80, 90, 100},
				slices.Repeat([]int{3, 0, 9, 16, 1, 40}, 60), slices.Repeat([]int{64, 71}, 30),
			} {
				g := graph[T]{n: 40, ptr: []int64{3}}
				for _, n := range lengths {
					for range n {
						g.col = append(g.col, rng.Uint32N(uint32(g.n)))
					}
					g.ptr = append(g.ptr, g.ptr[len(g.ptr)-1]+int64(n))
				}
				rows, stride, col := len(lengths), k+rng.IntN(3), slices.Grow(slices.Clone(g.col), 400)
				x, scale, want := make([]T, g.n*k), make([]T, rows), slices.Repeat([]T{guard}, rows*stride)
				for i := range x {
					x[i] = T(rng.NormFloat64())
				}
				for r := range scale {
					scale[r] = T(rng.NormFloat64())
				}
				GatherSum(Rows[T]{want, stride}, k, scale, Rows[T]{x, k}, g.ptr, col)
				for _, n := range []int{0, 1, 16, 255, 256, 257, 300, 1000, len(g.col) + 256, 9000} {
					ids := make([]uint32, n)
					for i := range ids {
						ids[i] = rng.Uint32() >> (12 + rng.IntN(20))
					}
					sel, data := encode(ids, widths, 20)
					decoded, check := guarded[uint32](t, n+16, guard)
					dst, checkSums := guarded[T](t, rows*stride, guard)
					var ahead Decoding
					ahead.Begin(decoded, n, sel, data, widths, 20, Near{})
					GatherSumAhead(Rows[T]{dst, stride}, k, scale, Rows[T]{x, k}, g.ptr, col, &ahead)
					ahead.Head()
					if head := min(n, DecodingHead); !slices.Equal(decoded[:head], ids[:head]) {
						t.Fatalf("%d ids: the first are %v, want %v", n, decoded[:head], ids[:head])
					}
					step := 1 + rng.IntN(rows+1)
					for lo := 0; lo < rows; lo += step {
						hi := min(lo+step, rows)
						GatherSumAhead(Rows[T]{dst[lo*stride:], stride}, k, scale[lo:hi], Rows[T]{x, k}, g.ptr[lo:hi+1], col[g.ptr[lo]-g.ptr[0]:], &ahead)
					}
					ahead.Finish()
					if !slices.Equal(dst, want) {
						t.Fatalf("%d columns, rows of %v, %d at a time: %v, want %v", k, lengths, step, dst, want)
					}
					if !slices.Equal(decoded[:n], ids) {
						t.Fatalf("%d columns, rows of %v, %d at a time, %d ids: %v, want %v", k, lengths, step, n, decoded[:n], ids)
					}
					checkSums()
					check()
				}
			}
		}
	})
}

// TestDecodingForgets leaves a decoding behind and begins with another.
func TestDecodingForgets(t *testing.T) {
	widths := [4]uint8{4, 8, 12, 20}
	eachVariant(t, func(t *testing.T) {
		ids := make([]uint32, 1000)
		for i := range ids {
			ids[i] = uint32(i * i)
		}
		sel, data := encode(ids, widths, 20)
		var d Decoding
		first, second := make([]uint32, 1016), make([]uint32, 1016)
		d.Begin(first, 1000, sel, data, widths, 20, Near{})
		d.Head()
		known := slices.Clone(first)
		d.Begin(second, 1000, sel, data, widths, 20, Near{})
		d.Finish()
		if !slices.Equal(first, known) || !slices.Equal(second[:1000], ids) {
			t.Error("the first decoding was not left behind, or the second not finished")
		}
		d.Begin(first, 1000, sel, data, widths, 20, Near{Data: make([]byte, 1<<20), Stride: 1})
		d.Head()
		known = slices.Clone(first)
		d.Forget()
		d.Finish()
		if !slices.Equal(first, known) {
			t.Error("what was forgotten was decoded")
		}
	})
}
