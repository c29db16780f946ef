package nodefile

import (
	"bytes"
	"fmt"
	"slices"
)

// areVectors reports whether a line is the first of a file of word2vec, with the counts of rows and columns above vectors.
func areVectors(line, text []byte) bool {
	var rows, columns int
	counts, _ := fmt.Sscan(string(line), &rows, &columns)
	isVector := func(line []byte) bool { return len(bytes.Fields(line)) == columns+1 }
	lines := slices.Collect(bytes.Lines(text))
	return counts == 2 && len(bytes.Fields(line)) == 2 && columns > 1 && len(lines) > 0 &&
		!slices.ContainsFunc(lines, func(line []byte) bool { return !isVector(line) })
}
