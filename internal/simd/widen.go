package simd

// Widen stores in dst, which is as long, numbers of another type, rounded to T if it is
// the narrower one.
func Widen[T Float, V uint8 | float32 | float64](dst []T, src []V) {
	widen(dst, src)
}

// plainWiden is Widen in plain Go.
func plainWiden[T Float, V uint8 | float32 | float64](dst []T, src []V) {
	for i, v := range src[:len(dst)] {
		dst[i] = T(v)
	}
}
