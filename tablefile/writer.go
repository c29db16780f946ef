package tablefile

import (
	"context"
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

// Fill writes a whole file: values stores row i. A number that T does not hold is a
// [*RangeError].
func Fill[T sparse.Float](ctx context.Context, w io.Writer, f Format, m *Matrix, values func(i int, row []float64) error) error {
	file, err := NewWriter[T](w, f, m)
	if err != nil {
		return err
	}
	row, written := make([]float64, m.Cols.N), make([]T, m.Cols.N)
	for i := range m.Rows.N {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err = values(i, row); err == nil {
			err = narrow(written, row)
		}
		if err == nil {
			err = file.Row(written)
		}
		if err != nil {
			return err
		}
	}
	return file.Close()
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
