package bench

import (
	"context"
	"slices"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// spmm times Y = D⁻¹A·X with X_ij = ((i·k + j) mod 17) + 1, i in the order of the ids,
// on a block of k columns. The checksum is Σ Y.
func spmm(ctx context.Context, t *Target, s *Settings) (*Report, error) {
	if s.Double {
		return spmmOf[float64](ctx, t, s)
	}
	return spmmOf[float32](ctx, t, s)
}

// spmmOf times D⁻¹A·X with elements T. The numbers of X depend on the position of a node alone, not
// on its row, so that the checksum is the same for every order.
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
	v, err := measure(s.Repeat, func() error { return op.ApplyTo(ctx, y, x) })
	if err != nil {
		return nil, err
	}
	v.sweeps(t.A, s.Columns, s.blockBytes(1, s.Columns), 1, s.Double)
	v.Checksum = sum(y, nil, func(int, int) float64 { return 1 })
	return v, nil
}

const walkSteps, walkClasses = 10, 5

// walk times ten steps of the partially absorbing walk with five classes and
// α = ½, every P_t kept: rows divisible by 20 are labelled, row i with class
// (i/20) mod 5. The checksum is Σ_ic P_10[i,c]·((31·i + 17·c) mod 101). Rows
// are counted in the order of the ids.
func walk(ctx context.Context, t *Target, s *Settings) (*Report, error) {
	if s.Double {
		return walkOf[float64](ctx, t, s)
	}
	return walkOf[float32](ctx, t, s)
}

// walkOf times a walk of walkSteps steps with absorbing seeds at every twentieth position, with
// elements T.
func walkOf[T sparse.Float](ctx context.Context, g *Target,
	s *Settings) (*Report, error) {
	const steps, classes, absorb, stride = walkSteps, walkClasses, 0.5, 20
	n, _ := g.A.Dims()
	buffer := sparse.NewBlock[T]((steps+1)*n, classes) // one, so that huge pages are not cut where a P_t ends
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
	v, err := measure(s.Repeat, func() error {
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
	v.sweeps(g.A, classes, s.blockBytes(1, classes), steps, s.Double)
	v.Checksum = sum(p[steps], g.Order,
		func(i, c int) float64 { return float64((31*i + 17*c) % 101) })
	return v, nil
}

// seed is a labelled row.
type seed struct{ row, class int }

// position returns the place of row r in the order of the ids.
func position(order []uint32, r int) int {
	if order == nil {
		return r
	}
	return int(order[r])
}

// decode times a sweep that reads and decodes every range and adds nothing.
// The checksum is the sum of all column ids.
func decode(ctx context.Context, t *Target, s *Settings) (*Report, error) {
	pass := func(sum func(col []uint32, _ []float64) float64) ([]float64, error) {
		return sparse.RowSums(ctx, t.A, s.Workers, sum)
	}
	v, err := measure(s.Repeat, func() error {
		_, err := pass(func([]uint32, []float64) float64 { return 0 })
		return err
	})
	if err != nil {
		return nil, err
	}
	sums, err := pass(func(col []uint32, _ []float64) (sum float64) {
		for _, c := range col {
			sum += float64(c)
		}
		return sum
	})
	v.sweeps(t.A, 1, 4, 1, false)
	v.DType = "uint32"
	v.Checksum = new(float64)
	for _, x := range sums {
		*v.Checksum += x
	}
	return v, err
}

// sweeps sets the numbers of entries, columns and passes, for rows of rowBytes bytes.
func (v *Report) sweeps(a sparse.Matrix, columns int, rowBytes int64, passes int,
	double bool) {
	v.Columns, v.DType, v.Entries, v.Sweeps = columns, "float32", a.NNZ(), passes
	if double {
		v.DType = "float64"
	}
	work := float64(a.NNZ()) * float64(passes)
	v.NsPerEntryColumn = v.SecondsMin / (work * float64(columns)) * 1e9
	v.BytesPerSecond = work * float64(rowBytes) / v.SecondsMin
}

// sum adds weight(i, j)·b_rj, i the place of row r in the order of the ids, in
// fixed chunks of rows.
func sum[T sparse.Float](b *sparse.Block[T], order []uint32,
	weight func(i, j int) float64) *float64 {
	const chunk = 4096
	partial := make([]float64, (b.Rows+chunk-1)/chunk)
	_ = sched.Run(context.Background(), 0, len(partial), func(_, c int) error {
		for r := c * chunk; r < min(b.Rows, (c+1)*chunk); r++ {
			i := position(order, r)
			for j, v := range b.Row(r) {
				partial[c] += weight(i, j) * float64(v)
			}
		}
		return nil
	})
	var total float64
	for _, v := range partial {
		total += v
	}
	return &total
}
