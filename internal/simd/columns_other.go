//go:build !amd64 || noasm

package simd

func dotColumns[T Float](sums []float64, rows int, a, b Rows[T]) { plainDotColumns(sums, rows, a, b) }

func residualColumns[T Float](r, q Rows[T], alpha, weight, inverse, rr, rz []float64) {
	plainResidualColumns(r, q, alpha, weight, inverse, rr, rz)
}

func turnColumns[T Float](x, p, z Rows[T], alpha, beta, factor []float64) {
	plainTurnColumns(x, p, z, alpha, beta, factor)
}
