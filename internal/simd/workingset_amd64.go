//go:build amd64 && !noasm

package simd

import "unsafe"

const workingLanes = 4

// largestGain returns the index with the largest gain among the first n items, and the gain. n is the largest multiple
// of workingLanes up to len(down); without AVX2 it is 0. If no item has a gain, best is −1.
func largestGain[T Float](down, diag []float64, row []T,
	f, kii, floor float64) (n, best int, gain float64) {
	n = len(down) / workingLanes * workingLanes
	if !hasAVX2 || n == 0 {
		return 0, -1, 0
	}
	if r := unsafe.Pointer(&row[0]); sizeOf[T]() == 4 {
		best, gain = largestGainF32AVX2(&down[0], &diag[0], (*float32)(r), n, f,
			kii, floor)
	} else {
		best, gain = largestGainF64AVX2(&down[0], &diag[0], (*float64)(r), n, f,
			kii, floor)
	}
	return n, best, gain
}

// advance is Advance for the first n items. n is the largest multiple of workingLanes up to len(up); without AVX2 it is
// 0.
func advance[T Float](up, down []float64, ri, rj []T,
	step float64) (n, index int, lowest, highest float64) {
	n = len(up) / workingLanes * workingLanes
	if !hasAVX2 || n == 0 {
		return nothingAdvanced()
	}
	if i, j := unsafe.Pointer(&ri[0]), unsafe.Pointer(&rj[0]); sizeOf[T]() == 4 {
		index, lowest, highest = advanceF32AVX2(&up[0], &down[0], (*float32)(i),
			(*float32)(j), n, step)
	} else {
		index, lowest, highest = advanceF64AVX2(&up[0], &down[0], (*float64)(i),
			(*float64)(j), n, step)
	}
	return n, index, lowest, highest
}
