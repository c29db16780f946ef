//go:build !amd64 || noasm

package simd

func (g *gather[T]) run(k int) { g.plain(k) }

func gatherTile[T Float](dst Rows[T], k int, x Rows[T], ptr []int64, col []uint16, val []T) {
	plainGatherTile(dst, k, x, ptr, col, val)
}

func addRows[T Float](dst Rows[T], rows, k int, a Rows[T], scale []T, x Rows[T]) {
	plainAddRows(dst, rows, k, a, scale, x)
}

func decode(dst []uint32, n int, sel, data []byte, widths [4]uint8, bits uint8) {
	plainDecode(dst, n, sel, data, widths, bits)
}

func scaleTo[T Float](dst []T, alpha float64, x []float64) { plainScaleTo(dst, alpha, x) }

func widen[T Float, V uint8 | float32 | float64](dst []T, src []V) { plainWiden(dst, src) }

func checksum(sum uint32, data []byte) uint32 { return plainChecksum(sum, data) }

func hashPairs(place uint64, shift uint, ids []uint32) uint64 {
	return plainHashPairs(place, shift, ids)
}

func distances(delta, id []uint32, last uint32, b uint, lengths *[32]int) {
	plainDistances(delta, id, last, b, lengths)
}

func cells(cell, row []uint32, head uint32, shift uint) bool {
	return plainCells(cell, row, head, shift)
}

func entries[K uint32 | uint64](entry []K, line []uint32, column uint) {
	plainEntries(entry, line, column)
}

func numbers([]uint32, []byte, NumberLines) (read, n int) { return 0, 0 }

func pack(sel, data []byte, delta []uint32, by *[32]Width, widest uint32) {
	plainPack(packing{}, sel, data, delta, by, widest)
}
