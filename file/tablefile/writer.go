package tablefile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/system"
	"github.com/heatwalk/heatwalk/sparse"
)

// Matrix holds the shape, the ids and the labels of a matrix to be written.
type Matrix struct {
	Rows, Cols     Axis      // ids, which archives hold; for arrays see RowIDs
	Kernel         bool      // the matrix is a precomputed kernel
	RowIDs, ColIDs io.Writer // receive the ids, one a line; may be nil

	// Predictions returns the column of the predicted class of row i, or −1 for none, and whether a label reaches the
	// row. An archive holds them as the arrays label and reached. It may be nil.
	Predictions func(i int) (label int, reached bool)

	// Label returns the label of row i for LIBSVM text, a number. If Label is nil, all labels are 0.
	Label func(i int) string

	// Pieces means that blocks are written in any order, with [Writer.Put]. If Hold is set, all elements stay in memory
	// until Close. Otherwise the format must have AnyOrder and the io.Writer must be an [io.WriterAt].
	Pieces, Hold bool
}

// Writer writes a matrix row by row, or in blocks in any order.
type Writer[T sparse.Float] struct {
	cols, written int
	row           func(i int, values []T) error
	put           func(i, j int, row []T) error // nil if rows are written in order
	held          []T                           // all elements, if Matrix.Hold is set
	close         func() error
	narrow        []T
}

// NewWriter returns a writer of a matrix in the format f with elements of type T. It also
// writes the ids of the rows and columns to the files m.RowIDs and m.ColIDs.
func NewWriter[T sparse.Float](w io.Writer, f *Format,
	m *Matrix) (*Writer[T], error) {
	if err := cmp.Or(WriteIDs(m.RowIDs, m.Rows), WriteIDs(m.ColIDs, m.Cols)); err != nil {
		return nil, err
	}
	if m.Pieces && !m.Hold {
		return rowsOf[T](f).place(w.(io.WriterAt), m)
	}
	file, err := rowsOf[T](f).write(w, m)
	if err != nil || !m.Pieces {
		return file, err
	}
	file.held = system.Make[T](m.Rows.N * m.Cols.N)
	file.put = func(i, j int, row []T) error {
		copy(file.held[i*file.cols+j:], row)
		return nil
	}
	return file, nil
}

// Fill writes a whole file. values stores row i in row. The error about a number that overflows T wraps [ErrRange].
func Fill[T sparse.Float](ctx context.Context, w io.Writer, f *Format, m *Matrix,
	values func(i int, row []float64) error) error {
	file, err := NewWriter[T](w, f, m)
	if err != nil {
		return err
	}
	row := make([]float64, m.Cols.N)
	written := make([]T, m.Cols.N)
	for i := range m.Rows.N {
		if ctx.Err() != nil {
			return sched.Cause(ctx)
		}
		if err = values(i, row); err == nil {
			err = Narrow(written, row)
		}
		if err == nil {
			err = file.Row(written)
		}
		if err != nil {
			return err
		}
	}
	return file.Close(ctx)
}

// Row writes the next row. It panics if len(values) differs from the number of columns.
func (w *Writer[T]) Row(values []T) error {
	if len(values) != w.cols || w.put != nil {
		panic(badRow)
	}
	w.written++
	return w.row(w.written-1, values)
}

// Put writes a block that begins at row i and column j of the matrix. The error about a number that overflows T wraps
// [ErrRange].
func (w *Writer[T]) Put(ctx context.Context, i, j int,
	piece *sparse.Block[float64]) error {
	if len(w.narrow) < piece.Cols {
		w.narrow = make([]T, piece.Cols)
	}
	row := w.narrow[:piece.Cols]
	for r := range piece.Rows {
		if ctx.Err() != nil {
			return sched.Cause(ctx)
		}
		if err := Narrow(row, piece.Row(r)); err != nil {
			return err
		}
		if err := w.put(i+r, j, row); err != nil {
			return err
		}
	}
	return nil
}

// PutRows writes a panel of whole rows from row i on. If m.Pieces is not set, i must be the next row.
func (w *Writer[T]) PutRows(ctx context.Context, i int,
	panel *sparse.Block[T]) error {
	for r := range panel.Rows {
		if ctx.Err() != nil {
			return sched.Cause(ctx)
		}
		write := w.Row
		if w.put != nil {
			write = func(row []T) error { return w.put(i+r, 0, row) }
		}
		if err := write(panel.Row(r)); err != nil {
			return err
		}
	}
	return nil
}

// Close writes the buffered elements. It returns an error if rows of an array are missing. It does not close the
// underlying writer.
func (w *Writer[T]) Close(ctx context.Context) error {
	for ; len(w.held) > 0; w.held = w.held[w.cols:] {
		if ctx.Err() != nil {
			return sched.Cause(ctx)
		}
		if err := w.row(w.written, w.held[:w.cols]); err != nil {
			return err
		}
		w.written++
	}
	return w.close()
}

// ErrRange is wrapped by the error about a number that is too large for float32.
var ErrRange = errors.New("too large for float32")

// Narrow converts values to the type of dst. The error about a number that overflows T wraps [ErrRange].
func Narrow[T sparse.Float](dst []T, values []float64) error {
	for j, v := range values {
		dst[j] = T(v)
		if narrow := dst[j]; narrow-narrow != 0 && v-v == 0 { // infinite, unlike v
			return fmt.Errorf("the value %.3g is %w", v, ErrRange)
		}
	}
	return nil
}

const badRow = "tablefile: not the next row of the matrix"
