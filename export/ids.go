package export

import (
	"bufio"
	"io"
	"iter"
)

// WriteIDs writes n ids to w, one a line: which nodes the rows or columns of a
// matrix are.
func WriteIDs(w io.Writer, n int, id func(i int) string) error {
	b := bufio.NewWriterSize(w, bufferBytes)
	for i := range n {
		_, _ = b.WriteString(id(i)) // bufio keeps the first error for Flush
		_ = b.WriteByte('\n')
	}
	return b.Flush()
}

// WriteAllIDs writes the ids of rows to w, one a line, in the order in which
// rows come.
func WriteAllIDs(w io.Writer, rows iter.Seq[int], id func(dst []byte, row int) []byte) error {
	b := bufio.NewWriterSize(w, bufferBytes)
	var line []byte
	for row := range rows {
		line = append(id(line[:0], row), '\n')
		if _, err := b.Write(line); err != nil {
			return err
		}
	}
	return b.Flush()
}
