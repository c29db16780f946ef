package simd

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestDistances(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 0))
	eachVariant(t, func(t *testing.T) {
		for _, b := range []uint{0, 1, 3, 4, 7, 8, 20, 28, 31} {
			for n := range 300 {
				ids := make([]uint32, n)
				for e := range ids {
					ids[e] = uint32(rng.Uint64() & (1<<b - 1) >> rng.UintN(b+1))
				}
				last := uint32(rng.Uint64() & (1<<b - 1))
				delta, check := guarded[uint32](t, n, guard)
				lengths := [32]int{5: 7}
				want := lengths
				Distances(delta, ids, last, b, &lengths)
				for e, id := range ids {
					d := (int64(id) - int64(last) - 1) & (1<<b - 1)
					if int64(delta[e]) != d {
						t.Fatalf("%d bits, %d ids: distance %d is %d, want %d", b, n, e, delta[e], d)
					}
					want[bits.Len64(uint64(d))]++
					last = id
				}
				if lengths != want {
					t.Fatalf("%d bits, %d ids: lengths %v, want %v", b, n, lengths, want)
				}
				check()
			}
		}
	})
}

func TestCells(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 0))
	eachVariant(t, func(t *testing.T) {
		for n := 0; n < 100; n += 2 {
			for range 20 {
				head, shift := uint32(rng.Uint64()>>(32+rng.UintN(32))), rng.UintN(32)
				row := make([]uint32, n)
				for i := range row {
					row[i] = uint32(rng.Uint64() >> (33 + rng.UintN(30)))
				}
				wantOdd := false
				if n > 0 && rng.IntN(2) == 0 {
					i := rng.IntN(n)
					row[i] = []uint32{row[i^1], math.MaxUint32}[rng.IntN(2)]
				}
				want := make([]uint32, n)
				for i, r := range row {
					want[i] = uint32(uint64(r)>>shift) + min(r, head)
					wantOdd = wantOdd || r == math.MaxUint32 || r == row[i^1]
				}
				cell, check := guarded[uint32](t, n, guard)
				odd := Cells(cell, row, head, shift)
				if !slices.Equal(cell, want) || odd != wantOdd {
					t.Fatalf("rows %v, head %d, shift %d: cells %v, odd %t, want %v, %t", row, head, shift, cell, odd, want, wantOdd)
				}
				check()
			}
		}
	})
}

func TestEntries(t *testing.T) {
	t.Run("uint32", testEntries[uint32])
	t.Run("uint64", testEntries[uint64])
}

func testEntries[K uint32 | uint64](t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 0))
	eachVariant(t, func(t *testing.T) {
		for n := 0; n < 100; n += 2 {
			for _, column := range []uint{1, 5, 21, 31, 32} {
				line := make([]uint32, n)
				for i := range line {
					line[i] = rng.Uint32()
				}
				entry, check := guarded[K](t, n, guard)
				Entries(entry, line, column)
				for i, got := range entry {
					if want := K(line[i])<<column | K(line[i^1])<<1 | K(i%2); got != want {
						t.Fatalf("%d rows, %d bits: entry %d is %#x, want %#x", n, column, i, got, want)
					}
				}
				check()
			}
		}
	})
}
