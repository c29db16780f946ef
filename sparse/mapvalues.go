package sparse

import (
	"context"
	"sync"
)

// MapValues returns the matrix with the entries value(i, j, w), where w is the entry of a in row i and column j. The
// entries are computed in each sweep. If a is a [Divided] matrix, the entries are stored; i and j are then columns of
// [LocalRows], and i is the column that belongs to the row. See also [GhostValues].
func MapValues(ctx context.Context, a Matrix,
	value func(i, j int, w float64) float64) (Matrix, error) {
	if d, ok := a.(*Divided); ok {
		return d.withValues(ctx, value)
	}
	return &mappedValues{Matrix: a, value: value,
		buffers: sync.Pool{New: func() any { return new([MaxRange]float64) }}}, nil
}

// MapValuesBytes returns the memory of the result of [MapValues], without the buffers of a sweep.
func MapValuesBytes(a Matrix) int64 {
	if _, ok := a.(*Divided); ok {
		return 12 * a.NNZ()
	}
	return 0
}

// mappedValues is the result of MapValues for a matrix with all rows.
type mappedValues struct {
	Matrix
	value   func(i, j int, w float64) float64
	buffers sync.Pool // of *[MaxRange]float64
}

// SweepRows implements [Matrix]. Values are nil if all are 1.
func (m *mappedValues) SweepRows(ctx context.Context, lo, hi, workers int,
	visit PanelVisitor) error {
	return m.Matrix.SweepRows(ctx, lo, hi, workers, func(worker int, p Panel) error {
		values := m.buffers.Get().(*[MaxRange]float64)
		defer m.buffers.Put(values)
		ones := true
		for i := range p.Hi - p.Lo {
			for e := p.Ptr[i] - p.Ptr[0]; e < p.Ptr[i+1]-p.Ptr[0]; e++ {
				v := m.value(p.Lo+i, int(p.Col[e]), valueAt(p.Val, int(e)))
				values[e] = v
				ones = ones && v == 1
			}
		}
		p.Val = nil
		if !ones {
			p.Val = values[:len(p.Col)]
		}
		return visit(worker, p)
	})
}
