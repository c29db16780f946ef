package lines

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/file/table"
)

// isSizes reports whether the first line of a file has the numbers of nodes and edges, which some collections
// write before the edges: n m, n n m, or the sizes of a matrix without its banner. No id may exceed these
// numbers, and the file must have the stated number of lines. text is the beginning of the file, and factor
// is the size of the file divided by the size of text.
func isSizes(line, text []byte, factor float64) bool {
	sizes, width := integers(line)
	if len(sizes) != width || width < 2 || width > 3 {
		return false
	}
	rows := sizes[0]
	cols := sizes[width-2]
	entries := sizes[width-1]
	// fewer counts lines with one field less.
	lines := uint64(0)
	fewer := uint64(0)
	for row := range bytes.Lines(text) {
		if table.IsComment(bytes.TrimRight(row, "\n")) {
			continue
		}
		ids, fields := integers(row)
		if lines++; lines > entries || len(ids) < 2 || ids[0] > rows || ids[1] > cols {
			return false
		}
		if fields < width {
			fewer++
		}
	}
	const least = 3 // fewer lines may agree by chance
	switch {
	case width == 3 && lines > 0 && fewer == lines:
		return rows == cols || lines == entries
	case lines < least || width == 3 && rows != cols:
		return false
	}
	const tolerance = 0.25 // relative error of the estimate
	return lines == entries ||
		factor > 1 && math.Abs(factor*float64(lines)-
			float64(entries)) < tolerance*float64(entries)
}

// integers returns the integers ≥ 0 at the beginning of a line, and the number of fields of the line.
func integers(line []byte) (list []uint64, fields int) {
	for field := range bytes.FieldsFuncSeq(line,
		func(c rune) bool { return strings.ContainsRune(" \t\r\n,;", c) }) {
		if n, err := strconv.ParseUint(string(field), 10, 63); err == nil && len(list) == fields {
			list = append(list, n)
		}
		fields++
	}
	return list, fields
}
