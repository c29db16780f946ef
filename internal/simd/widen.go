package simd

// Widen stores numbers of another type in dst. It rounds them to T if T is the narrower type. dst must be as long as src.
func Widen[T Float, V uint8 | float32 | float64](dst []T, src []V) {
	widen(dst, src)
}

// plainWiden is Widen in plain Go.
func plainWiden[T Float, V uint8 | float32 | float64](dst []T, src []V) {
	for i, v := range src[:len(dst)] {
		dst[i] = T(v)
	}
}
