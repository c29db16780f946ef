package sparse

import (
	"context"

	"github.com/heatwalk/heatwalk/spec"
)

// LayoutOptions says what a copy in memory is for; nil means defaults.
type LayoutOptions struct {
	RowBytes int   // of the widest block that steps will gather from; 0: unknown, taken as 1 KiB
	Sweeps   int   // number of sweeps to come; 0: many. Fewer than 8 do not make up for finding a layout
	Memory   int64 // bytes for the copy, and for what its steps take beside their blocks; 0: no limit
	Workers  int   // goroutines; 0: one for each processor. It never changes a result

	// What is known of the matrix: that all entries are 1, and that columns lie by falling
	// numbers of entries, as those of a graph by degree do. Where it is not known, room is
	// left for values, and columns are counted.
	Ones, ByCount bool
}

// Layout is how a copy of a matrix lies in memory so that steps sweep it fastest.
// It changes no bit of a result.
type Layout struct {
	// Matrix is the memory in bytes of what [Layout.Load] makes, and Copies that of the
	// copies of rows of their blocks that its steps gather from: these take the place of
	// the block diag(Right)·X that a step with another matrix keeps.
	Matrix, Copies int64

	Reordered bool // columns lie by how many entries they have
	Tiled     bool // most entries lie in tiles of columns

	a        Matrix
	workers  int
	rowBytes int
	order    *columnOrder // of the columns, nil if they stay as they are
	tiling   *tiling      // of the columns, nil if they stay together
}

const (
	// leastSweeps make up for finding a layout.
	leastSweeps = 8

	// unknownRowBytes is what is taken for the width of blocks that is not known.
	unknownRowBytes = 1 << 10
)

// FindLayout returns the layout of a copy of a that steps as o describes sweep
// fastest, or nil if the memory of o has no room for a copy. It is the first of
// these that pays and fits:
//
//   - tiles of columns that would also be reordered, where most entries are in tiles and
//     the last cache has room for the block
//   - columns reordered by how many entries they have, where few of them have most of
//     the entries and are scattered among the others
//   - tiles, where the first columns have many of the entries; or values in less memory
//     alone
//   - plain ids, see [Load]
//
// A store that is only to be copied is opened with Options.Stream, so that it keeps no
// frames beside the copy. Cost: up to four sweeps, and until it returns 20 bytes a column.
func FindLayout(ctx context.Context, a Matrix, o *LayoutOptions) (*Layout, error) {
	if o == nil {
		o = new(LayoutOptions)
	}
	rows, _ := a.Dims()
	plain := spec.Sum(LoadMemory(int64(rows), a.NNZ(), !o.Ones))
	if o.Memory > 0 && plain > o.Memory {
		return nil, nil
	}
	l := &Layout{a: a, workers: o.Workers, rowBytes: o.RowBytes, Matrix: plain}
	if l.rowBytes == 0 {
		l.rowBytes = unknownRowBytes
	}
	if 0 < o.Sweeps && o.Sweeps < leastSweeps {
		return l, nil
	}
	if !o.ByCount {
		if err := l.reorder(ctx, o.Memory); err != nil {
			return nil, err
		}
	}
	return l, l.tile(ctx, !o.Ones, o.Memory)
}

// reorder reorders the columns if that pays and fits.
func (l *Layout) reorder(ctx context.Context, limit int64) error {
	p, err := findColumnOrder(ctx, l.a, l.rowBytes, reorderedColumns, l.workers)
	if p == nil || err != nil {
		return err
	}
	order, copies := p.bytes(l.rowBytes)
	if limit == 0 || l.Matrix+order+copies <= limit {
		l.Reordered, l.order, l.Matrix, l.Copies = true, p, l.Matrix+order, copies
	}
	return nil
}

// tile cuts the columns into tiles if that pays, more than reordering them does, and fits.
func (l *Layout) tile(ctx context.Context, weighted bool, limit int64) error {
	_, cols := l.a.Dims()
	if l.order != nil && !tilesMayBeatReordering(cols, l.rowBytes) {
		return nil
	}
	t, err := findTiling(ctx, l.a, weighted, l.rowBytes, l.workers, &tilesPay)
	if t == nil || err != nil {
		return err
	}
	if l.order != nil && !t.beatsReordering(cols, l.rowBytes) {
		return nil
	}
	if bytes := t.bytes(l.rowBytes, l.workers); limit == 0 || bytes <= limit {
		l.Reordered, l.order, l.Copies = false, nil, 0
		l.Tiled, l.tiling, l.Matrix = t.inTiles > 0, t, bytes
	}
	return nil
}

// Load makes the copy: once, since the copy takes over what was found. Cost: one sweep.
func (l *Layout) Load(ctx context.Context) (Matrix, error) {
	if l.tiling != nil {
		return newTiled(ctx, l.a, l.tiling, l.workers)
	}
	a, err := Load(ctx, l.a, l.workers)
	if err != nil {
		return nil, err
	}
	if l.order != nil {
		return newReordered(a, l.order, l.rowBytes, l.workers), nil
	}
	return a, nil
}
