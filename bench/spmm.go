package bench

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// spmm times Y = D⁻¹A·X on a block of k columns with X_ij = ((i·k + j) mod 17) + 1, where i is the place of a row in
// the order of the ids. The checksum is Σ Y.
var spmm = withElements(spmmOf[float32], spmmOf[float64])

// spmmOf times D⁻¹A·X with elements of type T. X follows the order of the ids, and so does the checksum.
func spmmOf[T sparse.Float](ctx context.Context, t *Target,
	s *Settings) (*Report, error) {
	n, _ := t.A.Dims()
	x, y := sparse.NewBlock[T](n, s.Columns), sparse.NewBlock[T](n, s.Columns)
	for r := range n {
		i := position(t.Order, r)
		for j := range x.Row(r) {
			x.Row(r)[j] = T((i*s.Columns+j)%17 + 1)
		}
	}
	op := &sparse.Operator[T]{A: t.A, Left: blocks.Inverses(t.Degrees),
		Workers: s.Workers}
	v, err := s.measure(t.A, s.Columns, 1, func() error { return op.ApplyTo(ctx, y, x) })
	if err != nil {
		return nil, err
	}
	v.Checksum = sum(y, nil, func(int, int) float64 { return 1 })
	return v, nil
}

const walkSteps, walkClasses = 10, 5

// walk times ten steps of the partially absorbing walk with five classes and α = ½, and keeps every P_t. Rows
// i divisible by 20 are labelled with class (i/20) mod 5. The checksum is Σ_ic P_10[i,c]·((31·i + 17·c) mod
// 101). Rows are numbered in the order of the ids.
var walk = withElements(walkOf[float32], walkOf[float64])

// walkOf times a walk of walkSteps steps with elements of type T. Every twentieth node in the order of the ids is an
// absorbing seed.
func walkOf[T sparse.Float](ctx context.Context, g *Target,
	s *Settings) (*Report, error) {
	const steps, classes, absorb, stride = walkSteps, walkClasses, 0.5, 20
	n, _ := g.A.Dims()
	buffer := sparse.NewBlock[T]((steps+1)*n, classes) // one buffer, so that huge pages are not cut where a P_t ends
	var p [steps + 1]*sparse.Block[T]
	for t := range p {
		p[t] = &sparse.Block[T]{Rows: n, Cols: classes, Stride: buffer.Stride,
			Data: buffer.Data[t*n*buffer.Stride : (t+1)*n*buffer.Stride]}
	}
	left := blocks.Inverses(g.Degrees)
	seeds := make([]seed, 0, n/stride+1)
	for r := range n {
		i := position(g.Order, r)
		row := p[0].Row(r)
		if i%stride != 0 {
			for c := range row {
				row[c] = 1. / classes
			}
			continue
		}
		class := i / stride % classes
		row[class] = 1
		left[r] *= 1 - absorb
		seeds = append(seeds, seed{r, class})
	}
	op := &sparse.Operator[T]{A: g.A, Left: left, Workers: s.Workers}
	v, err := s.measure(g.A, classes, steps, func() error {
		for t := range steps {
			y := p[t+1]
			err := op.StepTo(ctx, y, p[t], sparse.Step[T]{Alpha: 1, Visit: func(r sparse.Rows) {
				first, _ := slices.BinarySearchFunc(seeds, r.Lo,
					func(s seed, row int) int { return s.row - row })
				for _, s := range seeds[first:] {
					if s.row >= r.Hi {
						break
					}
					y.Data[s.row*y.Stride+s.class] += absorb
				}
			}})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	v.Checksum = sum(p[steps], g.Order,
		func(i, c int) float64 { return float64((31*i + 17*c) % 101) })
	return v, nil
}

func withElements(single, double Measurement) Measurement {
	return func(ctx context.Context, t *Target, s *Settings) (*Report, error) {
		if s.Double {
			return double(ctx, t, s)
		}
		return single(ctx, t, s)
	}
}

type seed struct{ row, class int }

// position returns the place of row r in the order of the ids.
func position(order []uint32, r int) int {
	if order == nil {
		return r
	}
	return int(order[r])
}

// decode times a sweep that decodes every range and computes nothing. The checksum is the sum of all column ids.
func decode(ctx context.Context, t *Target, s *Settings) (*Report, error) {
	v, err := (&Settings{Repeat: s.Repeat}).measure(t.A, 1, 1, func() error {
		_, err := sparse.RowSums(ctx, t.A, s.Workers, func([]uint32, []float64) float64 { return 0 })
		return err
	})
	if err != nil {
		return nil, err
	}
	sums, err := sparse.RowSums(ctx, t.A, s.Workers, func(col []uint32, _ []float64) (sum float64) {
		for _, c := range col {
			sum += float64(c)
		}
		return sum
	})
	total := floats.Sum(sums)
	v.DType = "uint32"
	v.Checksum = &total
	return v, err
}

// sum returns Σ weight(i, j)·b_rj, where i is the place of row r in the order of the ids.
func sum[T sparse.Float](b *sparse.Block[T], order []uint32, weight func(i, j int) float64) *float64 {
	total := 0.0
	for r := range b.Rows {
		i := position(order, r)
		for j, v := range b.Row(r) {
			total += weight(i, j) * float64(v)
		}
	}
	return &total
}
