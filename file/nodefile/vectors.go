package nodefile

import (
	"bytes"
	"fmt"
	"slices"
)

// areVectors reports whether lines are a file of word2vec: a line with the counts of rows and columns above vectors.
func areVectors(lines [][]byte) bool {
	if len(lines) < 2 || len(bytes.Fields(lines[0])) != 2 {
		return false
	}
	var rows, columns int
	counts, _ := fmt.Sscan(string(lines[0]), &rows, &columns)
	return counts == 2 && columns > 1 &&
		!slices.ContainsFunc(lines[1:], func(line []byte) bool { return len(bytes.Fields(line)) != columns+1 })
}
