package sort

import "github.com/heatwalk/heatwalk/internal/simd"

// cells maps rows to cells, in which entries are counted. A bucket consists of whole cells.
type cells struct {
	shift uint   // a cell is 1<<shift rows
	head  uint32 // rows below head have a cell each
}

// cell returns the cell of a row. Cells increase with rows; some numbers of cells are unused.
func (c cells) cell(row uint32) int {
	return int(cellOf(row, c.head, c.shift))
}

// cellOf returns row>>shift + min(row, head) without a branch, because no processor can predict which rows
// are below head.
func cellOf(row, head uint32, shift uint) uint32 {
	distance := int64(head) - int64(row)
	return row>>(shift&31) + row + uint32(distance&(distance>>63))
}

type cellCounter struct {
	cells     cells
	view      View
	keepLoops bool
}

func (c *cellCounter) add(cell []uint32, count *LineCount, code []uint32,
	weight []float64) {
	head := c.cells.head
	shift := c.cells.shift
	ahead := c.view != Incoming
	back := c.view != Outgoing
	if ahead && back && weight == nil {
		code = c.addBoth(cell, code)
	}
	for i := 0; i+1 < len(code); i += 2 {
		u, v := code[i], code[i+1]
		switch {
		case weight != nil && weight[i/2] == 0:
			count.Zeros++
			continue
		case max(u, v) == NoRow:
			count.Unknown++
			continue
		case u == v:
			count.Loops++
			if c.keepLoops {
				cell[c.cells.cell(u)]++
			}
			continue
		}
		if ahead {
			cell[cellOf(u, head, shift)]++
		}
		if back {
			cell[cellOf(v, head, shift)]++
		}
	}
}

// addBoth counts lines that make two entries each. It stops at the first batch with a line that makes fewer
// entries, and returns the remaining lines.
func (c *cellCounter) addBoth(cell []uint32, code []uint32) []uint32 {
	var cells [lineBatch]uint32
	for len(code) >= 2 {
		lines := code[:min(len(code), lineBatch)]
		if simd.Cells(cells[:], lines, c.cells.head, c.cells.shift) {
			break
		}
		countCells(cell, cells[:len(lines)])
		code = code[len(lines):]
	}
	return code
}

// countCells counts two consecutive lines at once, because they often begin or end in the same row and the
// second count would wait for the first.
//
//go:noinline
func countCells(count, cells []uint32) {
	for ; len(cells) >= 4; cells = cells[4:] {
		u := cells[0]
		v := cells[1]
		next := cells[2]
		last := cells[3]
		if u == next {
			count[u] += 2
		} else {
			count[u]++
			count[next]++
		}
		if v == last {
			count[v] += 2
		} else {
			count[v]++
			count[last]++
		}
	}
	for _, c := range cells {
		count[c]++
	}
}
