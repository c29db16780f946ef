package blocks

import (
	"context"

	"github.com/heatwalk/heatwalk/sparse"
)

// RowSquares returns Σ_j (a_ij/unit)² of each row i of a symmetric matrix. Cost: a sweep.
func RowSquares(ctx context.Context, a sparse.Matrix, unit float64, workers int) ([]float32, error) {
	rows, _ := sparse.LocalRows(a)
	n, _ := rows.Dims()
	team, sums := sparse.TeamOf(a), make([]float32, n)
	ranges := rows.Ranges()
	pieces := make([]float64, len(ranges))
	err := rows.Sweep(ctx, workers, func(_ int, p sparse.Panel) error {
		for i := p.Lo; i < p.Hi; i++ {
			col, val := p.Row(i - p.Lo)
			sum := float64(len(col))
			if val != nil {
				sum = 0
				for _, w := range val {
					sum += float64(w / unit * (w / unit))
				}
			}
			if p.Pieces > 1 {
				pieces[p.Index] = sum
			} else {
				sums[i] = float32(sum)
			}
		}
		return nil
	})
	for k, r := range ranges {
		if r.Pieces > 1 {
			sums[r.Lo] += float32(pieces[k])
		}
	}
	if team != nil { // each process has summed its share of the named rows
		named := make([]float64, team.Named)
		for i := range named {
			named[i] = float64(sums[team.First+i])
		}
		team.Sum(named)
		for i, s := range named {
			sums[team.First+i] = float32(s)
		}
	}
	return sums, err
}
