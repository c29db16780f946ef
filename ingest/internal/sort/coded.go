package sort

import (
	"cmp"
	"math"
	"slices"
)

// The weight of a line with kind or time is rounded to float32 and packed with its code into a float64: the
// bits of the weight are the upper half, and the code is the lower half. For weight 0 the packed number is 0.
// Packed numbers are finite and have the order of the weights.

// Pack returns a weight packed with a code.
func Pack(weight float64, code uint32) float64 {
	single := float32(weight)
	if single == 0 {
		return 0
	}
	return math.Float64frombits(uint64(math.Float32bits(single))<<32 | uint64(code))
}

// IsPackable reports whether a weight is in the range of float32, to which [Pack] rounds it.
func IsPackable(weight float64) bool {
	single := float32(weight)
	return !math.IsInf(float64(single), 0) && (single != 0 || weight == 0)
}

// Unpack is the inverse of [Pack].
func Unpack(packed float64) (weight float64, code uint32) {
	bits := math.Float64bits(packed)
	return float64(math.Float32frombits(uint32(bits >> 32))), uint32(bits)
}

// lineSum merges the lines of one entry with the same code.
type lineSum struct {
	code  uint32
	lines [2]int     // lines of each direction
	value [2]float64 // merged weight of each direction; if directions are not separated, the first is the weight of both
	first float64    // weight of the first line
}

// sumOf finds or inserts the sum of the lines of the current entry with the given code.
func (j *joiner[K]) sumOf(code uint32) *lineSum {
	index, ok := slices.BinarySearchFunc(j.sums, code,
		func(s lineSum, code uint32) int { return cmp.Compare(s.code, code) })
	if !ok {
		j.sums = slices.Insert(j.sums, index, lineSum{code: code})
	}
	return &j.sums[index]
}
