package tablefile

import (
	"bytes"
	"context"
	"io"
	"slices"

	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/internal/textio"
	"github.com/heatwalk/heatwalk/sparse"
)

// Format is a kind of file with a matrix. Each is declared in a file of code of its own,
// beside what reads and writes it, and is one of [Formats].
type Format struct {
	Name    string   // short: "npy"
	Title   string   // of such a file, for messages: "a NumPy array"
	Endings []string // of the names of such files
	Kernel  string   // the name of another form for precomputed kernels; "": there is none
	NoGraph string   // remedy for such a file where a graph is expected

	// Text is read from its beginning to its end, compressed or not; every row has a label,
	// and no row or column an id. What is no text is read at any place of a plain file, and
	// has ids in it or beside it.
	Text bool

	IDsBeside bool // ids are written to files beside it
	AnyOrder  bool // elements can be written in any order

	is      func(ending string, head []byte) bool                                             // whether a file is one, by its name and first bytes
	holds   func(name string, in *textio.Reader) bool                                         // whether what may be one holds a matrix; nil: it does
	inspect func(f *File, in *textio.Reader) error                                            // finds out the shape
	names   func(ctx context.Context, f *File, which string, n int) (ids []string, err error) // see [File.Axis]; nil: there are none in it

	of32 rows[float32]
	of64 rows[float64]
}

// rows are how the rows of a format are read and written as elements T.
type rows[T sparse.Float] struct {
	read  func(ctx context.Context, in *textio.Reader, f *File, visit func(label []byte, row []T) error) error
	write func(w io.Writer, m *Matrix) (*Writer[T], error)
	place func(w io.WriterAt, m *Matrix) (*Writer[T], error) // of AnyOrder
}

// rowsOf returns how rows of elements T are read and written.
func rowsOf[T sparse.Float](f *Format) *rows[T] {
	if r, ok := any(&f.of32).(*rows[T]); ok {
		return r
	}
	return any(&f.of64).(*rows[T])
}

// Formats are all formats. The first that a file can be is its format.
var Formats = []*Format{NPY, NPZ, LIBSVM}

// formatOf returns the format of a matrix by a file's name and first bytes, nil if it is not
// known.
func formatOf(name string, head []byte) *Format {
	ending := table.Extension(name)
	for _, f := range Formats {
		if f.is(ending, head) {
			return f
		}
	}
	return nil
}

// endsAsMatrix reports whether a name ends as those of matrices do.
func endsAsMatrix(name string) bool {
	ending := table.Extension(name)
	return slices.ContainsFunc(Formats, func(f *Format) bool { return slices.Contains(f.Endings, ending) })
}

// Recognize returns the format of a file from the first bytes of its content,
// or else from its name; nil if it is not known. The content of an archive decides about its
// format, which [Detect] reads.
func Recognize(name string, head []byte) *Format {
	if f := formatOf(name, head); f != nil && f.holds == nil {
		return f
	}
	return nil
}

// headBytes is how much of a file is looked at to recognize it.
const headBytes = 4 << 10

// Detect returns the format of a file. It returns nil for an archive with a square sparse
// matrix, which is a graph, and for a path that is no plain file or cannot be read.
func Detect(ctx context.Context, path string) *Format {
	in, err := open(ctx, path)
	if err != nil {
		return nil
	}
	defer in.Close()
	f := formatOf(path, in.Peek(headBytes))
	if f == nil || f.holds != nil && !f.holds(path, in) {
		return nil
	}
	return f
}

// Size returns the bytes of a file with a matrix of "float32" or "float64" numbers: of arrays
// up to their headers, of text about.
func (f *Format) Size(rows, cols int, dtype string) int64 {
	bytes := 4 * int64(rows) * int64(cols)
	if dtype == "float64" {
		bytes *= 2
	}
	if f.Text {
		bytes *= 2 // digits and the index
	}
	return bytes
}

func isArchive(head []byte) bool { return bytes.HasPrefix(head, []byte("PK\x03\x04")) }
