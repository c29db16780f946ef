package lines

import (
	"bytes"
	"math"
	"strconv"

	"github.com/heatwalk/heatwalk/internal/table"
)

// isSizes reports whether a first line holds the numbers of nodes and edges, as collections write
// it above their edges: n m, n n m, or those of a matrix without its banner. It is one if all ids
// below are within these numbers, and the lines are as many as it says. Text may be the beginning of
// a longer file, whose number of lines is estimated with factor, the size of the file divided by
// that of text; 1 if text is all of it.
func isSizes(line, text []byte, factor float64) bool {
	first, ok := integerFields(line)
	if !ok || len(first) < 2 || len(first) > 3 {
		return false
	}
	entries := first[len(first)-1]
	rows, cols := first[0], first[len(first)-2]
	lines, fewer := uint64(0), 0 // fewer: lines with a field less
	for len(text) > 0 {
		var row []byte
		row, text, _ = bytes.Cut(text, []byte{'\n'})
		if table.IsComment(row) {
			continue
		}
		fields := rowFields(row)
		if len(fields) < 2 {
			return false
		}
		for i, limit := range []uint64{rows, cols} {
			if id, ok := integer(fields[i]); !ok || id > limit {
				return false
			}
		}
		if len(fields) < len(first) {
			fewer++
		}
		if lines++; lines > entries {
			return false
		}
	}
	const least = 3 // fewer lines agree by chance
	switch {
	case len(first) == 3 && lines > 0 && uint64(fewer) == lines:
		return rows == cols || lines == entries
	case lines < least || len(first) == 3 && rows != cols:
		return false
	}
	const tolerance = 0.25 // of the estimate
	return lines == entries || factor > 1 && math.Abs(factor*float64(lines)-float64(entries)) < tolerance*float64(entries)
}

// rowFields cuts a line at blanks, commas and semicolons.
func rowFields(line []byte) [][]byte {
	return bytes.FieldsFunc(line, func(c rune) bool { return c == ' ' || c == '\t' || c == '\r' || c == ',' || c == ';' })
}

// integerFields returns the fields of a line of integers.
func integerFields(line []byte) (list []uint64, ok bool) {
	for _, field := range rowFields(line) {
		n, ok := integer(field)
		if !ok {
			return nil, false
		}
		list = append(list, n)
	}
	return list, true
}

// integer returns the value of a field that is an integer ≥ 0.
func integer(field []byte) (uint64, bool) {
	if len(field) == 0 || field[0] < '0' || field[0] > '9' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(field), 10, 63)
	return n, err == nil
}
