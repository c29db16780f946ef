package sparse

import (
	"context"
	"slices"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// tiling is how a matrix is cut into tiles of columns, see [newTiled].
type tiling struct {
	pay      *tilingRule // where tiles pay
	columns  int         // of a tile
	first    []int       // where the rows of each range begin; a piece of a long row counts as a row
	slot     []int32     // of each row, where the sums of its unit have it, or noSlot
	rest     []int64     // where what each row has outside tiles begins
	inTiles  int64       // entries in tiles
	segments int64       // of rows, one in each tile that a row is in
	units    []unit
	weights  weightType
}

const noSlot = -1

// unit is some consecutive ranges, whose entries a core gathers tile by tile.
type unit struct {
	lo, hi int // the ranges

	// Rows with entries in tiles lie by falling number of tiles, so that each tile
	// has the first of them.
	tiles []tile
}

// tile is some columns of some rows, in CSR layout. Ids count from the first column.
type tile struct {
	ptr     []int64
	ids     []uint16
	weights weights
}

// rows returns the number of rows.
func (t tile) rows() int { return len(t.ptr) - 1 }

// row returns the ids and the values of the i-th row.
func (t tile) row(i int) ([]uint16, weights) {
	lo, hi := t.ptr[i], t.ptr[i+1]
	return t.ids[lo:hi], t.weights.part(lo, hi)
}

const (
	// mostTileColumns is the largest number of columns of a tile.
	mostTileColumns = 1 << 16

	// Where there are enough entries, each worker has so many units, and one has so
	// many entries: more fetch tiles less often, fewer share the work better.
	unitsPerWorker = 4
	mostEntries    = 1 << 22

	// mostRows of a unit have entries in tiles: their sums pass through the cache once
	// for each tile.
	mostRows = 1 << 15

	// wholeEntries is the size of a unit without tiles.
	wholeEntries = 1 << 16

	// tileSlabBytes of a row are gathered in one pass over the tiles, and mostTileSlabBytes
	// in the last: more than elsewhere, since every pass fetches the tiles once more.
	tileSlabBytes     = 512
	mostTileSlabBytes = 544
)

// tilingRule says where tiles pay.
type tilingRule struct {
	entries int64 // of a matrix, and of a unit
	row     int   // entries of a row
	tile    int   // entries that must lie in tiles to make up for a tile, where a row ends once more
	reuse   int64 // how often a unit names each column of a tile in the mean
}

// tilesPay is the rule of layouts.
var tilesPay = tilingRule{entries: 1 << 20, row: 32, tile: 2, reuse: 1}

// findTiling returns a tiling of a if it pays for blocks with rows of so many bytes:
// if a third of its entries are those of long rows in columns that are named often, the
// first ones. Tiles have as many columns as have rows of a block in half of the
// second cache. Otherwise, of a matrix that may be weighted, it returns a tiling without
// tiles if that pays: where a tiled matrix holds values in narrower types than
// float64. Else it returns nil. Cost: up to two sweeps, and up to 12 bytes a row and 14
// for each tile that a row is in.
func findTiling(ctx context.Context, a Matrix, weighted bool, rowBytes, workers int, pay *tilingRule) (*tiling, error) {
	if !weighted && a.NNZ() < pay.entries {
		return nil, nil
	}
	if a.NNZ() >= pay.entries {
		columns := min(mostTileColumns, sched.CacheBytes()/2/min(rowBytes, mostTileSlabBytes))
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

// newTiling returns the tiling of a whose tiles have so many columns, at most
// 65,536, whether it pays or not.
func newTiling(ctx context.Context, a Matrix, columns, workers int, pay *tilingRule) (*tiling, error) {
	ranges := a.Ranges()
	t := &tiling{pay: pay, columns: columns, first: make([]int, len(ranges)+1)}
	for i, r := range ranges {
		t.first[i+1] = t.first[i] + r.Hi - r.Lo
	}
	rows := t.first[len(ranges)]
	t.slot, t.rest = make([]int32, rows), make([]int64, rows+1)
	for i := range t.slot {
		t.slot[i] = noSlot
	}
	workers = sched.Workers(workers)
	parts, buffers := make([]segments, len(ranges)), make([]segments, workers)
	types := make([]weightType, workers)
	err := a.Sweep(ctx, workers, func(worker int, p Panel) error {
		types[worker] = types[worker].with(p.Val)
		b := &buffers[worker]
		*b = (*b)[:0]
		for i := range p.Hi - p.Lo {
			col, _ := p.Row(i)
			t.rest[t.first[p.Index]+i+1] = int64(len(col))
			b.add(i, col, columns, pay)
		}
		parts[p.Index] = slices.Clone(*b)
		return nil
	})
	if err != nil {
		return nil, err
	}
	t.weights = slices.Max(types)
	t.cut(ranges, parts, min(max(a.NNZ()/int64(unitsPerWorker*workers), pay.entries), mostEntries))
	for i := range rows {
		t.rest[i+1] += t.rest[i]
	}
	return t, nil
}

// segment is the entries that a row has in one tile.
type segment struct {
	row     uint16 // in its range
	tile    uint16
	entries uint16
}

// segments are those of a range, by rows and tiles.
type segments []segment

// add adds the segments of a row, from the first tile on: as many as gain most, where
// an entry in a tile gains one and each tile costs some.
func (s *segments) add(row int, col []uint32, columns int, pay *tilingRule) {
	if len(col) < pay.row || columns == 0 {
		return
	}
	gain, most, keep := 0, 0, len(*s)
	for tile := 0; tile < 1<<16 && len(col) > 0 && gain+len(col)-pay.tile > most; tile++ {
		n, _ := slices.BinarySearch(col, uint32((tile+1)*columns))
		*s = append(*s, segment{row: uint16(row), tile: uint16(tile), entries: uint16(n)})
		gain += n - pay.tile
		if gain > most {
			most, keep = gain, len(*s)
		}
		col = col[n:]
	}
	*s = (*s)[:keep]
}

// rows yields the segments of each row.
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

// cut makes the units, of so many entries.
func (t *tiling) cut(ranges []Range, parts []segments, most int64) {
	lo, entries, rows := 0, int64(0), 0
	for i, r := range ranges {
		n := 0
		for range parts[i].rows {
			n++
		}
		if rows == 0 && lo < i && n > 0 || rows > 0 && n == 0 ||
			entries+int64(r.Entries) > most || rows+n > mostRows || rows == 0 && n == 0 && entries > wholeEntries {
			t.unit(lo, i, parts)
			lo, entries, rows = i, 0, 0
		}
		entries += int64(r.Entries)
		rows += n
	}
	t.unit(lo, len(ranges), parts)
}

// unit makes a unit of the ranges lo ≤ i < hi.
func (t *tiling) unit(lo, hi int, parts []segments) {
	if lo == hi {
		return
	}
	var named []int64 // of each tile
	for _, part := range parts[lo:hi] {
		for _, s := range part {
			if int(s.tile) == len(named) {
				named = append(named, 0)
			}
			named[s.tile] += int64(s.entries)
		}
	}
	tiles := slices.IndexFunc(named, func(n int64) bool { return n < t.pay.reuse*int64(t.columns) })
	if tiles < 0 {
		tiles = len(named)
	}
	u := unit{lo: lo, hi: hi, tiles: make([]tile, tiles)}

	// How many rows are in so many tiles, and then in more: the next slot of such rows.
	slots := make([]int, tiles+1)
	for _, part := range parts[lo:hi] {
		for _, s := range part.rows {
			slots[min(len(s), tiles)]++
		}
	}
	for n, rows := tiles, 0; n >= 0; n-- {
		slots[n], rows = rows, rows+slots[n]
		if n > 0 {
			u.tiles[n-1].ptr = make([]int64, rows+1)
		}
	}
	for i, part := range parts[lo:hi] {
		for row, s := range part.rows {
			s = s[:min(len(s), tiles)]
			if len(s) == 0 {
				continue
			}
			slot, at := slots[len(s)], t.first[lo+i]+row
			slots[len(s)]++
			t.slot[at] = int32(slot)
			for n, s := range s {
				u.tiles[n].ptr[slot+1] = int64(s.entries)
				t.rest[at+1] -= int64(s.entries)
				t.inTiles += int64(s.entries)
				t.segments++
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

// rows returns the number of rows with entries in tiles.
func (u *unit) rows() int {
	if len(u.tiles) == 0 {
		return 0
	}
	return u.tiles[0].rows()
}

// bytes returns the memory of a tiled matrix, and of what its steps take beside it
// with so many workers and blocks with rows of so many bytes.
func (t *tiling) bytes(rowBytes, workers int) int64 {
	rest := t.rest[len(t.slot)]
	bytes, rows := 2*t.inTiles+4*rest+t.weights.size()*(t.inTiles+rest)+12*int64(len(t.slot)), 0
	for i := range t.units {
		rows = max(rows, t.units[i].rows())
		for _, tile := range t.units[i].tiles {
			bytes += 8 * int64(len(tile.ptr))
		}
	}
	return bytes + int64(sched.Workers(workers)*rows*min(rowBytes, mostTileSlabBytes))
}
