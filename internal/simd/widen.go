package simd

// Widen stores numbers of another type in dst, which must be as long as src. It rounds them if T is the narrower type.
func Widen[T Float, V uint8 | float32 | float64](dst []T, src []V) {
	widen(dst, src)
}

func plainWiden[T Float, V uint8 | float32 | float64](dst []T, src []V) {
	for i, v := range src[:len(dst)] {
		dst[i] = T(v)
	}
}
