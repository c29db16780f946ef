package cwk

import (
	"context"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/sparse"
)

// Reached returns the rows from which a walk can end in one of the rows of
// seeds; seeds reach themselves, entries of value 0 lead nowhere.
//
// With directed false the matrix must be symmetric and reached rows are the
// components that hold a seed, see [sparse.FindComponents]: one sweep. With
// directed true a walk follows the entries of its row, and sweeps are repeated
// until nothing changes: at most one more than the longest shortest path to a
// seed.
func Reached(ctx context.Context, a sparse.Matrix, seeds []int, directed bool, workers int) (*roaring.Bitmap, error) {
	if directed {
		return reachedAlong(ctx, a, seeds, workers)
	}
	parts, err := sparse.FindComponents(ctx, a, workers)
	if err != nil {
		return nil, err
	}
	return parts.Reached(seeds), nil
}

// reachedAlong is Reached for a directed matrix.
func reachedAlong(ctx context.Context, a sparse.Matrix, seeds []int, workers int) (*roaring.Bitmap, error) {
	rows, _ := a.Dims()
	marks := make([]atomic.Bool, rows)
	for _, row := range seeds {
		marks[row].Store(true)
	}
	for grew := true; grew; {
		var more atomic.Bool
		err := a.Sweep(ctx, workers, func(_ int, p sparse.Panel) error {
			for i := p.Lo; i < p.Hi; i++ {
				if !marks[i].Load() && leadsTo(marks, p, i) {
					marks[i].Store(true)
					more.Store(true)
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		grew = more.Load()
	}
	return sparse.RowSet(rows, func(i int) bool { return marks[i].Load() }), nil
}

// leadsTo reports whether an entry of row i leads to a marked row.
func leadsTo(marks []atomic.Bool, p sparse.Panel, i int) bool {
	col, val := p.Row(i - p.Lo)
	for e, c := range col {
		if (val == nil || val[e] != 0) && marks[c].Load() {
			return true
		}
	}
	return false
}
