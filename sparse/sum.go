package sparse

import (
	"context"
	"math"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// Sum returns A + B with plain column ids, see [Load]. If all values of A and B are 1, all values of the sum are 1,
// even where both have an entry. If several processes share the rows, A and B must have the same [Division], and every
// process must call Sum. Cost: time and memory proportional to the entries, see [SumBytes].
func Sum(ctx context.Context, a, b Matrix, workers int) (Matrix, error) {
	x, err := Plain(ctx, a, workers)
	if err != nil {
		return nil, err
	}
	y, err := Plain(ctx, b, workers)
	if err != nil {
		return nil, err
	}
	if x.rows != y.rows {
		panic(badShape)
	}
	m, divided := a.(*Divided)
	if !divided {
		return sumOf(ctx, x, y)
	}
	return m.sum(ctx, b.(*Divided), x, y, workers)
}

// SumBytes returns an upper bound on the memory of [Sum], including copies of A and B. If several processes share the
// rows, the bound also holds for the sum with the buffers of steps, and is the same in all processes.
func SumBytes(a, b Matrix, weighted bool) int64 {
	rows, _ := a.Dims()
	copies := LoadBytes(int64(rows), a.NNZ(), weighted) +
		LoadBytes(int64(rows), b.NNZ(), weighted)
	sum := LoadBytes(int64(rows), a.NNZ()+b.NNZ(), weighted)
	m, divided := a.(*Divided)
	if !divided {
		return copies + sum
	}
	maxima := b.(*Divided).maxima
	total := int64(m.team.Total)
	columns := min(total, m.maxima.columns+maxima.ghosts)
	ghosts := min(total, m.maxima.ghosts+maxima.ghosts)
	return dividedMemory(m.division.mostRows(), columns, ghosts, sum, sum+copies)
}

// Plain returns the rows of a that this process has, with plain column ids. If they are not in memory in this form, it
// copies them with [Load].
func Plain(ctx context.Context, a Matrix, workers int) (*CSR, error) {
	rows, _ := LocalRows(a)
	if c, ok := rows.(*CSR); ok {
		return c, nil
	}
	return Load(ctx, rows, workers)
}

func sumOf(ctx context.Context, a, b *CSR) (*CSR, error) {
	s := sumRows{col: make([]uint32, 0, a.NNZ()+b.NNZ()), weighted: a.val != nil ||
		b.val != nil}
	ptr := make([]int64, 1, a.rows+1)
	for i := range a.rows {
		if i%MaxRange == 0 && ctx.Err() != nil {
			return nil, sched.Cause(ctx)
		}
		x, xVal := a.Row(i)
		y, yVal := b.Row(i)
		s.add(x, y, xVal, yVal)
		ptr = append(ptr, int64(len(s.col)))
	}
	return NewCSR(a.rows, a.cols, ptr, s.col, s.val)
}

func (m *Divided) sum(ctx context.Context, n *Divided, x, y *CSR,
	workers int) (*Divided, error) {
	if m.division != n.division {
		panic(badShape)
	}
	d := *m.division
	weighted := []float64{0} // 1 if any process has values
	if x.val != nil || y.val != nil {
		weighted[0] = 1
	}
	d.Team.Max(weighted)
	const rows = 1 << 10
	sum, err := d.build(func(visit visitRow) error {
		return sched.Run(ctx, workers, (len(d.Team.Rows)+rows-1)/rows, func(_, k int) error {
			s := sumRows{weighted: weighted[0] > 0}
			var along, against []uint32
			for i := k * rows; i < min(len(d.Team.Rows), (k+1)*rows); i++ {
				p, xVal := x.Row(i)
				q, yVal := y.Row(i)
				along, against = m.wholeRows(along[:0], p),
					n.wholeRows(against[:0], q)
				s.col = s.col[:0]
				s.val = s.val[:0]
				s.add(along, against, xVal, yVal)
				visit(i, s.col, s.val)
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	entries := []float64{float64(sum.local.NNZ())}
	d.Team.Sum(entries)
	d.Team.Entries = int64(entries[0])
	return sum, nil
}

func (m *Divided) wholeRows(dst, col []uint32) []uint32 {
	for _, c := range col {
		dst = append(dst, m.columns[c])
	}
	return dst
}

type sumRows struct {
	col      []uint32
	val      []float64
	weighted bool
}

func (s *sumRows) add(x, y []uint32, xVal, yVal []float64) {
	for i, j := 0, 0; i < len(x) || j < len(y); {
		first := uint32(math.MaxUint32)
		v := 0.0
		if i < len(x) {
			first = x[i]
		}
		if j < len(y) {
			first = min(first, y[j])
		}
		for ; i < len(x) && x[i] == first; i++ {
			v += valueAt(xVal, i)
		}
		for ; j < len(y) && y[j] == first; j++ {
			v += valueAt(yVal, j)
		}
		s.col = append(s.col, first)
		if s.weighted {
			s.val = append(s.val, v)
		}
	}
}

func valueAt(val []float64, e int) float64 {
	if val == nil {
		return 1
	}
	return val[e]
}
