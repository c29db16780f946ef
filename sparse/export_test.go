package sparse

import "context"

// LowerPackedColumns lowers what [FindPacking] looks at; the function that it
// returns undoes it.
func LowerPackedColumns(n int) (undo func()) {
	before := packedColumns
	packedColumns = n
	return func() { packedColumns = before }
}

// Tile changes what tiles pay for: rows of so many entries, of which so many are in a
// tile, whose rows are named so often. The function that it returns undoes this.
func Tile(entries int64, row, tile int, reuse int64) (undo func()) {
	before := tilesPay
	tilesPay = tilingRule{entries: entries, row: row, tile: tile, reuse: reuse}
	return func() { tilesPay = before }
}

// NewTiling returns a tiling with near tiles of so many columns.
func NewTiling(ctx context.Context, a Matrix, columns, workers int) (*Tiling, error) {
	return newTiling(ctx, a, columns, workers)
}

// TiledBytes returns the memory of a tiled matrix, and the most rows of a unit that are
// in tiles.
func TiledBytes(m Matrix) (bytes int64, rows int) {
	a := m.(*tiled)
	bytes = int64(4*len(a.ids) + 8*len(a.far) + 4*len(a.slot))
	for i := range a.units {
		rows = max(rows, a.units[i].rows())
		for _, tile := range a.units[i].tiles {
			bytes += int64(2*len(tile.ids) + 8*len(tile.ptr))
		}
	}
	return bytes, rows
}
