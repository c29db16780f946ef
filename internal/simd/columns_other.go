//go:build !amd64 || noasm

package simd

func dotColumns(sums []float64, rows int, a, b Rows[float64]) { plainDotColumns(sums, rows, a, b) }

func residualColumns(r, q Rows[float64], alpha, weight, inverse, rr, rz []float64) {
	plainResidualColumns(r, q, alpha, weight, inverse, rr, rz)
}

func turnColumns(x, p, z Rows[float64], alpha, beta, factor []float64) {
	plainTurnColumns(x, p, z, alpha, beta, factor)
}
