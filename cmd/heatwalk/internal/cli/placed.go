package cli

import (
	"io"
	"math"
	"os"

	"github.com/heatwalk/heatwalk/internal/npy"
	"github.com/heatwalk/heatwalk/internal/pages"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/tablefile"
)

// placedFile is a dense matrix under way whose pieces come in any order.
type placedFile[T sparse.Float] struct {
	put   func(lo, left int, piece *sparse.Block[float64]) error
	close func() error
}

// newPlacedFile begins a matrix in d. It is held and written by rows, or a file that
// takes pieces is written piece by piece, each row of one at its place.
func newPlacedFile[T sparse.Float](d *denseOutput, rows, cols axis, hold bool, l lines) (*placedFile[T], error) {
	if hold {
		return newHeldFile[T](d, rows, cols, l)
	}
	return newScatteredFile[T](d, d.matrix.(io.WriterAt), rows, cols)
}

// takesPieces tells whether the output called path can be written in any order: a
// .npy file that is one. An estimate, which begins no file, tells the same.
func (d *denseOutput) takesPieces(path string) bool {
	info, err := os.Stat(path)
	return d.format == tablefile.NPY && path != "-" && (err != nil || info.Mode().IsRegular())
}

// heldBytes is what a matrix in memory takes.
func heldBytes[T sparse.Float](rows, cols axis) int64 {
	return int64(rows.n) * int64(cols.n) * int64(bytesOf[T]())
}

// newHeldFile keeps the matrix in memory until it is complete.
func newHeldFile[T sparse.Float](d *denseOutput, rows, cols axis, l lines) (*placedFile[T], error) {
	file, err := newDenseFile[T](d, rows, cols, l)
	if err != nil {
		return nil, err
	}
	values := pages.Make[T](rows.n * cols.n)
	return &placedFile[T]{
		put: func(lo, left int, piece *sparse.Block[float64]) error {
			for i := range piece.Rows {
				if err := narrowTo(values[(lo+i)*cols.n+left:], piece.Row(i)); err != nil {
					return err
				}
			}
			return nil
		},
		close: func() error {
			for i := range rows.n {
				if err := file.Row(values[i*cols.n : (i+1)*cols.n]); err != nil {
					return err
				}
			}
			return file.Close()
		},
	}, nil
}

// newScatteredFile writes the rows of pieces at their places in a .npy file.
func newScatteredFile[T sparse.Float](d *denseOutput, at io.WriterAt, rows, cols axis) (*placedFile[T], error) {
	if err := d.writeIDs(rows, cols); err != nil {
		return nil, err
	}
	file, err := npy.NewPlaced[T](at, rows.n, cols.n)
	if err != nil {
		return nil, err
	}
	var values []T
	return &placedFile[T]{
		put: func(lo, left int, piece *sparse.Block[float64]) error {
			if len(values) < piece.Cols {
				values = make([]T, piece.Cols)
			}
			for i := range piece.Rows {
				row := values[:piece.Cols]
				if err := narrowTo(row, piece.Row(i)); err != nil {
					return err
				}
				if err := file.Put(lo+i, left, row); err != nil {
					return err
				}
			}
			return nil
		},
		close: func() error { return nil },
	}, nil
}

// narrowTo stores values in dst, which has their precision or less.
func narrowTo[T sparse.Float](dst []T, values []float64) error {
	for j, v := range values {
		dst[j] = T(v)
		if math.IsInf(float64(dst[j]), 0) && !math.IsInf(v, 0) {
			return usageOf("--dtype", "the value %.3g is too large for float32; give --dtype float64", v)
		}
	}
	return nil
}
