package sparse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// CSR is an immutable sparse matrix in memory with 64-bit row pointers and 32-bit column ids. It stores values only if
// some entry is not 1. CSR implements [Matrix] and, for gonum, mat.Matrix and mat.NonZeroDoer.
type CSR struct {
	rows, cols int
	ptr        []int64
	col        []uint32
	val        []float64
	ranges     []Range
}

// ErrStructure is wrapped by errors of invalid row pointers, column ids or values, and of matrices that are not the
// matrix of a graph.
var ErrStructure = errors.New("sparse: malformed matrix")

// NewCSR returns the rows×cols matrix whose row i has the columns col[ptr[i]:ptr[i+1]] and the values at the same positions of
// val. Columns must increase strictly in a row, and values must be finite. If val is nil, all values are 1. The matrix uses the
// slices, which must not be changed. The error wraps [ErrStructure] and names the position.
func NewCSR(rows, cols int, ptr []int64, col []uint32,
	val []float64) (*CSR, error) {
	if rows < 0 || cols < 0 || cols > math.MaxUint32 {
		return nil, fmt.Errorf("%w: %d×%d", ErrStructure, rows, cols)
	}
	if err := checkPointers(rows, ptr, col, val); err != nil {
		return nil, err
	}
	for i := range rows {
		row := col[ptr[i]:ptr[i+1]]
		for e, c := range row {
			if int64(c) >= int64(cols) || e > 0 && row[e-1] >= c {
				return nil, fmt.Errorf("%w: row %d, entry %d: column %d",
					ErrStructure, i, e, c)
			}
			if val != nil && !finite(val[ptr[i]+int64(e)]) {
				return nil, badValue(i, c, val[ptr[i]+int64(e)])
			}
		}
	}
	m := &CSR{rows: rows, cols: cols, ptr: ptr, col: col, val: val}
	m.cut()
	return m, nil
}

func finite(v float64) bool {
	return !math.IsNaN(v) && !math.IsInf(v, 0)
}

func checkPointers(rows int, ptr []int64, col []uint32, val []float64) error {
	switch {
	case len(ptr) != rows+1 || ptr[0] != 0 || ptr[rows] != int64(len(col)):
		return fmt.Errorf("%w: row pointers do not span the columns", ErrStructure)
	case val != nil && len(val) != len(col):
		return fmt.Errorf("%w: %d values for %d entries", ErrStructure, len(val),
			len(col))
	}
	for i := range rows {
		if ptr[i+1] < ptr[i] || ptr[i+1] > int64(len(col)) {
			return fmt.Errorf("%w: row pointer %d is out of order", ErrStructure, i+1)
		}
	}
	return nil
}

func badValue(row int, col uint32, v float64) error {
	return fmt.Errorf("%w: row %d, column %d: value %v", ErrStructure, row, col, v)
}

func (m *CSR) cut() {
	m.ranges = Cut(m.rows, func(i int) int64 { return m.ptr[i+1] - m.ptr[i] })
}

// Triplet is one entry of a matrix under construction.
type Triplet struct {
	Row, Col uint32
	Val      float64
}

// FromTriplets returns the rows×cols matrix with the given entries, in any order. It adds entries with the same row and
// column in the given order. If all values of the result are 1, no values are stored. Values must be finite. The error
// wraps [ErrStructure].
func FromTriplets(rows, cols int, entries []Triplet) (*CSR, error) {
	if rows < 0 || cols < 0 {
		return nil, fmt.Errorf("%w: %d×%d", ErrStructure, rows, cols)
	}
	ptr := make([]int64, rows+1)
	for _, e := range entries {
		if int64(e.Row) >= int64(rows) || int64(e.Col) >= int64(cols) {
			return nil, fmt.Errorf("%w: entry (%d, %d) lies outside %d×%d",
				ErrStructure, e.Row, e.Col, rows, cols)
		}
		ptr[e.Row]++
	}
	for i := range rows {
		ptr[i+1] += ptr[i] // end of row i
	}
	byRow := make([]Triplet, len(entries))
	for _, e := range slices.Backward(entries) {
		ptr[e.Row]--
		byRow[ptr[e.Row]] = e
	}
	col := make([]uint32, 0, len(entries))
	val := make([]float64, 0, len(entries))
	for i := range rows {
		row := byRow[ptr[i]:ptr[i+1]]
		slices.SortStableFunc(row,
			func(a, b Triplet) int { return cmp.Compare(a.Col, b.Col) })
		ptr[i] = int64(len(col))
		for k, e := range row {
			if k > 0 && row[k-1].Col == e.Col {
				val[len(val)-1] += e.Val
				continue
			}
			col = append(col, e.Col)
			val = append(val, e.Val)
		}
	}
	ptr[rows] = int64(len(col))
	if !slices.ContainsFunc(val, func(v float64) bool { return v != 1 }) {
		val = nil
	}
	return NewCSR(rows, cols, ptr, col, val)
}

// Dims returns the number of rows and columns.
func (m *CSR) Dims() (r, c int) { return m.rows, m.cols }

// NNZ returns the number of stored entries.
func (m *CSR) NNZ() int64 { return int64(len(m.col)) }

// IsWeighted reports whether values are stored. If not, all values are 1.
func (m *CSR) IsWeighted() bool { return m.val != nil }

// Ranges implements [Matrix].
func (m *CSR) Ranges() []Range { return m.ranges }

// Row returns the columns and the values of row i, which must not be changed. The values are nil if all values are 1.
func (m *CSR) Row(i int) (col []uint32, val []float64) {
	lo, hi := m.ptr[i], m.ptr[i+1]
	if m.val != nil {
		val = m.val[lo:hi]
	}
	return m.col[lo:hi], val
}

// Transpose returns a copy of Aᵀ, in time and memory proportional to the entries. A must have fewer than 2³² rows.
func (m *CSR) Transpose() *CSR {
	if m.rows > math.MaxUint32 {
		panic(badShape)
	}
	ptr := make([]int64, m.cols+1)
	for _, c := range m.col {
		ptr[c+1]++
	}
	for j := range m.cols {
		ptr[j+1] += ptr[j]
	}
	t := &CSR{rows: m.cols, cols: m.rows, ptr: ptr, col: make([]uint32, len(m.col))}
	if m.val != nil {
		t.val = make([]float64, len(m.val))
	}
	next := slices.Clone(ptr)
	for i := range m.rows {
		for e := m.ptr[i]; e < m.ptr[i+1]; e++ {
			entry := next[m.col[e]]
			next[m.col[e]]++
			t.col[entry] = uint32(i)
			if m.val != nil {
				t.val[entry] = m.val[e]
			}
		}
	}
	t.cut()
	return t
}

// SweepRows implements [Matrix]. Panels share memory with the matrix.
func (m *CSR) SweepRows(ctx context.Context, lo, hi, workers int,
	visit PanelVisitor) error {
	first, count := rangesOf(m.ranges, lo, hi)
	return sched.Run(ctx, workers, count, func(worker, i int) error {
		p := m.panel(first + i)
		defer sched.InRows(p.Lo, p.Hi)
		return visit(worker, p)
	})
}

func (m *CSR) panel(i int) Panel {
	p := Panel{Range: m.ranges[i], Index: i}
	start := m.ptr[p.Lo] + int64(p.Piece)*MaxRange
	end := start + int64(p.Entries)
	if p.Pieces == 1 {
		p.Ptr = m.ptr[p.Lo : p.Hi+1]
	} else {
		p.Ptr = []int64{start, end}
	}
	p.Col = m.col[start:end]
	if m.val != nil {
		p.Val = m.val[start:end]
	}
	return p
}
