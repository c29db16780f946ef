package sparse

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

var (
	_ mat.Matrix      = (*CSR)(nil)
	_ mat.NonZeroDoer = (*CSR)(nil)
	_ mat.Matrix      = (*Block[float32])(nil)
	_ mat.Matrix      = (*Block[float64])(nil)
	_ Matrix          = (*CSR)(nil)
)

// FromMat converts a gonum matrix to CSR form. If a matrix, or the matrix that a transpose wraps, implements
// mat.RowNonZeroDoer, mat.ColNonZeroDoer or mat.NonZeroDoer, FromMat takes time proportional to its entries; otherwise
// it reads every element. Zeros are dropped, and entries that are visited twice are added. The error wraps
// [ErrStructure] and names the first weight that is infinite or NaN.
func FromMat(a mat.Matrix) (*CSR, error) {
	rows, cols := a.Dims()
	transposed := false
	for {
		inner, ok := a.(mat.Untransposer)
		if !ok {
			break
		}
		a = inner.Untranspose()
		transposed = !transposed
	}
	var entries []Triplet
	add := func(i, j int, v float64) {
		if uint64(i) > math.MaxUint32 || uint64(j) > math.MaxUint32 {
			panic(badIndex)
		}
		if transposed {
			i, j = j, i
		}
		if v != 0 {
			entries = append(entries,
				Triplet{Row: uint32(i), Col: uint32(j), Val: v})
		}
	}
	height, width := a.Dims()
	switch a := a.(type) {
	case mat.RowNonZeroDoer:
		for i := range height {
			a.DoRowNonZero(i, add)
		}
	case mat.ColNonZeroDoer:
		for j := range width {
			a.DoColNonZero(j, add)
		}
	case mat.NonZeroDoer:
		a.DoNonZero(add)
	default:
		for i := range height {
			for j := range width {
				add(i, j, a.At(i, j))
			}
		}
	}
	m, err := FromTriplets(rows, cols, entries)
	if err != nil {
		return nil, err
	}
	left := entries[:0] // entries whose sum is not zero
	for i := range rows {
		col, val := m.Row(i)
		for e, v := range val {
			if v != 0 {
				left = append(left, Triplet{Row: uint32(i), Col: col[e], Val: v})
			}
		}
	}
	if m.val != nil && int64(len(left)) < m.NNZ() {
		return FromTriplets(rows, cols, left)
	}
	return m, nil
}

// SymmetricFromMat converts a square gonum matrix as [FromMat] does and checks that it is symmetric, as [NewSymmetric]
// does. The error wraps [ErrStructure].
func SymmetricFromMat(ctx context.Context, a mat.Matrix,
	workers int) (*Symmetric, error) {
	if rows, cols := a.Dims(); rows != cols {
		return nil, fmt.Errorf("%w: %d rows and %d columns, want a square matrix",
			ErrStructure, rows, cols)
	}
	m, err := FromMat(a)
	if err != nil {
		return nil, err
	}
	return NewSymmetric(ctx, m.rows, m.ptr, m.col, m.val, workers)
}

// At returns element (i, j), in time logarithmic in the length of the row.
func (m *CSR) At(i, j int) float64 {
	if uint(i) >= uint(m.rows) || uint(j) >= uint(m.cols) {
		panic(badIndex)
	}
	col, val := m.Row(i)
	e, ok := slices.BinarySearch(col, uint32(j))
	if !ok {
		return 0
	}
	return valueAt(val, e)
}

// T returns the transpose as a view.
func (m *CSR) T() mat.Matrix { return mat.Transpose{Matrix: m} }

// DoNonZero calls f for every stored entry, by rows.
func (m *CSR) DoNonZero(f func(i, j int, v float64)) {
	for i := range m.rows {
		col, val := m.Row(i)
		for e, c := range col {
			f(i, int(c), valueAt(val, e))
		}
	}
}

// DenseOf returns b as a gonum matrix that shares its memory. b must have at least one row.
func DenseOf(b *Block[float64]) *mat.Dense {
	var d mat.Dense
	d.SetRawMatrix(blas64.General{Rows: b.Rows, Cols: b.Cols, Stride: b.Stride,
		Data: b.Data})
	return &d
}

// BlockOfDense returns a gonum matrix as a block that shares its memory. d must have at least one row.
func BlockOfDense(d mat.RawMatrixer) *Block[float64] {
	m := d.RawMatrix()
	if m.Rows < 1 || m.Cols < 1 {
		panic(badShape)
	}
	return &Block[float64]{Rows: m.Rows, Cols: m.Cols, Stride: m.Stride,
		Data: m.Data}
}
