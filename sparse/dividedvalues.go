package sparse

import (
	"context"
	"slices"
)

// LocalRows returns the rows of a that this process has. If one process has all rows, it returns a. For a [Divided]
// matrix it returns the own rows and the share of the named rows that this process computes; other rows are empty.
// Columns are then numbered in the order of the rows of the whole matrix, and diagonal returns the column that belongs
// to a row. See [Team.SumNamed] for sums over the entries of each row.
func LocalRows(a Matrix) (rows Matrix, diagonal func(row int) int) {
	if m, ok := a.(*Divided); ok {
		return m.local, m.diagonal
	}
	return a, func(row int) int { return row }
}

func (m *Divided) diagonal(row int) int {
	column, _ := slices.BinarySearch(m.columns, m.team.Rows[row])
	return column
}

// GhostValues returns the element of v for each column of [LocalRows]. v must have an element for each row of this
// process. Elements for ghost rows come from other processes. Every process must call it.
func GhostValues(a Matrix, v []float64) []float64 {
	m, divided := a.(*Divided)
	if !divided {
		return v
	}
	arrived := make([]float64, m.arrivals)
	m.ghosts.Begin(bytesOf(v[:m.team.Own]), bytesOf(arrived), sizeOf[float64]())
	m.ghosts.End()
	values := make([]float64, len(m.columns))
	for _, r := range slices.Concat(m.batches...) {
		copy(values[r.column:], v[r.row:r.row+r.rows])
	}
	for _, r := range slices.Concat(m.arriving...) {
		copy(values[r.column:], arrived[r.row:r.row+r.rows])
	}
	return values
}

// withValues is [MapValues] for a Divided matrix. The result takes 8 bytes for each entry, 12 if the entries of m are
// in tiles, and must not be used after m is closed.
func (m *Divided) withValues(ctx context.Context,
	value func(row, col int, w float64) float64) (*Divided, error) {
	source, plain := m.local.(*CSR)
	if !plain {
		var err error
		if source, err = Load(ctx, m.local, 1); err != nil {
			return nil, err
		}
	}
	local := *source
	local.val = make([]float64, len(local.col))
	ones := true
	for i := range local.rows {
		if local.ptr[i] == local.ptr[i+1] {
			continue
		}
		row := m.diagonal(i)
		for e := local.ptr[i]; e < local.ptr[i+1]; e++ {
			local.val[e] = value(row, int(local.col[e]),
				valueAt(source.val, int(e)))
			ones = ones && local.val[e] == 1
		}
	}
	if ones { // one process has no values either, and sums of matrices depend on it
		local.val = nil
	}
	weighted := *m
	weighted.local = &local
	return &weighted, nil
}
