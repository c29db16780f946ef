package sparse

import "context"

// LayoutOptions describes the sweeps that a copy in memory is made for; nil means defaults.
type LayoutOptions struct {
	RowBytes int   // bytes of a row of the widest block that steps gather from; 0: unknown, assumed to be 1 KiB
	Sweeps   int   // number of sweeps to come; 0: many. Fewer than 8 do not repay the search for a layout
	Memory   int64 // bytes for the copy and the buffers of its steps; 0: no limit
	Workers  int   // goroutines; 0: one for each processor. It never changes a result

	// Ones means that all entries are 1. Otherwise memory for values is reserved.
	Ones bool
}

// Layout is a form of a copy of a matrix in memory, chosen for fast steps. It changes no bit of a result.
type Layout struct {
	Matrix int64 // bytes of the copy that [Layout.Load] makes
	Tiled  bool  // most entries lie in tiles of columns

	a       Matrix
	workers int
	tiling  *tiling // nil: plain column ids
}

const (
	leastSweeps = 8

	unknownRowBytes = 1 << 10
)

// FindLayout returns the layout of a copy of a that is fastest for the steps that o describes. If no copy fits the
// memory of o, it returns nil. The layout has
//
//   - tiles of columns with ids of 16 bits, if the first columns have many of the entries
//   - values in a narrower type than float64, if it represents all values exactly
//   - plain ids, see [Load], otherwise, or if the memory of o does not suffice
//
// A store that is only to be copied should be opened with Options.Stream, so that it keeps no frames in addition to the
// copy. Cost: up to two sweeps.
func FindLayout(ctx context.Context, a Matrix, o *LayoutOptions) (*Layout, error) {
	if o == nil {
		o = new(LayoutOptions)
	}
	rows, _ := a.Dims()
	plain := LoadBytes(int64(rows), a.NNZ(), !o.Ones)
	if o.Memory > 0 && plain > o.Memory {
		return nil, nil
	}
	l := &Layout{a: a, workers: o.Workers, Matrix: plain}
	if 0 < o.Sweeps && o.Sweeps < leastSweeps {
		return l, nil
	}
	rowBytes := o.RowBytes
	if rowBytes == 0 {
		rowBytes = unknownRowBytes
	}
	t, err := findTiling(ctx, a, !o.Ones, rowBytes, o.Workers, &tilesPay)
	if t == nil || err != nil {
		return l, err
	}
	if bytes := t.bytes(rowBytes, o.Workers); o.Memory == 0 || bytes <= o.Memory {
		l.Tiled = t.inTiles > 0
		l.tiling = t
		l.Matrix = bytes
	}
	return l, nil
}

// Load makes the copy. It must be called only once, because the copy takes over the memory of the layout. Cost: one
// sweep.
func (l *Layout) Load(ctx context.Context) (Matrix, error) {
	if l.tiling != nil {
		return newTiled(ctx, l.a, l.tiling, l.workers)
	}
	return Load(ctx, l.a, l.workers)
}
