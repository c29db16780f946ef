package shard

import (
	"context"

	"github.com/heatwalk/heatwalk/sparse"
)

// LayoutOptions says what a copy in memory is for; nil means defaults.
type LayoutOptions struct {
	RowBytes int   // of the widest block that steps will gather from; 0: unknown, taken as 1 KiB
	Sweeps   int   // how many there will be; 0: many. Fewer than 8 do not make up for finding a layout
	Memory   int64 // bytes for the copy, and for what its steps take beside their blocks; 0: no limit
	Workers  int   // goroutines; 0: one for each processor. It never changes a result
}

// Layout is how a copy of a matrix lies in memory so that steps sweep it fastest.
// It changes no bit of a result.
type Layout struct {
	a        sparse.Matrix
	workers  int
	rowBytes int
	packing  *sparse.Packing // of the columns, nil if they stay as they are
	tiling   *sparse.Tiling  // of the columns, nil if they stay together
	matrix   int64
	copies   int64
}

const (
	// leastSweeps make up for finding a layout.
	leastSweeps = 8

	// unknownRowBytes is what is taken for the width of blocks that is not known.
	unknownRowBytes = 1 << 10

	// byDegree is the order of rows in which columns are packed already.
	byDegree = "degree"
)

// InMemory returns a copy of a in memory, in the layout of [FindLayout], or a itself
// if the memory of o has no room for one. A store that is only to be copied is
// opened with Options.Stream, so that it keeps no frames beside the copy. Cost: up to
// five sweeps.
func InMemory(ctx context.Context, a sparse.Matrix, o *LayoutOptions) (sparse.Matrix, error) {
	l, err := FindLayout(ctx, a, o)
	if err != nil {
		return nil, err
	}
	if l == nil {
		return a, nil
	}
	return l.Load(ctx)
}

// FindLayout returns the layout of a copy of a that steps as o describes sweep
// fastest, or nil if the memory of o has no room for a copy. It is the first of
// these that pays and fits:
//
//   - tiles of a matrix whose columns would also be packed, see
//     [sparse.Tiling.BeatsPacking]
//   - packed columns, see [sparse.FindPacking]
//   - tiles, or values in less memory alone, see [sparse.FindTiling]
//   - plain ids, see [sparse.Load]
//
// Of a matrix that is no store's, entries are counted as if they had weights. Cost:
// up to four sweeps, and until it returns 20 bytes a column.
func FindLayout(ctx context.Context, a sparse.Matrix, o *LayoutOptions) (*Layout, error) {
	if o == nil {
		o = new(LayoutOptions)
	}
	rows, _ := a.Dims()
	m := manifestOf(a)
	weighted := m == nil || m.Weighted
	plain := loadedBytes(int64(rows), a.NNZ(), weighted)
	if o.Memory > 0 && plain > o.Memory {
		return nil, nil
	}
	l := &Layout{a: a, workers: o.Workers, rowBytes: o.RowBytes, matrix: plain}
	if l.rowBytes == 0 {
		l.rowBytes = unknownRowBytes
	}
	if 0 < o.Sweeps && o.Sweeps < leastSweeps {
		return l, nil
	}
	if m == nil || m.Order != byDegree {
		if err := l.pack(ctx, o.Memory); err != nil {
			return nil, err
		}
	}
	return l, l.tile(ctx, weighted, o.Memory)
}

// manifestOf returns the manifest of the store that a belongs to, or nil.
func manifestOf(a sparse.Matrix) *Manifest {
	switch a := a.(type) {
	case *Store:
		return a.m
	case *view:
		return a.s.m
	}
	return nil
}

// LoadedBytes returns the memory of a copy with plain ids of the store's matrix.
func (m *Manifest) LoadedBytes() int64 { return loadedBytes(m.Rows, m.Entries, m.Weighted) }

func loadedBytes(rows, entries int64, weighted bool) int64 {
	entry := int64(4)
	if weighted {
		entry += 8
	}
	return entry*entries + 9*rows
}

// pack packs the columns if that pays and fits.
func (l *Layout) pack(ctx context.Context, limit int64) error {
	p, err := sparse.FindPacking(ctx, l.a, l.rowBytes, l.workers)
	if p == nil || err != nil {
		return err
	}
	order, copies := p.Bytes(l.rowBytes)
	if limit == 0 || l.matrix+order+copies <= limit {
		l.packing, l.matrix, l.copies = p, l.matrix+order, copies
	}
	return nil
}

// tile cuts the columns into tiles if that pays, more than packing them does, and fits.
func (l *Layout) tile(ctx context.Context, weighted bool, limit int64) error {
	_, cols := l.a.Dims()
	if l.packing != nil && !sparse.TilesMayBeatPacking(cols, l.rowBytes) {
		return nil
	}
	t, err := sparse.FindTiling(ctx, l.a, weighted, l.rowBytes, l.workers)
	if t == nil || err != nil {
		return err
	}
	if l.packing != nil && !t.BeatsPacking(cols, l.rowBytes) {
		return nil
	}
	if bytes := t.Bytes(l.rowBytes, l.workers); limit == 0 || bytes <= limit {
		l.packing, l.copies = nil, 0
		l.tiling, l.matrix = t, bytes
	}
	return nil
}

// Bytes returns the memory of the matrix that [Layout.Load] makes, and of the copies
// of rows of their blocks that its steps gather from: these take the place of the
// block diag(Right)·X that a step with another matrix keeps.
func (l *Layout) Bytes() (matrix, copies int64) { return l.matrix, l.copies }

// Packed tells whether the columns are packed.
func (l *Layout) Packed() bool { return l.packing != nil }

// Tiled tells whether the columns are cut into tiles.
func (l *Layout) Tiled() bool { return l.tiling != nil && l.tiling.Near() > 0 }

// Load makes the copy: once, since the copy takes over what was found. Cost: one sweep.
func (l *Layout) Load(ctx context.Context) (sparse.Matrix, error) {
	if l.tiling != nil {
		return sparse.NewTiled(ctx, l.a, l.tiling, l.workers)
	}
	a, err := sparse.Load(ctx, l.a, l.workers)
	if err != nil {
		return nil, err
	}
	if l.packing != nil {
		return sparse.Pack(a, l.packing, l.rowBytes, l.workers), nil
	}
	return a, nil
}
