package simd

import "slices"

// Halves stores in dst the distances of ids from base, which is at most 65,535 less
// than any of them:
//
//	dst[e] = ids[e] − base
//
// dst is at least as long as ids.
func Halves(dst []uint16, ids []uint32, base uint32) { halves(dst, ids, base) }

func plainHalves(dst []uint16, ids []uint32, base uint32) {
	dst = dst[:len(ids)]
	for e, id := range ids {
		dst[e] = uint16(id - base)
	}
}

// BoundsLanes is how many counts [Bounds] stores.
const BoundsLanes = 8

// Bounds stores in counts[i] how many of the increasing ids are less than (i+1)·step,
// which fits 32 bits.
func Bounds(counts *[BoundsLanes]uint32, ids []uint32, step uint32) { bounds(counts, ids, step) }

func plainBounds(counts *[BoundsLanes]uint32, ids []uint32, step uint32) {
	for i := range counts {
		bound := step * uint32(i+1)
		n, _ := slices.BinarySearch(ids, bound)
		counts[i] = uint32(n)
	}
}
