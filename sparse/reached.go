package sparse

import (
	"context"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring/v2"
)

// Reached returns the rows from which a walk along the entries of each row can end in
// one of the rows of seeds; seeds reach themselves, entries of value 0 lead nowhere. Of
// a symmetric matrix these are the components that hold a seed, which
// [Components.Reached] finds in one sweep. Here sweeps are repeated until nothing
// changes: at most one more than the longest shortest path to a seed.
func Reached(ctx context.Context, a Matrix, seeds []int, workers int) (*roaring.Bitmap, error) {
	rows, _ := a.Dims()
	marks := make([]atomic.Bool, rows)
	for _, row := range seeds {
		marks[row].Store(true)
	}
	for grew := true; grew; {
		var more atomic.Bool
		err := a.Sweep(ctx, workers, func(_ int, p Panel) error {
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
	return rowSet(rows, func(i int) bool { return marks[i].Load() }), nil
}

// leadsTo reports whether an entry of row i leads to a marked row.
func leadsTo(marks []atomic.Bool, p Panel, i int) bool {
	col, val := p.Row(i - p.Lo)
	for e, c := range col {
		if (val == nil || val[e] != 0) && marks[c].Load() {
			return true
		}
	}
	return false
}

// rowSet returns the set of the rows i < n for which has(i) holds, compressed: at most
// 8 KiB for each 65,536 rows, and next to nothing where they follow each other. Cost:
// n calls.
func rowSet(n int, has func(i int) bool) *roaring.Bitmap {
	set := roaring.New()
	batch := make([]uint32, 0, 1<<12)
	for i := range n {
		if !has(i) {
			continue
		}
		if len(batch) == cap(batch) {
			set.AddMany(batch)
			batch = batch[:0]
		}
		batch = append(batch, uint32(i))
	}
	set.AddMany(batch)
	set.RunOptimize()
	return set
}
