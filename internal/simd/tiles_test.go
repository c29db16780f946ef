package simd

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Sums have three parts: old values, 16-bit ids and other ids.
func TestTiles(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	t.Run("float32", testTiles[float32])
	t.Run("float64", testTiles[float64])
}

func testTiles[T Float](t *testing.T) {
	eachVariant(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(11, 12))
		for k := 1; k <= 150; k++ {
			for _, rows := range []int{0, 1, 7, 60} {
				longest, stride := 9, k+rng.IntN(4)
				if k&(k-1) == 0 && rng.IntN(3) > 0 {
					longest, stride = 99, k
				}
				near, far := newGraph[T](rng, rows, rng.IntN(longest)), newGraph[T](rng, rows, rng.IntN(longest))
				dstStride := k + rng.IntN(4)
				ids, checkIDs := guarded[uint16](t, len(near.col), 1<<16-1)
				for e, c := range near.col {
					ids[e] = uint16(c)
				}
				col, checkCol := guarded[uint32](t, len(far.col), 1<<32-1)
				copy(col, far.col)
				if rng.IntN(2) == 0 {
					col = append(make([]uint32, 0, len(col)+300), col...)
				}
				nearVal, farVal := near.val, far.val
				if rng.IntN(2) == 0 {
					nearVal, farVal = nil, nil
				}
				x, checkX := guarded(t, (max(near.n, far.n)-1)*stride+k, T(guard))
				for i := range x {
					x[i] = T(rng.NormFloat64())
				}
				dst, checkDst := guarded(t, max(0, (rows-1)*dstStride+k), T(guard))
				scale := make([]T, rows)
				for r := range scale {
					scale[r] = T(rng.NormFloat64())
				}
				for i := range dst {
					dst[i] = T(rng.NormFloat64())
				}
				begun, want := slices.Clone(dst), slices.Clone(dst)
				sum := func(factor func(r int) T) {
					for r := range rows {
						for j := range k {
							s := begun[r*dstStride+j]
							for e := near.ptr[r] - near.ptr[0]; e < near.ptr[r+1]-near.ptr[0]; e++ {
								s += weighted(nearVal, e, x[int(near.col[e])*stride+j])
							}
							if factor != nil {
								for e := far.ptr[r] - far.ptr[0]; e < far.ptr[r+1]-far.ptr[0]; e++ {
									s += weighted(farVal, e, x[int(far.col[e])*stride+j])
								}
								s *= factor(r)
							}
							want[r*dstStride+j] = s
						}
					}
				}
				compare := func(what string) {
					t.Helper()
					for i := range want {
						if bitsOf(dst[i]) != bitsOf(want[i]) {
							t.Fatalf("%s, width %d, %d rows: element %d is %v, want %v", what, k, rows, i, dst[i], want[i])
						}
					}
				}
				to, from := Rows[T]{dst, dstStride}, Rows[T]{x, stride}
				GatherTile(to, k, from, near.ptr, ids, nearVal)
				sum(nil)
				compare("near")
				GatherOnto(to, k, scale, from, far.ptr, col, farVal)
				sum(func(r int) T { return scale[r] })
				compare("onto")
				checkIDs()
				checkCol()
				checkX()
				checkDst()
			}
		}
	})
}

func weighted[T Float](val []T, e int64, v T) T {
	if val == nil {
		return v
	}
	return T(val[e] * v)
}

func TestWiden(t *testing.T) {
	eachVariant(t, func(t *testing.T) {
		testWiden[float32, uint8](t)
		testWiden[float32, float32](t)
		testWiden[float32, float64](t)
		testWiden[float64, uint8](t)
		testWiden[float64, float32](t)
		testWiden[float64, float64](t)
	})
}

func testWiden[T Float, V uint8 | float32 | float64](t *testing.T) {
	t.Helper()
	rng := rand.New(rand.NewPCG(21, 22))
	for n := range 40 {
		var none T
		var empty V
		src, checkSrc := guarded(t, n, empty)
		dst, checkDst := guarded(t, n, none)
		for i := range src {
			src[i] = V(rng.Float64() * 255)
		}
		Widen(dst, src)
		for i, v := range src {
			if dst[i] != T(v) {
				t.Fatalf("%d of %d numbers %v: %v", i, n, v, dst[i])
			}
		}
		checkSrc()
		checkDst()
	}
}
