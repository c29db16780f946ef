package auto

import (
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/sparse"
)

// attributeTable are the attributes of nodes as numbers to learn from. A column of real
// numbers has mean 0 and deviation 1 over the nodes that have attributes, and the
// others, of words, make rows of length 1. Where both occur each counts the same. A node
// without attributes has zeros, which is the mean.
type attributeTable struct {
	*sparse.Table
	real   []bool    // of columns
	shift  []float64 // the mean of real columns, 0 of words
	factor []float64 // of columns
	length []float32 // of rows, in the place of words: one over their length
	few    bool      // real numbers, and few of them
}

// A table is one of real numbers where more than realDensity of its values are not 0, and a
// column where it has a negative value, or more than realColumn are not 0 and these differ:
// a word that nodes have or do not have is one however many have it. As real numbers 23 of
// the 1,588 words of webkb-cornell counted as much as all others, and cost 4 points there. A
// table with a real column and at most fewAttributes has no words.
const (
	realDensity   = 0.2
	realColumn    = 0.5
	fewAttributes = 64
)

// newAttributeTable measures the columns. Cost: two passes over the values.
func newAttributeTable(t *sparse.Table) *attributeTable {
	n, d := t.Rows, t.Cols
	a := &attributeTable{Table: t, real: make([]bool, d), shift: make([]float64, d), factor: make([]float64, d), length: make([]float32, n)}
	count, sum, squares := make([]float64, d), make([]float64, d), make([]float64, d)
	first, differ := make([]float64, d), make([]bool, d)
	present := float64(max(1, t.Present))
	a.each(func(_, j int, x float64) {
		if count[j] == 0 {
			first[j] = x
		}
		differ[j] = differ[j] || x != first[j]
		count[j]++
		sum[j] += x
		a.real[j] = a.real[j] || x < 0
	})
	dense := float64(t.Entries) > realDensity*present*float64(d)
	reals := 0
	for j := range a.real {
		a.real[j] = a.real[j] || dense || differ[j] && count[j] > realColumn*present
		if a.real[j] {
			reals++
		}
	}
	if a.few = reals > 0 && d <= fewAttributes; a.few {
		for j := range a.real {
			a.real[j] = true
		}
		reals = d
	}
	for j := range a.shift {
		a.factor[j] = 1
		if a.real[j] {
			a.shift[j] = sum[j] / present
			squares[j] = float64((present - count[j]) * float64(a.shift[j]*a.shift[j]))
		}
	}
	words := make([]float64, n)
	a.each(func(v, j int, x float64) {
		if a.real[j] {
			squares[j] += math.Pow(x-a.shift[j], 2)
		} else {
			words[v] += float64(x * x)
		}
	})
	for j := range a.factor {
		if a.real[j] {
			a.factor[j] = 0 // of a column that is the same everywhere
			if deviation := math.Sqrt(squares[j] / present); deviation > 1e-9*math.Abs(a.shift[j]) {
				a.factor[j] = 1 / deviation / math.Sqrt(float64(reals))
			}
		}
	}
	for v, square := range words {
		if square > 0 {
			a.length[v] = float32(1 / math.Sqrt(square))
		}
	}
	return a
}

// each calls do for every value that is not 0.
func (a *attributeTable) each(do func(v, j int, x float64)) {
	n := a.Rows
	for v := range n {
		columns, values := a.Row(v)
		for i, x := range values {
			j := i
			if columns != nil {
				j = int(columns[i])
			}
			if x != 0 {
				do(v, j, float64(x))
			}
		}
	}
}

// weight returns what a value of a node in a column counts, before the shift.
func (a *attributeTable) weight(v, j int) float32 {
	if a.real[j] {
		return float32(a.factor[j])
	}
	return a.length[v]
}

// rowTo stores the columns lo ≤ j < hi of a node.
func (a *attributeTable) rowTo(dst []float32, v, lo, hi int) {
	clear(dst)
	columns, values := a.Row(v)
	if values == nil {
		return
	}
	for j := lo; j < hi; j++ {
		if a.real[j] {
			dst[j-lo] = float32(-a.shift[j] * a.factor[j])
		}
	}
	if columns == nil {
		for j := lo; j < hi; j++ {
			dst[j-lo] += a.weight(v, j) * values[j]
		}
		return
	}
	from, _ := slices.BinarySearch(columns, uint32(lo))
	to, _ := slices.BinarySearch(columns, uint32(hi))
	for i := from; i < to; i++ {
		j := int(columns[i])
		dst[j-lo] += a.weight(v, j) * values[i]
	}
}

// attributeTableBytes is what the numbers of columns and rows take.
func attributeTableBytes(n, d int) int64 { return 12*int64(n) + 56*int64(d) }
