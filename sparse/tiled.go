package sparse

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/heatwalk/heatwalk/internal/pages"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
)

// tiled is a matrix in memory in two tiles of columns, where the first few columns
// have most of the entries, as in a graph by degree:
//
//	A = (A_near  A_far)
//
// The rows of a block that A_near names stay in the second cache of a core while a
// step adds them up for many rows of A, as long as nothing else passes through it;
// then it adds the rows that A_far names. A row's entries are added in their order,
// so that no bit changes. Near ids have 16 bits. Ranges of short rows are left whole,
// in A_far.
//
// Other visitors of a sweep see whole rows, which costs a copy.
type tiled struct {
	rows, cols int
	ranges     []Range
	units      []int // the ranges at which units begin, and how many there are
	near       tile[uint16]
	far        tile[uint32]
}

// tile is some columns of a matrix in CSR layout.
type tile[ID uint16 | uint32] struct {
	ptr []int64
	ids []ID
}

const (
	// nearColumns is the largest number of columns of the near tile.
	nearColumns = 1 << 16

	// A unit is what a core gathers from one tile before it turns to the other:
	// enough entries to make up for filling the cache anew, and so few rows that
	// their sums leave room for the tile.
	unitEntries = 1 << 20
	unitRows    = 1 << 13
)

// Tiles pay for so many entries, and for ranges whose rows have so many in the mean,
// since a row ends twice. Tests lower the first.
var tiledEntries = int64(1 << 20)

const tiledLength = 24

// Tiling is how a matrix is cut into tiles.
type Tiling struct {
	near, far []int64 // where rows begin
}

// FindTiling returns a tiling of a if it pays for blocks with rows of so many bytes,
// and otherwise nil: if all entries are 1 and a third of them are those of long rows in
// columns whose rows of a block the second cache holds. Cost: one sweep, and 16 bytes a
// row.
func FindTiling(ctx context.Context, a Matrix, rowBytes, workers int) (*Tiling, error) {
	if a.NNZ() < tiledEntries {
		return nil, nil
	}
	columns := min(nearColumns, sched.CacheBytes()/min(rowBytes, mostSlabBytes))
	t, err := NewTiling(ctx, a, columns, tiledLength, workers)
	if errors.Is(err, errWeighted) || err == nil && 3*t.near[len(t.near)-1] < a.NNZ() {
		return nil, nil
	}
	return t, err
}

// errWeighted ends the search for a tiling.
var errWeighted = errors.New("sparse: entries other than 1 have no tiles")

