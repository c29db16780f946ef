package sparse

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

var (
	_ mat.Matrix         = (*CSR)(nil)
	_ mat.NonZeroDoer    = (*CSR)(nil)
	_ mat.RowNonZeroDoer = (*CSR)(nil)
	_ mat.Matrix         = (*Block[float32])(nil)
	_ mat.Matrix         = (*Block[float64])(nil)
	_ Matrix             = (*CSR)(nil)
)

// FromMat returns a as a CSR matrix. A matrix that offers mat.RowNonZeroDoer
// or mat.NonZeroDoer is read through it and never made dense; any other is
// read element by element, and its zeros are dropped. Entries that a visitor
// reports twice are added. The error wraps [ErrStructure].
func FromMat(a mat.Matrix) (*CSR, error) {
	rows, cols := a.Dims()
	var entries []Triplet
	add := func(i, j int, v float64) {
		if uint64(i) > math.MaxUint32 || uint64(j) > math.MaxUint32 {
			panic(badIndex)
		}
		entries = append(entries, Triplet{Row: uint32(i), Col: uint32(j), Val: v})
	}
	switch a := a.(type) {
	case mat.RowNonZeroDoer:
		for i := range rows {
			a.DoRowNonZero(i, add)
		}
	case mat.NonZeroDoer:
		a.DoNonZero(add)
	default:
		for i := range rows {
			for j := range cols {
				if v := a.At(i, j); v != 0 {
					add(i, j, v)
				}
			}
		}
	}
	return FromTriplets(rows, cols, entries)
}

// At returns element (i, j), in time logarithmic in the length of the row.
func (m *CSR) At(i, j int) float64 {
	if uint(i) >= uint(m.rows) || uint(j) >= uint(m.cols) {
		panic(badIndex)
	}
	col, val := m.Row(i)
	e, found := slices.BinarySearch(col, uint32(j))
	switch {
	case !found:
		return 0
	case val == nil:
		return 1
	}
	return val[e]
}

// T returns the transpose as a view.
func (m *CSR) T() mat.Matrix { return mat.Transpose{Matrix: m} }

// DoNonZero calls f for every stored entry, by rows.
func (m *CSR) DoNonZero(f func(i, j int, v float64)) {
	for i := range m.rows {
		m.DoRowNonZero(i, f)
	}
}

// DoRowNonZero calls f for every stored entry of row i.
func (m *CSR) DoRowNonZero(i int, f func(i, j int, v float64)) {
	col, val := m.Row(i)
	for e, c := range col {
		v := 1.0
		if val != nil {
			v = val[e]
		}
		f(i, int(c), v)
	}
}

// MulVecTo stores A·x in dst, or Aᵀ·x if trans is true. Unlike methods of the
// same name elsewhere it stores and never adds. dst must not overlap x.
func (m *CSR) MulVecTo(dst *mat.VecDense, trans bool, x mat.Vector) {
	in, out := m.cols, m.rows
	if trans {
		in, out = out, in
	}
	if x.Len() != in || dst.Len() != out {
		panic(badShape)
	}
	dst.Zero()
	m.DoNonZero(func(i, j int, v float64) {
		if trans {
			i, j = j, i
		}
		dst.SetVec(i, dst.AtVec(i)+float64(v*x.AtVec(j)))
	})
}
