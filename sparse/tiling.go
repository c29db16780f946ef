package sparse

import (
	"context"
	"slices"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// tiling divides a matrix into tiles of columns, see [tiledMatrix].
type tiling struct {
	pay     *tilingRule // when tiles are faster
	columns int         // number of columns of a tile
	first   []int       // number of the first row of each range, where each piece of a long row counts as a row
	slot    []int32     // index of each row in the tiles of its unit, or noSlot if it has no tile
	untiled []int64     // offset, in the rest, of the entries of each row outside tiles
	inTiles int64       // number of entries in tiles
	units   []unit
	weights weightType
}

const noSlot = -1

// unit is the group of consecutive ranges lo ≤ i < hi, which one core gathers tile by tile.
type unit struct {
	lo, hi int

	// Rows in tiles are sorted by decreasing number of their tiles, so that every tile has the first rows of the unit.
	tiles []tile
}

// tile has the entries of some columns and of the first rows of a unit, in CSR layout. Ids count from the first column
// of the tile.
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

	// unitsPerWorker is the number of units for each worker. Larger units load tiles less often; smaller units balance
	// the work better.
	unitsPerWorker = 4
	mostEntries    = 1 << 22 // of a unit

	// mostRows is the largest number of rows in tiles of a unit. Their sums pass through the cache once for each tile.
	mostRows = 1 << 15

	// wholeEntries is the number of entries after which a unit without tiles ends.
	wholeEntries = 1 << 16

	// tileSlabBytes is larger than slabBytes, because every pass reads the tiles again.
	tileSlabBytes     = 512
	mostTileSlabBytes = 544
)

// tilingRule says when tiles are faster than plain ids.
type tilingRule struct {
	entries int64 // smallest number of entries of a matrix; also the least limit on the entries of a unit
	row     int   // smallest number of entries of a row in tiles
	tile    int   // cost of a segment, in entries
	reuse   int64 // smallest mean number of entries of a column in a tile of a unit
}

var tilesPay = tilingRule{entries: 1 << 20, row: 32, tile: 2, reuse: 1}

// findTiling returns a tiling of a for blocks with rows of rowBytes bytes, if it is predicted to be faster than plain
// ids. This is so if at least a third of the entries are in tiles that meet pay. If no tiling is faster, but a narrower
// type than float64 represents the values of a weighted matrix, it returns a tiling without tiles. Otherwise it returns
// nil. Cost: up to two sweeps; up to 12 bytes a row and 14 bytes a [segment].
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

// newTiling returns the tiling with tiles of the given number of columns, at most 65,536; 0 means no tiles. It may be
// slower than plain ids.
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

// segment stands for the entries of a row in a tile.
type segment struct {
	row     uint16 // number of the row in its range
	tile    uint16
	entries uint16
}

type segments []segment

// add appends the segments of a row, given by its number in its range, that maximize the entries in tiles minus the
// cost of the segments.
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

// bytes returns the memory of a copy in the tiles and of the buffers of steps with rows of rowBytes bytes.
func (t *tiling) bytes(rowBytes, workers int) int64 {
	untiled := t.untiled[len(t.slot)]
	bytes := 2*t.inTiles + 4*untiled + [...]int64{0, 1, 4, 8}[t.weights]*(t.inTiles+untiled) +
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
