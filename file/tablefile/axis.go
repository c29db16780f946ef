package tablefile

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/words"
)

// Axis holds the ids of the rows or columns of a matrix. ID returns the id of row or column i, 0 ≤ i < N.
type Axis struct {
	N  int
	ID func(i int) string
}

// AxisOf returns the axis with the given ids.
func AxisOf(ids []string) Axis {
	return Axis{len(ids), func(i int) string { return ids[i] }}
}

// All yields the ids in order.
func (a Axis) All() iter.Seq[string] {
	return func(yield func(id string) bool) {
		for i := 0; i < a.N && yield(a.ID(i)); i++ {
		}
	}
}

// Select returns the axis of the ids at the given positions.
func (a Axis) Select(numbers []int) Axis {
	return Axis{len(numbers), func(i int) string { return a.ID(numbers[i]) }}
}

// WriteIDs writes the ids of an axis to w, one on each line, quoted as in predictions, so that [ReadAxis],
// [nodefile.ReadIDs] and pandas read the same ids back. If w is nil, it writes nothing.
func WriteIDs(w io.Writer, a Axis) error {
	if w == nil {
		return nil
	}
	out := bufio.NewWriterSize(w, bufferBytes)
	for i := range a.N {
		if _, err := out.Write(append(table.AppendTabbed(out.AvailableBuffer(),
			a.ID(i)), '\n')); err != nil {
			return err
		}
	}
	return out.Flush()
}

// ReadAxis reads n ids, one on each line, from a file. For the path "-" it reads stdin, or os.Stdin if stdin is nil.
// Any other number of ids is an error. It skips a title in the first line, except in a .ids file, which has no
// header.
//
// Memory: 8 bytes for each id and the size of the file, about twice as much for a compressed file or a stream.
func ReadAxis(ctx context.Context, path string, n int,
	stdin io.Reader) (Axis, error) {
	var text []byte
	ends := make([]int, 1, n+1)
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		text = make([]byte, 0, info.Size())
	}
	rows := &nodefile.Reader{Options: textio.Options{Stdin: stdin}}
	for row, err := range rows.Read(ctx, path) {
		if err != nil {
			return Axis{}, err
		}
		text = append(text, row.ID()...)
		ends = append(ends, len(text))
	}
	if got := len(ends) - 1; got != n {
		return Axis{}, textio.Fault(path, 0, "list the id of each once, in order",
			"%s, want %d", words.Counted(got, "id"), n)
	}
	return Axis{n, func(i int) string { return string(text[ends[i]:ends[i+1]]) }}, nil
}

// ErrNoIDs is wrapped by the error of [File.Axis] if the matrix has no ids.
var ErrNoIDs = errors.New("tablefile: no ids")

// Axis returns the ids of the rows (which = "rows") or of the columns ("cols"). It reads the array of this name in an
// archive, or else a separate file, for example X.rows.ids for the rows of X.npy or X.npy.gz. If there are no ids, ID
// is nil, and the error is a [*nodefile.ParseError] that names the separate file and wraps [ErrNoIDs].
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
	name := strings.TrimSuffix(strings.TrimSuffix(f.path, ".gz"), ".zst")
	idFile := ""
	for _, base := range []string{name,
		strings.TrimSuffix(name, filepath.Ext(name))} {
		idFile = base + "." + which + ".ids"
		if _, err := os.Stat(idFile); err == nil {
			return ReadAxis(ctx, idFile, n, nil)
		}
	}
	return Axis{N: n}, &nodefile.ParseError{
		File: idFile, Msg: "is missing",
		Fix: "write there the ids of the " + which + " of the matrix, one a line",
		Err: ErrNoIDs,
	}
}

// axisOr returns the ids in the file called named; "-" is stdin. If named is "", it returns the ids of [File.Axis].
// If there are none, it returns numbers.
func (f *File) axisOr(ctx context.Context, which, named string, stdin io.Reader) (Axis, error) {
	if named != "" {
		return ReadAxis(ctx, named, f.Rows, stdin)
	}
	a, err := f.Axis(ctx, which)
	if errors.Is(err, ErrNoIDs) {
		return f.numbers(which), nil
	}
	return a, err
}

// numbers returns the ids 0, 1, 2 …, or 1, 2, 3 … for columns of LIBSVM text.
func (f *File) numbers(which string) Axis {
	if which == "rows" {
		return Axis{f.Rows, strconv.Itoa}
	}
	return Axis{f.Cols, func(i int) string { return strconv.Itoa(f.first + i) }}
}

// rowIDs returns the ids that axisOr finds for the rows. The ids must be distinct, because labels and predictions
// refer to rows by id.
func (f *File) rowIDs(ctx context.Context, named string,
	stdin io.Reader) ([]string, error) {
	rows, err := f.axisOr(ctx, "rows", named, stdin)
	if err != nil {
		return nil, err
	}
	ids := slices.Collect(rows.All())
	seen := make(map[string]int, f.Rows)
	for i, id := range ids {
		if first, twice := seen[id]; twice {
			return nil, textio.Fault(cmp.Or(named, f.Name), 0,
				"name each row differently", "id %q is given to rows %d and %d",
				id, first+1, i+1)
		}
		seen[id] = i
	}
	return ids, nil
}
