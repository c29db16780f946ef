package simd

// Widen stores the numbers of src in dst, which must be as long as src, as values of type T. If T is the narrower type,
// it rounds them.
func Widen[T Float, V uint8 | float32 | float64](dst []T, src []V) {
	widen(dst, src)
}

func plainWiden[T Float, V uint8 | float32 | float64](dst []T, src []V) {
	for i, v := range src[:len(dst)] {
		dst[i] = T(v)
	}
}
