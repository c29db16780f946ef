package simd

// Cells stores cell[i] = row[i]>>shift + min(row[i], head) for each row. Two consecutive rows form a line. odd reports
// whether the two rows of some line are equal, or whether a row of some line is missing, which the largest number
// marks.
func Cells(cell, row []uint32, head uint32, shift uint) (odd bool) {
	if len(row)%2 != 0 {
		panic("simd: half a line")
	}
	return cells(cell[:len(row)], row, head, shift&31)
}

func plainCells(cell, row []uint32, head uint32, shift uint) (odd bool) {
	cell = cell[:len(row)]
	for i, r := range row {
		cell[i] = r>>(shift&31) + min(r, head)
	}
	for ; len(row) > 1; row = row[2:] {
		odd = odd || row[0] == row[1] || max(row[0], row[1]) == none
	}
	return odd
}

const none = 1<<32 - 1

// Entries stores two entries for each line of two rows u, v: u<<column | v<<1, and v<<column | u<<1 | 1.
func Entries[K uint32 | uint64](entry []K, line []uint32, column uint) {
	if len(line)%2 != 0 {
		panic("simd: half a line")
	}
	entries(entry[:len(line)], line, column)
}

func plainEntries[K uint32 | uint64](entry []K, line []uint32, column uint) {
	column &= 63
	entry = entry[:len(line)]
	for i := 0; i+1 < len(line); i += 2 {
		u, v := K(line[i]), K(line[i+1])
		entry[i] = u<<column | v<<1
		entry[i+1] = v<<column | u<<1 | 1
	}
}
