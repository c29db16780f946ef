package nodetable

import (
	"bytes"
	"slices"
	"strconv"
)

// areVectors reports whether lines of an id and a vector follow the numbers of rows and columns, as word2vec
// writes them.
func areVectors(lines [][]byte) bool {
	if len(lines) < 2 {
		return false
	}
	counts := bytes.Fields(lines[0])
	if len(counts) != 2 {
		return false
	}
	_, rowsErr := strconv.Atoi(string(counts[0]))
	columns, columnsErr := strconv.Atoi(string(counts[1]))
	return rowsErr == nil && columnsErr == nil && columns > 1 &&
		!slices.ContainsFunc(lines[1:], func(line []byte) bool { return len(bytes.Fields(line)) != columns+1 })
}
