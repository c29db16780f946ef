package blocks

import (
	"context"

	"github.com/heatwalk/heatwalk/sparse"
)

// RowSquares returns Σ_j (a_ij/unit)² for each row i of a symmetric matrix a. If all entries are 1, unit must be 1.
// Cost: a sweep.
func RowSquares(ctx context.Context, a sparse.Matrix, unit float64,
	workers int) ([]float32, error) {
	sums, err := sparse.RowSums(ctx, a, workers, func(col []uint32, val []float64) float64 {
		if val == nil {
			return float64(len(col))
		}
		sum := 0.0
		for _, w := range val {
			sum += float64(w / unit * (w / unit))
		}
		return sum
	})
	rounded := make([]float32, len(sums))
	for i, sum := range sums {
		rounded[i] = float32(sum)
	}
	return rounded, err
}
