package tablefile

import (
	"io"

	"github.com/heatwalk/heatwalk/sparse"
)

// Matrix says what a file of a matrix holds beside the values. Ids are for archives.
type Matrix struct {
	Rows, Cols Axis
	Kernel     bool // a precomputed kernel

	// Label returns the label of row i for LIBSVM's text: a number, 0 for none; nil: 0.
	Label func(i int) string
}

// Writer writes a matrix row by row.
type Writer[T sparse.Float] struct {
	cols, written int
	row           func(i int, values []T) error
	close         func() error
}

// NewWriter begins a file of a matrix of T in the format f, which is one of LIBSVM, NPY
// and NPZ, and returns the writer of its rows. It needs memory for a fixed buffer.
func NewWriter[T sparse.Float](w io.Writer, f Format, m *Matrix) (*Writer[T], error) {
	switch f {
	case LIBSVM:
		return newLIBSVMWriter[T](w, m)
	case NPY:
		return newNPYWriter[T](w, m)
	case NPZ:
		return newNPZWriter[T](w, m)
	}
	panic(badFormat)
}

// Row writes the next row, which has as many elements as the matrix columns.
func (w *Writer[T]) Row(values []T) error {
	if len(values) != w.cols {
		panic(badRow)
	}
	w.written++
	return w.row(w.written-1, values)
}

// Close writes what is still buffered. Rows that are missing in an array are an error.
// It does not close the underlying writer.
func (w *Writer[T]) Close() error { return w.close() }

const (
	badFormat = "tablefile: no matrix is written in this format"
	badRow    = "tablefile: row has the wrong length"
)
