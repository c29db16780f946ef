package simd

// ScaleTo stores alpha·x, rounded to T, in dst, which must be as long as x.
func ScaleTo[T Float](dst []T, alpha float64, x []float64) {
	scaleTo(dst, alpha, x)
}

func plainScaleTo[T Float](dst []T, alpha float64, x []float64) {
	for i, v := range x[:len(dst)] {
		dst[i] = T(alpha * v)
	}
}
