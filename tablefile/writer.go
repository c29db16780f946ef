package tablefile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/heatwalk/heatwalk/internal/pages"
	"github.com/heatwalk/heatwalk/sparse"
)

// Matrix says what a file of a matrix holds beside the values. Ids are for archives, and for
// the files beside an array.
type Matrix struct {
	Rows, Cols     Axis
	Kernel         bool      // a precomputed kernel
	RowIDs, ColIDs io.Writer // get the ids, one a line; nil: nothing does

	// Label returns the label of row i for LIBSVM's text: a number, 0 for none; nil: 0.
	Label func(i int) string

	// Pieces come in any order, by [Writer.Put]. With Hold all elements are kept in memory
	// and written at the end. Else the format is one of AnyOrder, and what is written to an
	// [io.WriterAt]: each row of a piece is written at its place.
	Pieces, Hold bool
}

// Writer writes a matrix: row by row, or in pieces in any order.
type Writer[T sparse.Float] struct {
	cols, written int
	row           func(i int, values []T) error
	put           func(i, j int, row []T) error // nil: row by row
	held          []T                           // what pieces were put into, before it is written
	close         func() error
	narrow        []T // a row of a piece
	rows          []T // of a panel
}

// NewWriter begins a file of a matrix of T in the format f.
func NewWriter[T sparse.Float](w io.Writer, f *Format, m *Matrix) (*Writer[T], error) {
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
	file.held = pages.Make[T](m.Rows.N * m.Cols.N)
	file.put = func(i, j int, row []T) error {
		copy(file.held[i*file.cols+j:], row)
		return nil
	}
	return file, nil
}

// Fill writes a whole file: values stores row i. The error about a number
// that T does not hold wraps [ErrRange].
func Fill[T sparse.Float](ctx context.Context, w io.Writer, f *Format, m *Matrix, values func(i int, row []float64) error) error {
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
	return file.Close(ctx)
}

// Row writes the next row, which has as many elements as the matrix columns.
func (w *Writer[T]) Row(values []T) error {
	if len(values) != w.cols || w.put != nil {
		panic(badRow)
	}
	w.written++
	return w.row(w.written-1, values)
}

// Put places a piece, whose first element belongs in row i and column j. The error
// wraps [ErrRange] where T holds no number near one of the piece.
func (w *Writer[T]) Put(ctx context.Context, i, j int, piece *sparse.Block[float64]) error {
	if len(w.narrow) < piece.Cols {
		w.narrow = make([]T, piece.Cols)
	}
	row := w.narrow[:piece.Cols]
	for r := range piece.Rows {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := narrow(row, piece.Row(r)); err != nil {
			return err
		}
		if err := w.put(i+r, j, row); err != nil {
			return err
		}
	}
	return nil
}

// PutRows places whole rows, the first of them as row i.
func (w *Writer[T]) PutRows(ctx context.Context, i int, panel *sparse.Block[T]) error {
	const most = 1 << 16 // elements that are written at once
	for r := range panel.Rows {
		w.rows = append(w.rows, panel.Row(r)...)
		if len(w.rows) < most && r < panel.Rows-1 {
			continue
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := w.put(i+r+1-len(w.rows)/w.cols, 0, w.rows); err != nil {
			return err
		}
		w.rows = w.rows[:0]
	}
	return nil
}

// Close writes what is still buffered or held. Rows that are missing in an array that is
// written row by row are an error. It does not close the underlying writer.
func (w *Writer[T]) Close(ctx context.Context) error {
	for ; len(w.held) > 0; w.held = w.held[w.cols:] {
		if ctx.Err() != nil {
			return context.Cause(ctx)
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

// narrow stores values in dst, which has their precision or less.
func narrow[T sparse.Float](dst []T, values []float64) error {
	for j, v := range values {
		dst[j] = T(v)
		if math.IsInf(float64(dst[j]), 0) && !math.IsInf(v, 0) {
			return fmt.Errorf("the value %.3g is %w", v, ErrRange)
		}
	}
	return nil
}

const badRow = "tablefile: not the next row of the matrix"
