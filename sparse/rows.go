package sparse

import (
	"context"
	"sync"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// EachRow calls visit with the columns and the values of every row of a. The values are nil if all values are 1. It
// uses at most workers goroutines; 0 means one for each processor. worker is the number of the goroutine, which gets
// rows in increasing order. The slices are valid during the call only and must not be changed. The first error ends the
// sweep. A cancelled context ends it within one range. Cost: one sweep, and copies of rows of more than [MaxRange]
// entries.
func EachRow(ctx context.Context, a Matrix, workers int,
	visit func(worker, row int, col []uint32, val []float64) error) error {
	rows, _ := a.Dims()
	return EachRowOf(ctx, a, 0, rows, workers, visit)
}

// EachRowOf is [EachRow] of the rows lo ≤ i < hi.
func EachRowOf(ctx context.Context, a Matrix, lo, hi, workers int,
	visit func(worker, row int, col []uint32, val []float64) error) error {
	return sweepWhole(ctx, a, lo, hi, workers, func(worker int, p Panel) error {
		for i := max(lo, p.Lo); i < min(hi, p.Hi); i++ {
			col, val := p.Row(i - p.Lo)
			if err := visit(worker, i, col, val); err != nil {
				return err
			}
		}
		return nil
	})
}

// sweepWhole visits ranges as [Matrix.SweepRows] does, with the pieces of a long row joined to one panel.
func sweepWhole(ctx context.Context, a Matrix, lo, hi, workers int,
	visit PanelVisitor) error {
	long := longRows{ranges: a.Ranges()}
	return a.SweepRows(ctx, lo, hi, workers, func(worker int, p Panel) error {
		if p, isWhole := long.join(p); isWhole {
			return visit(worker, p)
		}
		return nil
	})
}

// EachRowWith is [EachRow] with a block whose row c is the row of x that column c refers to. visit may store the result
// for the row in y, and must not change other elements. If several processes share the rows of a, visit is called with
// the rows of this process, and the block includes rows of other processes. Each named row of y then comes from the
// process that visited the row.
func EachRowWith[T Float](ctx context.Context, a Matrix, y, x *Block[T],
	workers int, visit func(row int, col []uint32, val []float64, x *Block[T]) error) error {
	visitRows := func(rows Matrix, x *Block[T]) error {
		return EachRow(ctx, rows, workers,
			func(_, row int, col []uint32, val []float64) error { return visit(row, col, val, x) })
	}
	m, divided := a.(*Divided)
	if !divided {
		return visitRows(a, x)
	}
	return withGhosts(ctx, m, y, x, workers, visitRows)
}

// RowSums returns a sum over the entries of each row of a. sum must return the sum over the given entries; nil values
// mean ones. RowSums calls sum for each piece of a long row and adds the results. Cost: one sweep.
func RowSums(ctx context.Context, a Matrix, workers int,
	sum func(col []uint32, val []float64) float64) ([]float64, error) {
	rows, _ := a.Dims()
	sums := make([]float64, rows)
	local, _ := LocalRows(a)
	ranges := local.Ranges()
	partial := make([]float64, len(ranges)) // sums of the pieces of long rows
	err := Sweep(ctx, local, workers, func(_ int, p Panel) error {
		if p.Pieces > 1 {
			partial[p.Index] = sum(p.Col, p.Val)
			return nil
		}
		for i := p.Lo; i < p.Hi; i++ {
			sums[i] = sum(p.Row(i - p.Lo))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i, r := range ranges {
		if r.Pieces > 1 {
			sums[r.Lo] += partial[i]
		}
	}
	TeamOf(a).SumNamed(sums)
	return sums, nil
}

// longRows joins the pieces of long rows in a sweep.
type longRows struct {
	ranges []Range
	mu     sync.Mutex
	open   map[int]*longRow // guarded by mu; the keys are rows
}

// longRow is a long row of which some pieces are missing.
type longRow struct {
	col     []uint32
	val     []float64 // nil: all are 1
	missing int       // number of missing pieces
}

// join returns p if it has whole rows. For a piece it returns the whole row with the last piece that arrives; for
// earlier pieces isWhole is false.
func (l *longRows) join(p Panel) (joined Panel, isWhole bool) {
	if p.Pieces == 1 {
		return p, true
	}
	first := p.Index - p.Piece
	offset := 0
	entries := 0
	for i, r := range l.ranges[first : first+p.Pieces] {
		if i < p.Piece {
			offset += r.Entries
		}
		entries += r.Entries
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	row := l.open[p.Lo]
	if row == nil {
		row = &longRow{col: make([]uint32, entries), missing: p.Pieces}
		if l.open == nil {
			l.open = map[int]*longRow{}
		}
		l.open[p.Lo] = row
	}
	copy(row.col[offset:], p.Col)
	if p.Val != nil && row.val == nil {
		row.val = make([]float64, entries)
		for e := range row.val {
			row.val[e] = 1
		}
	}
	if p.Val != nil {
		copy(row.val[offset:], p.Val)
	}
	if row.missing--; row.missing > 0 {
		return p, false
	}
	delete(l.open, p.Lo)
	p.Range = Range{Lo: p.Lo, Hi: p.Hi, Entries: entries, Pieces: 1}
	return Panel{Range: p.Range, Index: first, Ptr: []int64{0, int64(entries)},
		Col: row.col, Val: row.val}, true
}

// LongRowBytes returns a bound on the memory of copies of rows of more than [MaxRange] entries: the rows that [EachRow]
// joins at the same time, or three copies of the longest row if they are larger. A sweep in order that appends the
// entries of rows needs three copies.
func LongRowBytes(a Matrix, workers int) int64 {
	rows, longest := longRowsOf(a)
	return longest * int64(max(min(rows, sched.Workers(workers)+1), min(3, 3*rows)))
}

func longRowsOf(a Matrix) (rows int, longest int64) {
	for _, r := range a.Ranges() {
		if r.Pieces > 1 && r.Piece == 0 {
			rows++
			longest = max(longest, 12*MaxRange*int64(r.Pieces))
		}
	}
	return rows, longest
}
