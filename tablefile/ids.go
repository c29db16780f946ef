package tablefile

import (
	"bufio"
	"io"
	"iter"
)

// WriteIDs writes ids to w, one a line: which nodes the rows or columns of a matrix
// are. An id is used only before the next one.
func WriteIDs(w io.Writer, ids iter.Seq[[]byte]) error {
	out := bufio.NewWriterSize(w, bufferBytes)
	for id := range ids {
		_, _ = out.Write(id) // bufio keeps the first error
		if err := out.WriteByte('\n'); err != nil {
			return err
		}
	}
	return out.Flush()
}

// writeIDs is [WriteIDs] for an axis, if there is where to write.
func writeIDs(w io.Writer, a Axis) error {
	if w == nil {
		return nil
	}
	return WriteIDs(w, a.IDs())
}
