package tablefile

import (
	"bytes"
	"context"
	"io"
	"slices"

	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/sparse"
)

// Format is a file format of matrices. [Formats] lists all formats.
type Format struct {
	Name    string   // short: "npy"
	Title   string   // title with an article: "a NumPy array"
	Endings []string // usual endings of file names: ".npy"
	Kernel  string   // name of the variant for precomputed kernels; "": none
	NoGraph string   // remedy where a graph is expected

	// Text means that a file is read sequentially and may be compressed. Files of other formats are read at any offset
	// and must not be compressed.
	Text bool

	HasLabels bool // a file contains a label for each row but no ids; otherwise ids are in the file or in separate files

	// IsShared means that graphs or other tables have files with the same endings, so that only a command knows that
	// a file holds a matrix, see [Options].Shared.
	IsShared bool

	SeparateIDs bool // ids are written to files of their own: X.rows.ids, X.cols.ids
	AnyOrder    bool // elements can be written in any order

	matches func(ending string, head []byte) bool     // whether a file has this format, by its name and first bytes; nil with IsShared
	holds   func(name string, in *textio.Reader) bool // whether such a file holds a matrix; nil: always
	inspect func(f *File, in *textio.Reader) error
	names   func(ctx context.Context, f *File, which string, n int) (ids []string, err error) // ids for [File.Axis]; nil: the format holds no ids

	of32 rows[float32]
	of64 rows[float64]
}

type rows[T sparse.Float] struct {
	read  func(ctx context.Context, in *textio.Reader, f *File, visit func(label []byte, row []T) error) error
	write func(w io.Writer, m *Matrix) (*Writer[T], error)
	place func(w io.WriterAt, m *Matrix) (*Writer[T], error) // nil without AnyOrder
}

// rowsOf returns the functions for elements of type T. The format has a field for each type, because a Go method
// cannot have type parameters.
func rowsOf[T sparse.Float](f *Format) *rows[T] {
	if r, ok := any(&f.of32).(*rows[T]); ok {
		return r
	}
	return any(&f.of64).(*rows[T])
}

// Formats lists all formats. The first format that recognizes a file is used.
var Formats = []*Format{NPY, NPZ, LIBSVM, CSV, Market}

// MatrixEndings are the endings of the names of files in all formats.
var MatrixEndings = endingsOf(func(*Format) bool { return true })

// ArrayEndings are the endings of the names of files that hold nothing but matrices.
var ArrayEndings = endingsOf(func(f *Format) bool { return !f.IsShared })

func endingsOf(has func(*Format) bool) (endings []string) {
	for _, f := range Formats {
		if has(f) {
			endings = append(endings, f.Endings...)
		}
	}
	return endings
}

func formatOf(name string, head []byte) *Format {
	ending := table.Extension(name)
	for _, f := range Formats {
		if !f.IsShared && f.matches(ending, head) {
			return f
		}
	}
	return nil
}

// sharedFormat returns the format of a matrix in a file that no other format recognizes: Matrix Market by the ending or
// the first bytes, and otherwise a table.
func sharedFormat(name string, head []byte) *Format {
	if graphfile.IsMarket(name, head) {
		return Market
	}
	return CSV
}

func endsAsMatrix(name string) bool {
	return slices.Contains(ArrayEndings, table.Extension(name))
}

// Recognize returns the format of a file by head, the first bytes of the content, or else by the name, or nil. It
// returns nil for archives, because only their members show whether they contain a matrix; see [Detect].
func Recognize(name string, head []byte) *Format {
	if f := formatOf(name, head); f != nil && f.holds == nil {
		return f
	}
	return nil
}

const headBytes = 4 << 10

// Detect returns the format of a file. It returns nil if path is not a regular file or cannot be read, and for an
// archive with a square sparse matrix, which is a graph.
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

// Size returns the size in bytes of a file with a matrix of dtype "float32" or "float64". The size of an array is
// without the header; the size of text is approximate.
func (f *Format) Size(rows, cols int, dtype string) int64 {
	bytes := 4 * int64(rows) * int64(cols)
	if dtype == "float64" {
		bytes *= 2
	}
	if f.Text {
		bytes *= 2 // text has digits and an index
	}
	return bytes
}

func isArchive(head []byte) bool {
	return bytes.HasPrefix(head, []byte("PK\x03\x04"))
}
