//go:build amd64 && !noasm

package simd

const widenLanes = 8

func widen[T Float, V uint8 | float32 | float64](dst []T, src []V) {
	n := len(dst) / widenLanes * widenLanes
	if !hasAVX2 || n == 0 {
		plainWiden(dst, src)
		return
	}
	_ = src[len(dst)-1]
	switch dest := any(&dst[0]).(type) {
	case *float32:
		switch source := any(&src[0]).(type) {
		case *uint8:
			widenBytesToF32AVX2(dest, source, n)
		case *float32:
			copy(dst, any(src).([]T))
		case *float64:
			scaleToF32AVX2(dest, 1, source, n)
		}
	case *float64:
		switch source := any(&src[0]).(type) {
		case *uint8:
			widenBytesToF64AVX2(dest, source, n)
		case *float32:
			widenF32ToF64AVX2(dest, source, n)
		case *float64:
			copy(dst, any(src).([]T))
		}
	}
	plainWiden(dst[n:], src[n:])
}
