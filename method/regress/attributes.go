package regress

import (
	"context"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/sparse"
)

// fewAttributes is the number of attributes up to which each is divided by its standard deviation.
const fewAttributes = 64

// attributeScale holds the mean and the factor of each attribute, over the nodes that have attributes.
type attributeScale struct{ mean, factor []float64 }

// scaleOf returns the scale of the attributes. Cost: two passes over the values.
func scaleOf(p *Problem) *attributeScale {
	t, team := p.Attributes, sparse.TeamOf(p.A)
	s := &attributeScale{make([]float64, t.Cols), make([]float64, t.Cols)}
	count := 0.0 // rows that count in this process
	for lo, hi := range team.Counted(0, t.Rows) {
		for i := lo; i < hi; i++ {
			if _, values := t.Row(i); values != nil {
				count++
			}
		}
	}
	total := []float64{count}
	team.Sum(total)
	present := max(1, total[0])
	squares := make([]float64, t.Cols)
	eachAttribute(team, t, func(j int, v float64) { s.mean[j] += v })
	team.Sum(s.mean)
	for j := range s.mean {
		s.mean[j] /= present
		squares[j] = count * s.mean[j] * s.mean[j] // of absent values
	}
	eachAttribute(team, t, func(j int, v float64) {
		d := v - s.mean[j]
		squares[j] += float64(d*d) - float64(s.mean[j]*s.mean[j])
	})
	team.Sum(squares)
	sum, varied := 0.0, 0
	for j, v := range squares {
		squares[j] = max(0, v) / present
		sum += squares[j]
		if squares[j] > 0 {
			varied++
		}
	}
	for j, v := range squares {
		switch {
		case v == 0:
		case t.Cols <= fewAttributes:
			s.factor[j] = 1 / math.Sqrt(v*float64(varied))
		default:
			s.factor[j] = 1 / math.Sqrt(sum)
		}
	}
	return s
}

// eachAttribute calls do with every stored value of the rows that count in this process.
func eachAttribute(team *sparse.Team, t *sparse.Table, do func(column int, v float64)) {
	for lo, hi := range team.Counted(0, t.Rows) {
		for i := lo; i < hi; i++ {
			columns, values := t.Row(i)
			for a, v := range values {
				j := a
				if columns != nil {
					j = int(columns[a])
				}
				do(j, float64(v))
			}
		}
	}
}

// slabTo stores the scaled attributes lo ≤ j < lo + x.Cols of all nodes; a node without attributes
// has zeros, which is the mean.
func (s *attributeScale) slabTo(x *sparse.Block[float64], t *sparse.Table, lo int) {
	for i := range t.Rows {
		row := x.Row(i)
		clear(row)
		columns, values := t.Row(i)
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
func attributeRows(ctx context.Context, op *sparse.Operator[float64], p *Problem, first int) (*sparse.Block[float64], error) {
	if p.Attributes == nil || p.Attributes.Cols == 0 {
		return sparse.NewBlock[float64](len(p.Row), first), nil
	}
	t, s := p.Attributes, scaleOf(p)
	rows := sparse.NewBlock[float64](len(p.Row), first+2*t.Cols)
	width := min(hopColumns, t.Cols)
	x, y := sparse.NewBlock[float64](t.Rows, width), sparse.NewBlock[float64](t.Rows, width)
	for lo := 0; lo < t.Cols; lo += width {
		now := min(width, t.Cols-lo)
		slab, image := x.Columns(0, now), y.Columns(0, now)
		s.slabTo(slab, t, lo)
		if err := op.StepTo(ctx, image, slab, sparse.Step[float64]{Alpha: 1}); err != nil {
			return nil, err
		}
		for i, row := range p.Row {
			copy(rows.Row(i)[first+lo:], slab.Row(row))
			copy(rows.Row(i)[first+t.Cols+lo:], image.Row(row))
		}
	}
	return rows, nil
}

// attributeScores returns X·w₀ + T·X·w₁ for the weights w = (w₀ w₁), zeros without attributes.
func attributeScores(ctx context.Context, op *sparse.Operator[float64], p *Problem, w []float64) ([]float64, error) {
	n := len(p.Degrees)
	scores := make([]float64, n)
	if len(w) == 0 {
		return scores, nil
	}
	t, s := p.Attributes, scaleOf(p)
	x, y := sparse.NewBlock[float64](n, 1), sparse.NewBlock[float64](n, 1)
	var base [2]float64
	for j, mean := range s.mean {
		for h := range base {
			base[h] -= float64(mean * s.factor[j] * w[h*t.Cols+j])
		}
	}
	for i := range n {
		columns, values := t.Row(i)
		if values == nil {
			continue
		}
		sum := base
		for a, v := range values {
			j := a
			if columns != nil {
				j = int(columns[a])
			}
			for h := range sum {
				sum[h] += float64(float64(v) * s.factor[j] * w[h*t.Cols+j])
			}
		}
		scores[i], x.Row(i)[0] = sum[0], sum[1]
	}
	if err := op.StepTo(ctx, y, x, sparse.Step[float64]{Alpha: 1}); err != nil {
		return nil, err
	}
	for i := range scores {
		scores[i] += y.Row(i)[0]
	}
	return scores, nil
}
