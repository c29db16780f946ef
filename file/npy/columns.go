package npy

import (
	"fmt"
	"io"
	"math"
)

// Extent returns the rows and columns of an array of numbers with one dimension, a single column, or two.
func (a *Array) Extent() (rows, cols int64, err error) {
	switch {
	case !a.IsNumeric():
		return 0, 0, a.Fault("elements that are no numbers", "save numbers")
	case len(a.Shape) == 1:
		return a.Shape[0], 1, nil
	case len(a.Shape) == 2:
		return a.Shape[0], a.Shape[1], nil
	}
	return 0, 0, a.Fault(fmt.Sprintf("%d dimensions, want 1 or 2", len(a.Shape)),
		"save a matrix with a row for each node")
}

// Columns reads the columns lo ≤ j < hi of a matrix that nothing has been read of. It calls store with the
// values of row i from column j on: a whole row of them for a matrix stored by rows, single values for
// one stored by columns. Values that are not finite are errors.
func (a *Array) Columns(lo, hi int, store func(i, j int, values []float64)) error {
	rows, cols, err := a.Extent()
	if err != nil {
		return err
	}
	if a.Fortran {
		return columnsInOrder(a, int(rows), lo, hi, store)
	}
	const most = 1 << 16 // elements that are read at once
	values := make([]float64, hi-lo)
	block := max(1, most/max(1, int(cols)))
	for i := 0; i < int(rows); i += block {
		n := min(block, int(rows)-i)
		b, err := a.raw(n * int(cols))
		if err != nil {
			return err
		}
		for r := range n {
			start := (r*int(cols) + lo) * a.Width
			a.Decode(values, b[start:start+len(values)*a.Width])
			if err := checkFinite(a, values, i+r, lo); err != nil {
				return err
			}
			store(i+r, lo, values)
		}
	}
	return nil
}

// columnsInOrder is Columns for a matrix stored by columns.
func columnsInOrder(a *Array, rows, lo, hi int,
	store func(i, j int, values []float64)) error {
	if _, err := io.CopyN(io.Discard, a.in, int64(lo)*int64(rows)*int64(a.Width)); err != nil {
		return a.short(err)
	}
	const most = 1 << 16
	values := make([]float64, min(most, rows))
	for j := lo; j < hi; j++ {
		for i := 0; i < rows; i += most {
			chunk := values[:min(most, rows-i)]
			if err := a.Floats(chunk); err != nil {
				return err
			}
			for r := range chunk {
				if err := checkFinite(a, chunk[r:r+1], i+r, j); err != nil {
					return err
				}
				store(i+r, j, chunk[r:r+1])
			}
		}
	}
	return nil
}

// checkFinite returns an error for a value that is not finite; the first one is in row i and column j.
func checkFinite(a *Array, values []float64, i, j int) error {
	for e, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return a.Fault(fmt.Sprintf("row %d, column %d: %v is not finite", i,
				j+e, v), "replace it by a number")
		}
	}
	return nil
}
