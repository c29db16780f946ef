//go:build amd64 && !noasm

package simd

import "unsafe"

func dot[T Float](lanes *[4]float64, x []T, y []float64) {
	if !hasAVX2 || len(x) == 0 {
		plainDot(lanes, x, y)
		return
	}
	if p := unsafe.Pointer(&x[0]); sizeOf[T]() == 4 {
		dotF32AVX2(&lanes[0], (*float32)(p), &y[0], len(x))
	} else {
		dotF64AVX2(&lanes[0], (*float64)(p), &y[0], len(x))
	}
}

func addScaled[T Float](dst []float64, a float64, x []T) {
	if !hasAVX2 || len(x) == 0 {
		plainAddScaled(dst, a, x)
		return
	}
	if p := unsafe.Pointer(&x[0]); sizeOf[T]() == 4 {
		addScaledF32AVX2(&dst[0], a, (*float32)(p), len(x))
	} else {
		addScaledF64AVX2(&dst[0], a, (*float64)(p), len(x))
	}
}
