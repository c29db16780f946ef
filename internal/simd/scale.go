package simd

// ScaleTo stores alpha·x in dst, rounded to T:
//
//	dst[i] = T(alpha·x[i])
//
// dst must be as long as x.
func ScaleTo[T Float](dst []T, alpha float64, x []float64) {
	scaleTo(dst, alpha, x)
}

// plainScaleTo is ScaleTo in plain Go.
func plainScaleTo[T Float](dst []T, alpha float64, x []float64) {
	for i, v := range x[:len(dst)] {
		dst[i] = T(alpha * v)
	}
}