// NewTiling returns the tiling of a whose near tile has so many columns, at most
// 65,536, of ranges whose rows have at least so many entries in the mean, whether it
// pays or not.
func NewTiling(ctx context.Context, a Matrix, columns, length, workers int) (*Tiling, error) {
	rows, _ := a.Dims()
	t := &Tiling{near: make([]int64, rows+1), far: make([]int64, rows+1)}
	err := a.Sweep(ctx, workers, func(_ int, p Panel) error {
		if p.Val != nil {
			return errWeighted
		}
		whole := p.Pieces == 1 && p.Entries < length*(p.Hi-p.Lo)
		for i := p.Lo; i < p.Hi; i++ {
			col, _ := p.Row(i - p.Lo)
			near := 0
			if !whole {
				near, _ = slices.BinarySearch(col, uint32(columns))
			}
			// Several goroutines may have pieces of one row.
			atomic.AddInt64(&t.near[i+1], int64(near))
			atomic.AddInt64(&t.far[i+1], int64(len(col)-near))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range rows {
		t.near[i+1] += t.near[i]
		t.far[i+1] += t.far[i]
	}
	return t, nil
}

// Bytes returns the memory of a tiled matrix, and of what its steps take beside it
// with so many workers and blocks with rows of so many bytes.
func (t *Tiling) Bytes(rowBytes, workers int) int64 {
	rows := len(t.near) - 1
	sums := sched.Workers(workers) * MaxRange * min(rowBytes, mostSlabBytes)
	return 2*t.near[rows] + 4*t.far[rows] + 16*int64(rows) + int64(sums)
}

// NewTiled returns a copy of a in the tiles of t, which must not be used any more.
// A step adds what the near tile names for many rows of A before it turns to the far
// one; no bit changes. Other visitors of a sweep see whole rows, which costs a copy.
// Cost: one sweep.
func NewTiled(ctx context.Context, a Matrix, t *Tiling, workers int) (Matrix, error) {
	rows, cols := a.Dims()
	m := &tiled{rows: rows, cols: cols, ranges: a.Ranges()}
	m.near = tile[uint16]{ptr: t.near, ids: pages.Make[uint16](int(t.near[rows]))}
	m.far = tile[uint32]{ptr: t.far, ids: pages.Make[uint32](int(t.far[rows]) + spareIDs)[:t.far[rows]]}
	m.cut()
	return m, a.Sweep(ctx, workers, func(_ int, p Panel) error {
		near, far := m.parts(p.Index)
		for i := range p.Hi - p.Lo {
			col, _ := p.Row(i)
			n := near.ptr[i+1] - near.ptr[i]
			for e, c := range col[:n] {
				near.ids[near.ptr[i]-near.ptr[0]+int64(e)] = uint16(c)
			}
			copy(far.ids[far.ptr[i]-far.ptr[0]:], col[n:])
		}
		return nil
	})
}

// cut makes the units. Whole ranges have units of their own.
func (a *tiled) cut() {
	entries, rows := 0, 0
	for i, r := range a.ranges {
		if i == 0 || a.whole(i) != a.whole(i-1) || entries+r.Entries > unitEntries || rows+r.Hi-r.Lo > unitRows {
			a.units = append(a.units, i)
			entries, rows = 0, 0
		}
		entries += r.Entries
		rows += r.Hi - r.Lo
	}
	a.units = append(a.units, len(a.ranges))
}

// whole reports whether range i has rows of which the near tile has nothing.
func (a *tiled) whole(i int) bool {
	r := a.ranges[i]
	return r.Pieces == 1 && a.near.ptr[r.Lo] == a.near.ptr[r.Hi]
}

// parts returns what range i has of each tile. Far ids may be read beyond its own.
func (a *tiled) parts(i int) (near tile[uint16], far tile[uint32]) {
	r := a.ranges[i]
	if r.Pieces == 1 {
		return a.near.part(a.near.ptr[r.Lo : r.Hi+1]), a.far.part(a.far.ptr[r.Lo : r.Hi+1])
	}
	// The row's near entries come first.
	n := a.near.ptr[r.Hi] - a.near.ptr[r.Lo]
	lo := int64(r.Piece) * MaxRange
	hi := lo + int64(r.Entries)
	near = a.near.part([]int64{a.near.ptr[r.Lo] + min(lo, n), a.near.ptr[r.Lo] + min(hi, n)})
	return near, a.far.part([]int64{a.far.ptr[r.Lo] + max(lo-n, 0), a.far.ptr[r.Lo] + max(hi-n, 0)})
}

// part returns the rows between the positions ptr.
func (t *tile[ID]) part(ptr []int64) tile[ID] {
	return tile[ID]{ptr: ptr, ids: t.ids[ptr[0]:ptr[len(ptr)-1]]}
}

// row returns the ids of the i-th row.
func (t *tile[ID]) row(i int) []ID { return t.ids[t.ptr[i]-t.ptr[0] : t.ptr[i+1]-t.ptr[0]] }

// Dims returns the number of rows and columns.
func (a *tiled) Dims() (r, c int) { return a.rows, a.cols }

// NNZ returns the number of stored entries.
func (a *tiled) NNZ() int64 { return int64(len(a.near.ids) + len(a.far.ids)) }

// Ranges returns the cut of the rows.
func (a *tiled) Ranges() []Range { return a.ranges }

// Sweep implements [Matrix].
func (a *tiled) Sweep(ctx context.Context, workers int, visit func(worker int, p Panel) error) error {
	buffers := make([]rowBuffer, sched.Workers(workers))
	return sched.Run(ctx, len(buffers), len(a.ranges), func(worker, i int) error {
		p := a.panel(&buffers[worker], i)
		defer sched.InRows(p.Lo, p.Hi)
		return visit(worker, p)
	})
}

// panel returns range i in a buffer.
func (a *tiled) panel(b *rowBuffer, i int) Panel {
	b.make()
	near, far := a.parts(i)
	p := Panel{Range: a.ranges[i], Index: i, Ptr: b.ptr[:len(near.ptr)]}
	p.Ptr[0] = 0
	col := b.col[:0]
	for r := range len(near.ptr) - 1 {
		for _, c := range near.row(r) {
			col = append(col, uint32(c))
		}
		col = append(col, far.row(r)...)
		p.Ptr[r+1] = int64(len(col))
	}
	p.Col = col
	return p
}

// sweepTiles computes the rows of all units.
func (f *fused[T]) sweepTiles(ctx context.Context, workers int, a *tiled) error {
	return sched.Run(ctx, workers, len(a.units)-1, func(worker, i int) error {
		lo, hi := a.units[i], a.units[i+1]
		defer sched.InRows(a.ranges[lo].Lo, a.ranges[hi-1].Hi)
		for from, to := 0, 0; from < f.width; from = to {
			to = slabEnd[T](from, f.width)
			f.tiles(worker, a, lo, hi, from, to)
		}
		return nil
	})
}

// tiles computes the columns from ≤ j < to of the rows of the ranges lo ≤ i < hi,
// and shows them to the visitor if these are the last columns.
func (f *fused[T]) tiles(worker int, a *tiled, lo, hi, from, to int) {
	w, width, first := &f.worker[worker], to-from, a.ranges[lo].Lo
	x := rowsOf(&f.source, 0, from)
	if f.step.Delta != 0 {
		w.sums = grow(w.sums, (a.ranges[hi-1].Hi-first)*width)
	}
	// Where the sums of a range begin.
	begun := func(i int) simd.Rows[T] {
		r := a.ranges[i]
		switch {
		case r.Pieces > 1:
			return f.pieceSums(i, from)
		case f.step.Delta != 0: // Prev may be dst, whose rows are needed still.
			return simd.Rows[T]{Data: w.sums[(r.Lo-first)*width:], Stride: width}
		}
		return rowsOf(f.dst, r.Lo, from)
	}
	for i := lo; i < hi && !a.whole(i); i++ {
		near, _ := a.parts(i)
		simd.GatherSumNear(begun(i), width, x, near.ptr, near.ids)
	}
	for i := lo; i < hi; i++ {
		_, far := a.parts(i)
		g := gathering[T]{p: Panel{Range: a.ranges[i], Index: i, Ptr: far.ptr, Col: far.ids}, lo: from, hi: to}
		if !a.whole(i) {
			g.begun = begun(i)
		}
		f.slab(w, &g)
		if to == f.width {
			f.visit(worker, i, i+1)
		}
	}
}
