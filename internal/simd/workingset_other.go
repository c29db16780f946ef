//go:build !amd64 || noasm

package simd

func largestGain[T Float](down, diag []float64, row []T, f, kii, least float64) (n, best int, gain float64) {
	return 0, -1, 0
}

func advance[T Float](up, down []float64, ri, rj []T, step float64) (n, at int, lowest, highest float64) {
	return nothingAdvanced()
}
