package sparse

import (
	"context"
	"iter"
	"sort"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/internal/system"
)

// tiledMatrix is a matrix in memory in tiles of columns, for matrices whose first columns have most of the entries, as
// in a graph ordered by degree:
//
//	A = (T_0  T_1  …  R)
//
// A step adds the entries of tile T_0 for many rows of A, then the entries of the next tile, and at last the entries of
// the rest R. Meanwhile the rows of X that a tile refers to stay in the second-level cache of a core. The entries of a
// row are added in their order, so that the bits are the same as in other layouts.
//
// Ids in tiles have 16 bits and count from the first column of the tile. The number of tiles is chosen for each unit of
// several million entries, and for each row; its other entries are in the rest.
type tiledMatrix struct {
	*tiling
	rows, cols int
	ranges     []Range
	ids        []uint32 // column ids of the rest
	values     weights  // values of the rest
}

// newTiled returns a copy of a in the tiles of t. t must not be used afterwards. Cost: one sweep.
func newTiled(ctx context.Context, a Matrix, t *tiling,
	workers int) (Matrix, error) {
	m := &tiledMatrix{tiling: t, ranges: a.Ranges()}
	m.rows, m.cols = a.Dims()
	untiled := t.untiled[len(t.slot)]
	m.ids = system.Make[uint32](int(untiled) + spareIDs)[:untiled]
	m.values = t.weights.make(int(untiled))
	ids := system.Make[uint16](int(t.inTiles) + spareIDs)
	values := t.weights.make(int(t.inTiles))
	offset := int64(0)
	for i := range t.units {
		for n := range t.units[i].tiles {
			tile := &t.units[i].tiles[n]
			entries := tile.ptr[tile.rows()]
			tile.ids = ids[:entries]
			ids = ids[entries:]
			tile.weights = values.part(offset, offset+entries)
			offset += entries
		}
	}
	return m, Sweep(ctx, a, workers, func(_ int, p Panel) error {
		u := m.unitOf(p.Index)
		for i := range p.Hi - p.Lo {
			col, val := p.Row(i)
			row := m.first[p.Index] + i
			slot := m.slot[row]
			for n, tile := range u.tilesOf(slot) {
				ids, values := tile.row(int(slot))
				for e, c := range col[:len(ids)] {
					ids[e] = uint16(int(c) - n*m.columns)
				}
				values.store(val, len(ids))
				col = col[len(ids):]
				if val != nil {
					val = val[len(ids):]
				}
			}
			copy(m.ids[m.untiled[row]:], col)
			m.values.part(m.untiled[row], m.untiled[row+1]).store(val, len(col))
		}
		return nil
	})
}

func (a *tiledMatrix) unitOf(index int) *unit {
	return &a.units[sort.Search(len(a.units),
		func(u int) bool { return a.units[u].hi > index })]
}

func (u *unit) tilesOf(slot int32) iter.Seq2[int, tile] {
	return func(yield func(int, tile) bool) {
		if slot == noSlot {
			return
		}
		for n, tile := range u.tiles {
			if int(slot) >= tile.rows() || !yield(n, tile) {
				return
			}
		}
	}
}

func (a *tiledMatrix) Dims() (r, c int) { return a.rows, a.cols }

func (a *tiledMatrix) NNZ() int64 {
	return a.inTiles + int64(len(a.ids))
}

func (a *tiledMatrix) Ranges() []Range { return a.ranges }

func (a *tiledMatrix) SweepRows(ctx context.Context, lo, hi, workers int,
	visit PanelVisitor) error {
	buffers := make([]rowBuffer, sched.Workers(workers))
	first, count := rangesOf(a.ranges, lo, hi)
	return sched.Run(ctx, len(buffers), count, func(worker, i int) error {
		p := a.panel(&buffers[worker], first+i)
		defer sched.InRows(p.Lo, p.Hi)
		return visit(worker, p)
	})
}

// rowBuffer is the memory of the panel of a range.
type rowBuffer struct {
	ptr []int64
	col []uint32
	val []float64

	values []float64 // values of one tile
}

