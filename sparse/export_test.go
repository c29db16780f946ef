package sparse

import "context"

func TilesPay(entries int64, row, tile int, reuse int64) *tilingRule {
	return &tilingRule{entries: entries, row: row, tile: tile, reuse: reuse}
}

type (
	Tiling = tiling
)

var (
	FindTiling = findTiling
	NewTiling  = newTiling
	NewTiled   = newTiled
	RowSet     = rowSet
)

func (m *CSR) Weighted() bool                       { return m.val != nil }
func (t *tiling) Bytes(rowBytes, workers int) int64 { return t.bytes(rowBytes, workers) }
func (t *tiling) InTiles() int64                    { return t.inTiles }

func TiledBytes(m Matrix) (bytes int64, rows int) {
	a := m.(*tiledMatrix)
	bytes = int64(4*len(a.ids) + 8*len(a.untiled) + 4*len(a.slot))
	for i := range a.units {
		rows = max(rows, a.units[i].rows())
		for _, tile := range a.units[i].tiles {
			bytes += int64(2*len(tile.ids) + 8*len(tile.ptr))
		}
	}
	return bytes, rows
}

func (m *Divided) Tile(ctx context.Context, columns int) error {
	t, err := newTiling(ctx, m.local, columns, 1, TilesPay(1, 1, 0, 0))
	if err == nil {
		m.local, err = newTiled(ctx, m.local, t, 1)
	}
	return err
}

func (m *CSR) Bytes() int64 { return int64(8*cap(m.ptr) + 4*cap(m.col) + 8*cap(m.val)) }

// NewUnchecked accepts several entries in a place.
func NewUnchecked(rows, cols int, ptr []int64, col []uint32, val []float64) *CSR {
	m := &CSR{rows: rows, cols: cols, ptr: ptr, col: col, val: val}
	m.cut()
	return m
}
