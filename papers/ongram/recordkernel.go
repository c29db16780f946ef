package ongram

import (
	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/param"
)

// RecordKernel declares a kernel of records: its name and parameters and how to make it.
type RecordKernel struct {
	param.Spec

	// Texts reports that the kernel compares the text of values, so that unknown values are
	// possible; otherwise values are categories, which are equal or not.
	Texts bool

	// Of returns the kernel of the records with the given attributes, columns of a table
	// whose values are their alphabets, all of which have a code for each record; v is
	// complete ([param.Spec.Resolve]). The error is an [*AttributeError] about attributes
	// that the kernel does not take.
	Of func(attributes []nodefile.Column, v param.Values) (classify.Gram, error)
}

// RecordKernels returns the kernels of records of this package.
func RecordKernels() param.List[*RecordKernel] {
	return param.List[*RecordKernel]{&categorical, &hypercube, &hamming, &stringsKernel}
}

// AttributeError says that a kernel does not take some attributes.
type AttributeError struct {
	Attribute string // its name; "" for all of them together
	Record    int    // whose value it is; −1: of none
	What      string // the problem and the remedy
}

// Error implements error.
func (e *AttributeError) Error() string {
	if e.Attribute == "" {
		return "ongram: " + e.What
	}
	return "ongram: attribute " + e.Attribute + ": " + e.What
}

// values is the Gram of a kernel. It computes a value once for each distinct record; values are the same to the bit as of any
// other Gram of the same records.
type values struct {
	distinct []int // the distinct record that each record is, from 0 in order of appearance
	first    []int // the first record that is each distinct one
	between
}

// between gives the values of a kernel between distinct records.
type between interface {
	// valuesTo stores K(a, of[items[j]]) in dst[j].
	valuesTo(dst []float64, a int, items, row []int)
}

// Len implements [classify.Gram].
func (g *values) Len() int { return len(g.distinct) }

// Alike returns for each record the number of the distinct one that it is, see [classify.Gram].
func (g *values) Alike() []int { return g.distinct }

// PartTo implements [classify.Gram].
func (g *values) PartTo(dst []float64, i int, items []int) {
	g.valuesTo(dst[:len(items)], g.distinct[i], items, g.distinct)
}

// RowTo implements [classify.Gram]. It computes the value of each distinct record once.
func (g *values) RowTo(dst []float64, i int) {
	if len(dst) != len(g.distinct) {
		panic("ongram: slice of the wrong length")
	}
	values := make([]float64, len(g.first))
	g.valuesTo(values, g.distinct[i], g.first, g.distinct)
	for j, a := range g.distinct {
		dst[j] = values[a]
	}
}

// newValues finds the distinct ones among n records by their keys.
func newValues[K comparable](n int, key func(i int) K) *values {
	g := &values{distinct: make([]int, n)}
	number := map[K]int{}
	for i := range n {
		k := key(i)
		a, ok := number[k]
		if !ok {
			a = len(g.first)
			number[k] = a
			g.first = append(g.first, i)
		}
		g.distinct[i] = a
	}
	return g
}