func (a *tiledMatrix) panel(b *rowBuffer, i int) Panel {
	if b.col == nil {
		b.ptr = make([]int64, MaxRange+1)
		b.col = make([]uint32, MaxRange+spareIDs)
	}
	p := a.restPanel(i)
	u := a.unitOf(i)
	ptr := b.ptr[:len(p.Ptr)]
	col := b.col[:0]
	val := b.val[:0]
	ptr[0] = 0
	for r := range p.Hi - p.Lo {
		slot := a.slot[a.first[i]+r]
		for n, tile := range u.tilesOf(slot) {
			ids, values := tile.row(int(slot))
			for _, c := range ids {
				col = append(col, uint32(n*a.columns)+uint32(c))
			}
			val = append(val, convertValues(values, &b.values)...)
		}
		untiled, _ := p.Row(r)
		col = append(col, untiled...)
		val = append(val, convertValues(a.values.part(p.Ptr[r], p.Ptr[r+1]),
			&b.values)...)
		ptr[r+1] = int64(len(col))
	}
	p.Ptr = ptr
	p.Col = col
	b.val = val
	if a.weights != ones {
		p.Val = val
	}
	return p
}

// restPanel returns a panel of the entries of range i outside tiles, without their values.
func (a *tiledMatrix) restPanel(i int) Panel {
	ptr := a.untiled[a.first[i] : a.first[i+1]+1]
	return Panel{Range: a.ranges[i], Index: i, Ptr: ptr,
		Col: a.ids[ptr[0]:ptr[len(ptr)-1]]}
}

func (f *fused[T]) sweepTiles(ctx context.Context, workers int,
	a *tiledMatrix) error {
	return sched.Run(ctx, workers, len(a.units), func(worker, i int) error {
		u := &a.units[i]
		defer sched.InRows(a.ranges[u.lo].Lo, a.ranges[u.hi-1].Hi)
		for first, end := 0, 0; first < f.width; first = end {
			end = slabEnd[T](first, f.width, tileSlabBytes, mostTileSlabBytes)
			f.computeUnit(worker, a, u, first, end)
		}
		return nil
	})
}

// computeUnit computes the columns first ≤ j < end of the rows of u. If these are the last columns, it then calls the
// visitor.
func (f *fused[T]) computeUnit(worker int, a *tiledMatrix, u *unit,
	first, end int) {
	w := &f.worker[worker]
	width := end - first
	tileSums := simd.Rows[T]{Stride: width}
	if rows := u.rows(); rows > 0 {
		w.tileSums = grow(w.tileSums, rows*width)
		tileSums.Data = w.tileSums
		clear(tileSums.Data)
	}
	for n, tile := range u.tiles {
		x := f.source.rowsOf(n*a.columns, first)
		w.read += readLines(x, min(a.columns, a.cols-n*a.columns), width)
		for lo, hi := 0, 0; lo < tile.rows(); lo = hi {
			// Nothing can interrupt a gather.
			limit := int64(1 << 16)
			if !tile.weights.none() { // Converted values should stay in the first-level cache.
				limit = MaxRange
			}
			hi = lo + sort.Search(tile.rows()-lo,
				func(n int) bool { return tile.ptr[lo+n+1]-tile.ptr[lo] > limit })
			sums := simd.Rows[T]{Data: tileSums.Data[lo*width:], Stride: width}
			values := convertValues(tile.weights.part(tile.ptr[lo],
				tile.ptr[hi]), &w.values)
			simd.GatherTile(sums, width, x, tile.ptr[lo:hi+1],
				tile.ids[tile.ptr[lo]:], values)
		}
	}
	for i := u.lo; i < u.hi; i++ {
		g := gathering[T]{p: a.restPanel(i), lo: first, hi: end}
		g.values = convertValues(a.values.part(g.p.Ptr[0],
			g.p.Ptr[len(g.p.Ptr)-1]), &w.values)
		if tileSums.Data != nil {
			g.tileSums = tileSums
			g.slot = a.slot[a.first[i]:a.first[i+1]]
		}
		f.slab(w, &g)
		if end == f.width {
			f.visit(worker, g.p)
		}
	}
}

// readLines reads a byte of every cache line of some rows. This loads them sequentially; otherwise the first entries
// that refer to these rows would wait for one line at a time. The returned sum prevents the compiler from removing the
// reads.
func readLines[T Float](x simd.Rows[T], rows, width int) (sum byte) {
	if x.Stride <= width {
		rows, width = 1, rows*width
	}
	const lineBytes = 64
	for r := range rows {
		row := x.Data[r*x.Stride:][:width]
		bytes := bytesOf(row)
		for offset := 0; offset < len(bytes); offset += lineBytes {
			sum += bytes[offset]
		}
	}
	return sum
}
