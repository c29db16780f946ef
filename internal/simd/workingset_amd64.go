//go:build amd64 && !noasm

package simd

import "unsafe"

// workingLanes returns how many numbers the twins of LargestGain and Advance take at a time;
// without one it is more than there are.
func workingLanes(n int) int {
	switch {
	case hasAVX512:
		return 8
	case hasAVX2:
		return 4
	}
	return n + 1
}

// largestGain looks at the first numbers, as many as it returns.
func largestGain[T Float](down, diag []float64, row []T, f, kii, least float64) (n, best int, gain float64) {
	n = len(down) - len(down)%workingLanes(len(down))
	if n == 0 {
		return 0, -1, 0
	}
	single := sizeOf[T]() == 4
	switch r := unsafe.Pointer(&row[0]); {
	case single && hasAVX512:
		best, gain = largestGainF32AVX512(&down[0], &diag[0], (*float32)(r), n, f, kii, least)
	case single:
		best, gain = largestGainF32AVX2(&down[0], &diag[0], (*float32)(r), n, f, kii, least)
	case hasAVX512:
		best, gain = largestGainF64AVX512(&down[0], &diag[0], (*float64)(r), n, f, kii, least)
	default:
		best, gain = largestGainF64AVX2(&down[0], &diag[0], (*float64)(r), n, f, kii, least)
	}
	return n, best, gain
}

// advance advances the first numbers, as many as it returns.
func advance[T Float](up, down []float64, ri, rj []T, step float64) (n, at int, lowest, highest float64) {
	n = len(up) - len(up)%workingLanes(len(up))
	if n == 0 {
		return nothingAdvanced()
	}
	single := sizeOf[T]() == 4
	switch i, j := unsafe.Pointer(&ri[0]), unsafe.Pointer(&rj[0]); {
	case single && hasAVX512:
		at, lowest, highest = advanceF32AVX512(&up[0], &down[0], (*float32)(i), (*float32)(j), n, step)
	case single:
		at, lowest, highest = advanceF32AVX2(&up[0], &down[0], (*float32)(i), (*float32)(j), n, step)
	case hasAVX512:
		at, lowest, highest = advanceF64AVX512(&up[0], &down[0], (*float64)(i), (*float64)(j), n, step)
	default:
		at, lowest, highest = advanceF64AVX2(&up[0], &down[0], (*float64)(i), (*float64)(j), n, step)
	}
	return n, at, lowest, highest
}
