package tablefile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/nodefile"
)

// Axis is what the rows or the columns of a matrix stand for: N ids, each of which ID
// returns.
type Axis struct {
	N  int
	ID func(i int) string
}

// AxisOf returns the axis of a list of ids.
func AxisOf(ids []string) Axis { return Axis{len(ids), func(i int) string { return ids[i] }} }

// IDs goes through the ids in order. An id is valid until the next one.
func (a Axis) IDs() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		var id []byte
		for i := range a.N {
			if id = append(id[:0], a.ID(i)...); !yield(id) {
				return
			}
		}
	}
}

// ReadAxis reads n ids, one a line, as [nodefile.ReadNames] does. Another number of ids
// is an error.
func ReadAxis(ctx context.Context, path string, n int, stdin io.Reader) (Axis, error) {
	got, id, err := nodefile.ReadNames(ctx, path, n, stdin)
	if err != nil {
		return Axis{}, err
	}
	if got != n {
		return Axis{}, &nodefile.ParseError{File: path, Msg: fmt.Sprintf("%s, want %d", counted(got, "id"), n), Fix: "list the id of each once, in order"}
	}
	return Axis{n, id}, nil
}

// ErrNoIDs is wrapped by what [File.Axis] returns where no ids are found.
var ErrNoIDs = errors.New("tablefile: no ids")

// Axis returns what the rows or the cols of the file stand for: the ids that its archive
// has under that name, or those in the file beside it, X.rows.ids for the rows of X.npy
// or X.npy.gz. Where there is neither, ID is nil and the error a [*nodefile.ParseError]
// about that file.
func (f *File) Axis(ctx context.Context, which string) (Axis, error) {
	n := f.Rows
	if which == "cols" {
		n = f.Cols
	}
	if names, err := f.names(which, n); err != nil || names != nil {
		return AxisOf(names), err
	}
	name, beside := strings.TrimSuffix(strings.TrimSuffix(f.path, ".gz"), ".zst"), ""
	for _, base := range []string{name, strings.TrimSuffix(name, filepath.Ext(name))} {
		beside = base + "." + which + ".ids"
		if _, err := os.Stat(beside); err == nil {
			return ReadAxis(ctx, beside, n, nil)
		}
	}
	return Axis{N: n}, &nodefile.ParseError{
		File: beside, Msg: "is missing", Fix: fmt.Sprintf("write there the ids of the %s of %s, one a line", which, f.Name), Err: ErrNoIDs,
	}
}

// rowIDs returns what the rows are called: the ids of a file that is named, or else as
// [File.Axis] finds them, or numbers from 0 where there are none. An id that is given twice is
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
			return nil, &nodefile.ParseError{
				File: cmp.Or(named, f.Name), Msg: fmt.Sprintf("id %q is given to rows %d and %d", ids[i], first+1, i+1), Fix: "name each row differently",
			}
		}
		seen[ids[i]] = i
	}
	return ids, nil
}
