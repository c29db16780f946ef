package sparse

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// Joined is another matrix with the entries of the same row and column added up, for example the entries of an edge of
// several kinds. Sums of 0 are omitted. The sums are computed anew in each sweep.
//
// [Joined.Plan] must be called before the first use, and again after values of the other matrix change.
type Joined struct {
	Matrix           // the matrix whose entries are added
	Weighted bool    // some entry is not 1
	changes  bool    // entries differ from the entries of Matrix; otherwise sweeps visit Matrix
	ranges   []Range // ranges of Matrix with new numbers of entries; a long row has pieces of its new length
	first    []int   // for each range of Matrix, index of the first range with its rows
	entries  int64
	buffers  sync.Pool // of *rowBuffer
}

// Plan computes the ranges and the number of entries. Cost: one sweep.
func (m *Joined) Plan(ctx context.Context, workers int) error {
	ranges := m.Matrix.Ranges()
	counts := make([]int, len(ranges))
	var hadValues, weighted atomic.Bool
	rows, _ := m.Matrix.Dims()
	err := sweepWhole(ctx, m.Matrix, 0, rows, workers, func(_ int, p Panel) error {
		b := m.buffer()
		defer m.buffers.Put(b)
		joined := b.join(p)
		counts[p.Index] = joined.Entries
		if p.Val != nil {
			hadValues.Store(true)
		}
		if joined.Val != nil {
			weighted.Store(true)
		}
		return nil
	})
	if err != nil {
		return err
	}
	m.Weighted = weighted.Load()
	m.ranges = nil
	m.first = make([]int, len(ranges))
	m.entries = 0
	for i, r := range ranges {
		m.first[i] = len(m.ranges)
		m.entries += int64(counts[i])
		if r.Pieces == 1 {
			r.Entries = counts[i]
			m.ranges = append(m.ranges, r)
		} else if r.Piece == 0 {
			m.ranges = append(m.ranges, cutRow(r.Lo, counts[i])...)
		}
	}
	m.changes = m.entries < m.Matrix.NNZ() || hadValues.Load() && !m.Weighted
	return nil
}

func cutRow(row, entries int) []Range {
	ranges := Cut(1, func(int) int64 { return int64(entries) })
	for i := range ranges {
		ranges[i].Lo = row
		ranges[i].Hi = row + 1
	}
	return ranges
}

// NNZ returns the number of entries.
func (m *Joined) NNZ() int64 { return m.entries }

// Ranges implements [Matrix].
func (m *Joined) Ranges() []Range { return m.ranges }

// SweepRows implements [Matrix].
func (m *Joined) SweepRows(ctx context.Context, lo, hi, workers int,
	visit PanelVisitor) error {
	if !m.changes {
		return m.Matrix.SweepRows(ctx, lo, hi, workers, visit)
	}
	return sweepWhole(ctx, m.Matrix, lo, hi, workers, func(worker int, p Panel) error {
		b := m.buffer()
		defer m.buffers.Put(b)
		p = b.join(p)
		p.Index = m.first[p.Index]
		for offset, pieces := 0, m.ranges[p.Index].Pieces; pieces > 0; pieces-- {
			q := p
			q.Range = m.ranges[p.Index]
			if q.Pieces > 1 {
				q.Ptr = []int64{0, int64(q.Entries)}
				q.Col = p.Col[offset : offset+q.Entries]
				if p.Val != nil {
					q.Val = p.Val[offset : offset+q.Entries]
				}
			}
			if err := visit(worker, q); err != nil {
				return err
			}
			offset += q.Entries
			p.Index++
		}
		return sched.Cause(ctx)
	})
}

func (m *Joined) buffer() *rowBuffer {
	if b, ok := m.buffers.Get().(*rowBuffer); ok {
		return b
	}
	return &rowBuffer{ptr: make([]int64, 0, MaxRange+1),
		col: make([]uint32, 0, MaxRange+spareIDs),
		val: make([]float64, 0, MaxRange)}
}

// join returns p with the entries of equal columns of a row added up, without sums of 0. The result is in b.
func (b *rowBuffer) join(p Panel) Panel {
	ptr := append(b.ptr[:0], 0)
	col := b.col[:0]
	val := b.val[:0]
	for i := range p.Hi - p.Lo {
		columns, values := p.Row(i)
		for e := 0; e < len(columns); {
			c := columns[e]
			sum := 0.0
			for ; e < len(columns) && columns[e] == c; e++ {
				sum += valueAt(values, e)
			}
			if sum != 0 {
				col = append(col, c)
				val = append(val, sum)
			}
		}
		ptr = append(ptr, int64(len(col)))
	}
	b.ptr = ptr
	b.col = col
	b.val = val
	p.Ptr = ptr
	p.Col = col
	p.Val = val
	p.Entries = len(col)
	p.Kinds = nil
	p.Times = nil
	if !slices.ContainsFunc(val, func(v float64) bool { return v != 1 }) {
		p.Val = nil
	}
	return p
}

// JoinedBytes returns the bytes of the buffers of a sweep of a [Joined] matrix that adds up the entries of a.
func JoinedBytes(a Matrix, workers int) int64 {
	_, longest := longRowsOf(a)
	return int64(workers) * max(20*MaxRange, 2*longest)
}
