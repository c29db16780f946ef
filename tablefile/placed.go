package tablefile

import (
	"fmt"
	"io"
	"math"
	"unsafe"

	"github.com/heatwalk/heatwalk/internal/npy"
	"github.com/heatwalk/heatwalk/internal/pages"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
)

// Placed writes a matrix whose pieces come in any order.
type Placed[T sparse.Float] struct {
	put   func(i, j int, row []T) error
	close func() error
	row   []T
}

// PlacedMemory lists what a [Placed] takes that holds its matrix.
func PlacedMemory[T sparse.Float](m *Matrix) []spec.Bytes {
	return []spec.Bytes{{What: "block", Bytes: int64(m.Rows.N) * int64(m.Cols.N) * int64(unsafe.Sizeof(T(0)))}}
}

// NewPlaced begins a file of a matrix in the format f. With hold the matrix is kept in
// memory and written at the end. Else f is NPY and w an [io.WriterAt], and each row of a
// piece is written at its place.
func NewPlaced[T sparse.Float](w io.Writer, f Format, m *Matrix, hold bool) (*Placed[T], error) {
	n, cols := m.Rows.N, m.Cols.N
	if !hold {
		file, err := npy.NewPlaced[T](w.(io.WriterAt), n, cols)
		if err != nil {
			return nil, err
		}
		return &Placed[T]{put: file.Put, close: func() error { return nil }}, nil
	}
	file, err := NewWriter[T](w, f, m)
	if err != nil {
		return nil, err
	}
	values := pages.Make[T](n * cols)
	return &Placed[T]{
		put: func(i, j int, row []T) error {
			copy(values[i*cols+j:], row)
			return nil
		},
		close: func() error {
			for i := range n {
				if err := file.Row(values[i*cols : (i+1)*cols]); err != nil {
					return err
				}
			}
			return file.Close()
		},
	}, nil
}

// Put places a piece, whose first element belongs in row i and column j. The error is a
// [*RangeError] where T holds no number near one of the piece.
func (p *Placed[T]) Put(i, j int, piece *sparse.Block[float64]) error {
	if len(p.row) < piece.Cols {
		p.row = make([]T, piece.Cols)
	}
	for r := range piece.Rows {
		if err := narrow(p.row[:piece.Cols], piece.Row(r)); err != nil {
			return err
		}
		if err := p.put(i+r, j, p.row[:piece.Cols]); err != nil {
			return err
		}
	}
	return nil
}

// Close completes the file, all of whose pieces have been put.
func (p *Placed[T]) Close() error { return p.close() }

// RangeError is a number that is too large for float32.
type RangeError struct{ Value float64 }

// Error implements error.
func (e *RangeError) Error() string {
	return fmt.Sprintf("the value %.3g is too large for float32", e.Value)
}

// narrow stores values in dst, which has their precision or less. The error is a
// [*RangeError].
func narrow[T sparse.Float](dst []T, values []float64) error {
	for j, v := range values {
		dst[j] = T(v)
		if math.IsInf(float64(dst[j]), 0) && !math.IsInf(v, 0) {
			return &RangeError{v}
		}
	}
	return nil
}
