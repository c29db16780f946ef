package source

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/sparse"
)

// leastSquare is the least square of the norm of a row. Below it, products lose digits.
const leastSquare = 0x1p-900

// nearestRows visits the nearest neighbours of each row i of X. They are the s.Neighbours rows j ≠ i with
// the largest cosines v = x_iᵀx_j/(‖x_i‖·‖x_j‖), in increasing order of j. Only rows with v > 0
// and v ≥ s.Least are neighbours. Of rows with equal cosines the lower j is nearer. The cosine of two rows
// is the same to the bit in both orders. The error comes from the settings, the context or visit. Calls of
// visit, cost and memory are as in [eachProduct].
func nearestRows(ctx context.Context, x *sparse.CSR, s *NeighbourSettings,
	visit func(i int, j []uint32, v []float64) error) error {
	if s.Neighbours < 0 || !(s.Least >= 0 && s.Least <= 1) ||
		s.Neighbours == 0 && s.Least == 0 {
		return fmt.Errorf("similarity: %d neighbours, least cosine %v; give a number of them above 0, a cosine of at most 1, or both", s.Neighbours, s.Least)
	}
	squares := rowSquares(x)
	for i, square := range squares {
		_, values := x.Row(i)
		switch {
		case math.IsInf(square, 1):
			return errors.New("similarity: the square of a row exceeds the range of float64; multiply all values by a small number")
		case square < leastSquare && slices.ContainsFunc(values, func(v float64) bool { return v != 0 }):
			return errors.New("similarity: the square of a row is below the range of float64; multiply all values by a large number")
		}
	}
	return eachRow(ctx, x, s.Workers, func(p *products, i int) {
		p.multiply(i, 0)
		nearest := p.nearest[:0]
		for _, j := range p.columns {
			p.sum[j] /= normOf(squares[i], squares[j])
			if int(j) != i && p.sum[j] > 0 && p.sum[j] >= s.Least {
				nearest = p.admit(nearest, j, s.Neighbours)
			}
		}
		p.nearest = nearest
		slices.Sort(nearest)
		for _, j := range nearest {
			p.j = append(p.j, j)
			p.v = append(p.v, min(p.sum[j], 1))
		}
	}, visit)
}

// admit adds row j to the nearest rows. If limit > 0, it keeps them in the order of [products.byValue] and
// drops all but the first limit.
func (p *products) admit(nearest []uint32, j uint32, limit int) []uint32 {
	if limit == 0 {
		return append(nearest, j)
	}
	if len(nearest) == limit && p.byValue(nearest[limit-1], j) < 0 {
		return nearest
	}
	position, _ := slices.BinarySearchFunc(nearest, j, p.byValue)
	nearest = slices.Insert(nearest, position, j)
	return nearest[:min(len(nearest), limit)]
}

// normOf returns ‖x‖·‖y‖ from the squares of the norms. If the squares are equal, the result equals
// them exactly.
func normOf(x, y float64) float64 {
	if both := x * y; both > 0 && !math.IsInf(both, 1) {
		return math.Sqrt(both)
	}
	return math.Sqrt(x) * math.Sqrt(y)
}

// rowSquares returns ‖x_i‖² for every row.
func rowSquares(x *sparse.CSR) []float64 {
	rows, _ := x.Dims()
	squares := make([]float64, rows)
	for i := range rows {
		cols, vals := x.Row(i)
		squares[i] = float64(len(cols))
		if vals != nil {
			squares[i] = 0
			for _, v := range vals {
				squares[i] += float64(v * v)
			}
		}
	}
	return squares
}
