package simd

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestHalves compares with the definition, around what the loop takes at a time.
func TestHalves(t *testing.T) {
	eachVariant(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(61, 1))
		for n := range 70 {
			base := rng.Uint32N(1<<32 - 1<<16)
			ids, want := make([]uint32, n), make([]uint16, n)
			for e := range ids {
				want[e] = uint16(rng.Uint32())
				ids[e] = base + uint32(want[e])
			}
			dst, check := guarded[uint16](t, n, 0xa5a5)
			Halves(dst, ids, base)
			if !slices.Equal(dst, want) {
				t.Fatalf("%d ids from %d: %v, want %v", n, base, dst, want)
			}
			check()
		}
	})
}

// TestBounds compares with a count.
func TestBounds(t *testing.T) {
	eachVariant(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(62, 1))
		for n := range 300 {
			step := 1 + rng.Uint32N(1<<(1+rng.IntN(29)))
			ids := make([]uint32, n)
			for e := range ids {
				ids[e] = uint32(min(rng.Uint64N(10*uint64(step)), 1<<32-1))
				if rng.IntN(4) == 0 {
					ids[e] = step * (1 + rng.Uint32N(BoundsLanes))
				}
			}
			slices.Sort(ids)
			var got, want [BoundsLanes]uint32
			for _, id := range ids {
				for i := range want {
					if id < step*uint32(i+1) {
						want[i]++
					}
				}
			}
			Bounds(&got, ids, step)
			if got != want {
				t.Fatalf("%v in steps of %d: %v, want %v", ids, step, got, want)
			}
		}
	})
}
