package ingest

import (
	"bytes"
	"errors"

	"github.com/heatwalk/heatwalk/internal/table"
)

// isComment reports whether a line says nothing: it is blank or begins with
// #, % or //.
func isComment(line []byte) bool {
	line = bytes.TrimLeft(line, table.Blank)
	return len(line) == 0 || line[0] == '#' || line[0] == '%' || len(line) > 1 && line[0] == '/' && line[1] == '/'
}

// splitFix returns the way out of a line that cannot be split; fix is that of
// others. What follows a field that goes on over lines could be taken for edges if
// its first line were skipped.
func splitFix(err error, fix string) string {
	if errors.Is(err, table.ErrQuote) {
		return "close it, or put fields that go on over several lines into one"
	}
	return fix
}
