package export

import (
	"bufio"
	"io"
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
