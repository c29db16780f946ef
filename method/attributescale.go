package method

import (
	"context"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// fewAttributes is the number of attributes up to which each is divided by its standard deviation.
const fewAttributes = 64

// attributeScale holds the mean and the factor of each attribute, over the nodes that have attributes.
type attributeScale struct{ mean, factor []float64 }

// scaleOf returns the scale of the attributes. Cost: a pass over the values.
func scaleOf(p *Problem) *attributeScale {
	t := p.Attributes
	team := p.Team()
	s := &attributeScale{make([]float64, t.Cols), make([]float64, t.Cols)}
	rows := t.Reader()
	sums := make([]float64, 2*t.Cols+1) // of values, of their squares, and the rows with attributes that count in this process
	for lo, hi := range team.CountingRows(0, t.Rows) {
		for i := lo; i < hi; i++ {
			columns, values := rows.Row(i)
			if values != nil {
				sums[2*t.Cols]++
			}
			for a, v := range values {
				j := a
				if columns != nil {
					j = int(columns[a])
				}
				sums[j] += float64(v)
				sums[t.Cols+j] += float64(v) * float64(v)
			}
		}
	}
	team.Sum(sums)
	present := max(1, sums[2*t.Cols])
	total := 0.0
	varied := 0.0
	variance := make([]float64, t.Cols)
	for j := range variance {
		s.mean[j] = sums[j] / present
		square := sums[t.Cols+j] / present
		if v := square - float64(s.mean[j]*s.mean[j]); v > 1e-12*square { // less is rounding
			variance[j] = v
			total += v
			varied++
		}
	}
	for j, v := range variance {
		switch {
		case v == 0:
		case t.Cols <= fewAttributes:
			s.factor[j] = 1 / math.Sqrt(v*varied)
		default:
			s.factor[j] = 1 / math.Sqrt(total)
		}
	}
	return s
}

// slabTo stores the scaled attributes lo ≤ j < lo + x.Cols of all nodes; a node without attributes
// has zeros, which is the mean.
func (s *attributeScale) slabTo(x *sparse.Block[float64], t *sparse.Table, lo int) {
	rows := t.Reader()
	for i := range t.Rows {
		row := x.Row(i)
		clear(row)
		columns, values := rows.Row(i)
		if values == nil {
			continue
		}
		for j := range row {
			row[j] = -float64(s.mean[lo+j] * s.factor[lo+j])
		}
		start, end := lo, lo+len(row)
		if columns != nil {
			start, _ = slices.BinarySearch(columns, uint32(lo))
			end, _ = slices.BinarySearch(columns, uint32(lo+len(row)))
		}
		for a := start; a < end; a++ {
			j := a
			if columns != nil {
				j = int(columns[a])
			}
			row[j-lo] += float64(float64(values[a]) * s.factor[j])
		}
	}
}

// attributeRows returns the attributes X and TX of the nodes with a value, behind a number of columns of zeros.
// Cost: a sweep for every hopColumns attributes.
func attributeRows(ctx context.Context, op *sparse.Operator[float64], p *Problem,
	first int) (*sparse.Block[float64], error) {
	if p.Attributes == nil || p.Attributes.Cols == 0 {
		return sparse.NewBlock[float64](len(p.Row), first), nil
	}
	t := p.Attributes
	s := scaleOf(p)
	rows := sparse.NewBlock[float64](len(p.Row), first+2*t.Cols)
	width := min(hopColumns, t.Cols)
	x, y := sparse.NewBlock[float64](t.Rows, width),
		sparse.NewBlock[float64](t.Rows, width)
	for lo := 0; lo < t.Cols; lo += width {
		now := min(width, t.Cols-lo)
		slab := x.Columns(0, now)
		image := y.Columns(0, now)
		s.slabTo(slab, t, lo)
		if err := op.StepTo(ctx, image, slab, sparse.Step[float64]{Alpha: 1}); err != nil {
			return nil, err
		}
		for i, row := range p.Row {
			copy(rows.Row(i)[first+lo:], slab.Row(row))
			copy(rows.Row(i)[first+t.Cols+lo:], image.Row(row))
		}
	}
	return rows, t.Err()
}

// attributeScores returns X·w₀ + T·X·w₁ for each of several weights w = (w₀ w₁), zeros without attributes. Cost: a pass
// over the values of X, and a sweep of as many columns.
func attributeScores(ctx context.Context, op *sparse.Operator[float64], p *Problem,
	weights [][]float64) ([][]float64, error) {
	n, k := len(p.Degrees), len(weights)
	scores := make([][]float64, k)
	for i := range scores {
		scores[i] = make([]float64, n)
	}
	if len(weights[0]) == 0 {
		return scores, nil
	}
	t := p.Attributes
	s := scaleOf(p)
	scaled := sparse.NewBlock[float64](t.Cols, 2*k) // the weights of values as they are stored
	constant := make([]float64, 2*k)
	for j := range t.Cols {
		row := scaled.Row(j)
		for i, w := range weights {
			row[i], row[k+i] = w[j]*s.factor[j], w[t.Cols+j]*s.factor[j]
		}
		blocks.AddScaled(constant, -s.mean[j], row)
	}
	x, y := sparse.NewBlock[float64](n, 2*k), sparse.NewBlock[float64](n, k)
	rows := t.Reader()
	for i := range n {
		columns, values := rows.Row(i)
		if values == nil {
			continue
		}
		copy(x.Row(i), constant)
		for a, v := range values {
			j := a
			if columns != nil {
				j = int(columns[a])
			}
			blocks.AddScaled(x.Row(i), float64(v), scaled.Row(j))
		}
	}
	if err := op.StepTo(ctx, y, x.Columns(k, 2*k), sparse.Step[float64]{Alpha: 1}); err != nil {
		return nil, err
	}
	for i := range n {
		for c := range scores {
			scores[c][i] = x.Row(i)[c] + y.Row(i)[c]
		}
	}
	return scores, t.Err()
}
