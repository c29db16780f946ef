package sparse

import (
	"context"
	"slices"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// tiling divides a matrix into tiles of columns, see [newTiled].
type tiling struct {
	pay     *tilingRule // when tiles are faster
	columns int         // number of columns of a tile
	first   []int       // number of the first row of each range; a piece of a long row counts as a row
	slot    []int32     // index of each row in the sums of its unit, or noSlot
	untiled []int64     // offset of the entries of each row outside tiles
	inTiles int64       // number of entries in tiles
	units   []unit
	weights weightType
}

const noSlot = -1

// unit is a group of consecutive ranges, which one core gathers tile by tile.
type unit struct {
	lo, hi int

	// Rows are sorted by decreasing number of tiles, so that every tile has the first rows of the unit.
	tiles []tile
}

// tile is a group of columns for some rows, in CSR layout. Ids count from the first column.
type tile struct {
	ptr     []int64
	ids     []uint16
	weights weights
}

func (t tile) rows() int { return len(t.ptr) - 1 }

func (t tile) row(i int) ([]uint16, weights) {
	lo, hi := t.ptr[i], t.ptr[i+1]
	return t.ids[lo:hi], t.weights.part(lo, hi)
}

const (
	mostTileColumns = 1 << 16

	// unitsPerWorker balances two costs: larger units load tiles less often, smaller units balance the work better.
	unitsPerWorker = 4
	mostEntries    = 1 << 22

	// mostRows bounds the rows of a unit, whose sums pass through the cache once for each tile.
	mostRows = 1 << 15

	wholeEntries = 1 << 16

	// tileSlabBytes is larger than slabBytes, because every pass reads the tiles again.
	tileSlabBytes     = 512
	mostTileSlabBytes = 544
)

type tilingRule struct {
	entries int64 // smallest number of entries of a matrix, and of a unit
	row     int   // smallest number of entries of a row
	tile    int   // entries of a row in a tile that outweigh the cost of one more segment
	reuse   int64 // smallest mean number of uses of a column of a tile in a unit
}

var tilesPay = tilingRule{entries: 1 << 20, row: 32, tile: 2, reuse: 1}

// findTiling returns a tiling of a for blocks with rows of rowBytes bytes, if it is predicted to be faster than plain
// ids: at least a third of the entries must be in long rows and in the first columns, which must be frequent. If no
// tiling is faster, but a narrower type than float64 holds the values of a weighted matrix, it returns a tiling without
// tiles. Otherwise it returns nil. Cost: up to two sweeps; up to 12 bytes a row and 14 bytes a segment.
func findTiling(ctx context.Context, a Matrix, weighted bool, rowBytes, workers int,
	pay *tilingRule) (*tiling, error) {
	if !weighted && a.NNZ() < pay.entries {
		return nil, nil
	}
	if a.NNZ() >= pay.entries {
		columns := min(mostTileColumns,
			sched.CacheBytes()/2/min(rowBytes, mostTileSlabBytes))
		t, err := newTiling(ctx, a, columns, workers, pay)
		if err != nil || 3*t.inTiles >= a.NNZ() {
			return t, err
		}
		if !t.weights.narrow() {
			return nil, nil
		}
	}
	t, err := newTiling(ctx, a, 0, workers, pay)
	if err != nil || !t.weights.narrow() {
		return nil, err
	}
	return t, nil
}

// newTiling returns the tiling with tiles of the given number of columns, at most 65,536, even if it is slower than a
// sweep.
func newTiling(ctx context.Context, a Matrix, columns, workers int,
	pay *tilingRule) (*tiling, error) {
	ranges := a.Ranges()
	t := &tiling{pay: pay, columns: columns, first: make([]int, len(ranges)+1)}
	for i, r := range ranges {
		t.first[i+1] = t.first[i] + r.Hi - r.Lo
	}
	rows := t.first[len(ranges)]
	t.slot = make([]int32, rows)
	t.untiled = make([]int64, rows+1)
	for i := range t.slot {
		t.slot[i] = noSlot
	}
	workers = sched.Workers(workers)
	parts := make([]segments, len(ranges))
	buffers := make([]segments, workers)
	types := make([]weightType, workers)
	err := Sweep(ctx, a, workers, func(worker int, p Panel) error {
		types[worker] = types[worker].with(p.Val)
		b := &buffers[worker]
		*b = (*b)[:0]
		for i := range p.Hi - p.Lo {
			col, _ := p.Row(i)
			t.untiled[t.first[p.Index]+i+1] = int64(len(col))
			b.add(i, col, columns, pay)
		}
		parts[p.Index] = slices.Clone(*b)
		return nil
	})
	if err != nil {
		return nil, err
	}
	t.weights = slices.Max(types)
	t.cut(ranges, parts, min(max(a.NNZ()/int64(unitsPerWorker*workers),
		pay.entries), mostEntries))
	for i := range rows {
		t.untiled[i+1] += t.untiled[i]
	}
	return t, nil
}

type segment struct {
	row     uint16 // number of the row in its range
	tile    uint16
	entries uint16
}

type segments []segment

// add chooses the segments that maximize the entries in tiles minus the cost of the segments.
func (s *segments) add(row int, col []uint32, columns int, pay *tilingRule) {
	if len(col) < pay.row || columns == 0 {
		return
	}
	gain := 0
	best := 0
	keep := len(*s)
	for tile := 0; tile < 1<<16 && len(col) > 0 && gain+len(col)-pay.tile > best; tile++ {
		n, _ := slices.BinarySearch(col, uint32((tile+1)*columns))
		*s = append(*s, segment{row: uint16(row), tile: uint16(tile),
			entries: uint16(n)})
		gain += n - pay.tile
		if gain > best {
			best = gain
			keep = len(*s)
		}
		col = col[n:]
	}
	*s = (*s)[:keep]
}

func (s segments) rows(yield func(row int, s segments) bool) {
	for lo, hi := 0, 0; lo < len(s); lo = hi {
		for hi < len(s) && s[hi].row == s[lo].row {
			hi++
		}
		if !yield(int(s[lo].row), s[lo:hi]) {
			return
		}
	}
}

func (t *tiling) cut(ranges []Range, parts []segments, limit int64) {
	lo := 0
	entries := int64(0)
	rows := 0
	for i, r := range ranges {
		n := 0
		for range parts[i].rows {
			n++
		}
		if rows == 0 && lo < i && n > 0 || rows > 0 && n == 0 ||
			entries+int64(r.Entries) > limit || rows+n > mostRows ||
			rows == 0 && n == 0 && entries > wholeEntries {
			t.unit(lo, i, parts)
			lo = i
			entries = 0
			rows = 0
		}
		entries += int64(r.Entries)
		rows += n
	}
	t.unit(lo, len(ranges), parts)
}

func (t *tiling) unit(lo, hi int, parts []segments) {
	if lo == hi {
		return
	}
	var named []int64 // number of entries of each tile
	for _, list := range parts[lo:hi] {
		for _, s := range list {
			if int(s.tile) == len(named) {
				named = append(named, 0)
			}
			named[s.tile] += int64(s.entries)
		}
	}
	tiles := slices.IndexFunc(named,
		func(n int64) bool { return n < t.pay.reuse*int64(t.columns) })
	if tiles < 0 {
		tiles = len(named)
	}
	u := unit{lo: lo, hi: hi, tiles: make([]tile, tiles)}

	// slots[n] is first the number of rows with n tiles, and then the next slot of such a row.
	slots := make([]int, tiles+1)
	for _, list := range parts[lo:hi] {
		for _, s := range list.rows {
			slots[min(len(s), tiles)]++
		}
	}
	for n, rows := tiles, 0; n >= 0; n-- {
		slots[n], rows = rows, rows+slots[n]
		if n > 0 {
			u.tiles[n-1].ptr = make([]int64, rows+1)
		}
	}
	for i, list := range parts[lo:hi] {
		for row, s := range list.rows {
			s = s[:min(len(s), tiles)]
			if len(s) == 0 {
				continue
			}
			slot := slots[len(s)]
			index := t.first[lo+i] + row
			slots[len(s)]++
			t.slot[index] = int32(slot)
			for n, s := range s {
				u.tiles[n].ptr[slot+1] = int64(s.entries)
				t.untiled[index+1] -= int64(s.entries)
				t.inTiles += int64(s.entries)
			}
		}
	}
	for _, tile := range u.tiles {
		for i := range tile.rows() {
			tile.ptr[i+1] += tile.ptr[i]
		}
	}
	t.units = append(t.units, u)
}

func (u *unit) rows() int {
	if len(u.tiles) == 0 {
		return 0
	}
	return u.tiles[0].rows()
}

// bytes returns the memory of the copy and of the buffers of steps.
func (t *tiling) bytes(rowBytes, workers int) int64 {
	untiled := t.untiled[len(t.slot)]
	bytes := 2*t.inTiles + 4*untiled + t.weights.size()*(t.inTiles+untiled) +
		12*int64(len(t.slot))
	rows := 0
	for i := range t.units {
		rows = max(rows, t.units[i].rows())
		for _, tile := range t.units[i].tiles {
			bytes += 8 * int64(len(tile.ptr))
		}
	}
	return bytes + int64(sched.Workers(workers)*rows*min(rowBytes,
		mostTileSlabBytes))
}
