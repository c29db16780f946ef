//go:build !amd64 || noasm

package simd

func (g *gather[T]) run(k int) { g.plain(k) }

// GatherTile adds to row r of dst the sum of val[e]·x[col[e]] over the entries e of row r.
func GatherTile[T Float](dst Rows[T], k int, x Rows[T], ptr []int64,
	col []uint16, val []T) {
	plainGatherTile(dst, k, x, ptr, col, val)
}

func addRows[T Float](dst Rows[T], rows, k int, a Rows[T], scale []T, x Rows[T]) {
	plainAddRows(dst, rows, k, a, scale, x)
}

// Decode stores the n ids of a four-widths stream in dst[:n].
func Decode(dst []uint32, n int, sel, data []byte, widths [4]uint8, bits uint8) {
	plainDecode(dst, n, sel, data, widths, bits)
}

func scaleTo[T Float](dst []T, alpha float64, x []float64) {
	plainScaleTo(dst, alpha, x)
}

func widen[T Float, V uint8 | float32 | float64](dst []T, src []V) {
	plainWiden(dst, src)
}

// Checksum returns the CRC-32C of some bytes followed by data. sum must be the CRC-32C of these bytes.
func Checksum(sum uint32, data []byte) uint32 {
	return plainChecksum(sum, data)
}

// HashPairs returns the sum of the hashes of the pairs number | id<<shift, modulo 2⁶⁴.
func HashPairs(number uint64, shift uint, ids []uint32) uint64 {
	return plainHashPairs(number, shift, ids)
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

// Numbers reads nothing and returns 0, 0. The caller must parse the lines.
func Numbers([]uint32, []byte, NumberLines) (read, n int) {
	return 0, 0
}

func pack(sel, data []byte, delta []uint32, widths *[32]Width, widest uint32) {
	plainPack(packing{}, sel, data, delta, widths, widest)
}

// DotColumns adds to sums the inner products of the columns of a with the same columns of b.
func DotColumns[T Float](sums []float64, rows int, a, b Rows[T]) {
	plainDotColumns(sums, rows, a, b)
}

// ResidualColumns updates the residual r of conjugate gradients.
func ResidualColumns[T Float](r, q Rows[T],
	alpha, weight, inverse, rr, rz []float64) {
	plainResidualColumns(r, q, alpha, weight, inverse, rr, rz)
}

// TurnColumns updates the solution and the direction of conjugate gradients.
func TurnColumns[T Float](x, p, z Rows[T], alpha, beta, factor []float64) {
	plainTurnColumns(x, p, z, alpha, beta, factor)
}

func dotPanels(lanes *[32]float64, v0, v1, w0, w1, w2, w3 []float64) {
	plainDotPanels(lanes, v0, v1, w0, w1, w2, w3)
}

func addPanels(w0, w1, v0, v1, v2, v3 []float64, c *[8]float64) {
	plainAddPanels(w0, w1, v0, v1, v2, v3, c)
}

func dot[T Float](lanes *[4]float64, x []T, y []float64) {
	plainDot(lanes, x, y)
}

func addScaled[T Float](dst []float64, a float64, x []T) {
	plainAddScaled(dst, a, x)
}

func largestGain[T Float](down, diag []float64, row []T,
	f, kii, floor float64) (n, best int, gain float64) {
	return 0, -1, 0
}

func advance[T Float](up, down []float64, ri, rj []T,
	step float64) (n, at int, lowest, highest float64) {
	return nothingAdvanced()
}
