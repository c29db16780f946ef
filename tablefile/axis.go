package tablefile

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/internal/nodetable"
	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/internal/textio"
	"github.com/heatwalk/heatwalk/nodefile"
)

// Axis holds the ids of the rows or the columns of a matrix: N of them, which ID returns.
type Axis struct {
	N  int
	ID func(i int) string
}

// AxisOf returns the axis of a list of ids.
func AxisOf(ids []string) Axis { return Axis{len(ids), func(i int) string { return ids[i] }} }

// WriteIDs writes the ids of an axis to w, one a line and quoted as in predictions; nil w:
// nowhere. [ReadAxis] and [nodefile.ReadIDs] read them back.
func WriteIDs(w io.Writer, a Axis) error {
	if w == nil {
		return nil
	}
	out := bufio.NewWriterSize(w, bufferBytes)
	for i := range a.N {
		if _, err := out.Write(append(table.AppendTabbed(out.AvailableBuffer(), a.ID(i)), '\n')); err != nil {
			return err
		}
	}
	return out.Flush()
}

// ReadAxis reads n ids, one a line; another number of them is an error. A first line with
// a title is skipped, except in a file that ends in .ids, which has no header.
// "-" reads stdin, or os.Stdin if that is nil. Memory: 8 bytes an id and the bytes of the
// file, or about twice as many of one that is compressed or no file.
func ReadAxis(ctx context.Context, path string, n int, stdin io.Reader) (Axis, error) {
	var text []byte             // the ids, one after the other
	ends := make([]int, 1, n+1) // of each in text, behind a 0
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		text = make([]byte, 0, info.Size())
	}
	rows := &nodetable.Reader{Options: textio.Options{Stdin: stdin}}
	for row, err := range rows.Read(ctx, path) {
		if err != nil {
			return Axis{}, err
		}
		text = append(text, row.ID()...)
		ends = append(ends, len(text))
	}
	if got := len(ends) - 1; got != n {
		return Axis{}, &nodefile.ParseError{File: path, Msg: fmt.Sprintf("%s, want %d", table.Counted(got, "id"), n), Fix: "list the id of each once, in order"}
	}
	return Axis{n, func(i int) string { return string(text[ends[i]:ends[i+1]]) }}, nil
}

// ErrNoIDs is wrapped by the error of [File.Axis] if no ids are found.
var ErrNoIDs = errors.New("tablefile: no ids")

// Axis returns the ids of the rows or the cols of the file: those that its archive has under
// that name, or those of the file next to it, X.rows.ids for the rows of X.npy
// or X.npy.gz. Where there is neither, ID is nil and the error a [*nodefile.ParseError]
// about that file.
func (f *File) Axis(ctx context.Context, which string) (Axis, error) {
	n := f.Rows
	if which == "cols" {
		n = f.Cols
	}
	if f.Format.names != nil {
		if names, err := f.Format.names(ctx, f, which, n); err != nil || names != nil {
			return AxisOf(names), err
		}
	}
	name, beside := strings.TrimSuffix(strings.TrimSuffix(f.path, ".gz"), ".zst"), ""
	for _, base := range []string{name, strings.TrimSuffix(name, filepath.Ext(name))} {
		beside = base + "." + which + ".ids"
		if _, err := os.Stat(beside); err == nil {
			return ReadAxis(ctx, beside, n, nil)
		}
	}
	return Axis{N: n}, &nodefile.ParseError{
		File: beside, Msg: "is missing", Fix: "write there the ids of the " + which + " of the matrix, one a line", Err: ErrNoIDs,
	}
}

// rowIDs returns the ids of the rows: those of the file named, or else those that [File.Axis]
// finds, or else numbers from 0. An id that is given twice is
// a [*nodefile.ParseError].
func (f *File) rowIDs(ctx context.Context, named string, stdin io.Reader) ([]string, error) {
	rows, err := f.Axis(ctx, "rows")
	if named != "" {
		rows, err = ReadAxis(ctx, named, f.Rows, stdin)
	}
	if err != nil && !errors.Is(err, ErrNoIDs) {
		return nil, err
	}
	ids, seen := make([]string, f.Rows), make(map[string]int, f.Rows)
	for i := range ids {
		if ids[i] = strconv.Itoa(i); rows.ID != nil {
			ids[i] = rows.ID(i)
		}
		if first, twice := seen[ids[i]]; twice {
			return nil, textio.Fault(cmp.Or(named, f.Name), 0, "name each row differently", "id %q is given to rows %d and %d", ids[i], first+1, i+1)
		}
		seen[ids[i]] = i
	}
	return ids, nil
}
