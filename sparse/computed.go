package sparse

import (
	"context"
	"fmt"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// Computed is a [Matrix] whose rows are computed in each sweep.
type Computed struct {
	rows, cols int
	nnz        int64
	ranges     []Range
	length     func(i int) int
	row        func(i int, col []uint32, val []float64)
}

// NewComputed returns a matrix whose row i has length(i) entries. row must store the columns, which must increase, and
// the values of a row in col and val, whose length is the number of entries. row must store the same columns and values
// in every call for a row, and must be safe for concurrent use. A row of more than [MaxRange] entries is computed once
// for each of its pieces. If columns do not increase, the error of a sweep wraps [ErrStructure].
func NewComputed(rows, cols int, length func(i int) int,
	row func(i int, col []uint32, val []float64)) *Computed {
	m := &Computed{rows: rows, cols: cols, length: length, row: row}
	m.ranges = Cut(rows, func(i int) int64 {
		m.nnz += int64(length(i))
		return int64(length(i))
	})
	return m
}

// Dims implements [Matrix].
func (m *Computed) Dims() (r, c int) { return m.rows, m.cols }

// NNZ implements [Matrix].
func (m *Computed) NNZ() int64 { return m.nnz }

// Ranges implements [Matrix].
func (m *Computed) Ranges() []Range { return m.ranges }

// SweepRows implements [Matrix].
func (m *Computed) SweepRows(ctx context.Context, lo, hi, workers int, visit PanelVisitor) error {
	buffers := make([]computedRows, sched.Workers(workers))
	first, count := rangesOf(m.ranges, lo, hi)
	return sched.Run(ctx, workers, count, func(worker, i int) error {
		p := Panel{Range: m.ranges[first+i], Index: first + i}
		defer sched.InRows(p.Lo, p.Hi)
		if err := buffers[worker].fill(m, &p); err != nil {
			return err
		}
		return visit(worker, p)
	})
}

type computedRows struct {
	ptr []int64
	col []uint32
	val []float64
}

func (b *computedRows) fill(m *Computed, p *Panel) error {
	b.ptr = append(b.ptr[:0], 0)
	for i := p.Lo; i < p.Hi; i++ {
		b.ptr = append(b.ptr, b.ptr[i-p.Lo]+int64(m.length(i)))
	}
	total := int(b.ptr[len(b.ptr)-1])
	if total > len(b.col) {
		b.col = make([]uint32, max(total, MaxRange))
		b.val = make([]float64, len(b.col))
	}
	for i := p.Lo; i < p.Hi; i++ {
		lo, hi := b.ptr[i-p.Lo], b.ptr[i-p.Lo+1]
		col := b.col[lo:hi]
		m.row(i, col, b.val[lo:hi])
		for e, c := range col {
			if int(c) >= m.cols || e > 0 && c <= col[e-1] {
				return fmt.Errorf("%w: row %d: column %d is not above the one before it, or not below %d", ErrStructure, i, c, m.cols)
			}
		}
	}
	start := p.Piece * MaxRange
	p.Ptr = b.ptr
	if p.Pieces > 1 {
		p.Ptr = append(b.ptr[:0], 0, int64(p.Entries))
	}
	p.Col = b.col[start : start+p.Entries]
	p.Val = b.val[start : start+p.Entries]
	return nil
}
