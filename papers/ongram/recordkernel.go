package ongram

import (
	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/param"
)

// RecordKernel declares a kernel of records.
type RecordKernel struct {
	param.Spec

	// Texts states that the kernel compares the texts of values, so that it accepts values that no labelled record has.
	// Otherwise it only distinguishes equal and different values.
	Texts bool

	// Of returns the kernel of records with the given attributes: columns whose values are their alphabets, with a code for each
	// record. v must be complete ([param.Spec.Resolve]). The error is an [*AttributeError] about attributes that the kernel does not
	// accept.
	Of func(attributes []nodefile.Column, v param.Values) (classify.Gram, error)
}

// RecordKernels returns the kernels of records of this package.
func RecordKernels() param.List[*RecordKernel] {
	return param.List[*RecordKernel]{&categorical, &hypercube, &hamming, &stringsKernel}
}

// AttributeError reports that a kernel does not accept some attributes.
type AttributeError struct {
	Attribute string // name of the attribute; "": all attributes together
	Record    int    // record of the value; −1: none
	What      string // the problem and the remedy
}

// Error implements error.
func (e *AttributeError) Error() string {
	if e.Attribute == "" {
		return "ongram: " + e.What
	}
	return "ongram: attribute " + e.Attribute + ": " + e.What
}

// values computes a value once for each pair of distinct records.
type values struct {
	distinct []int // distinct record of each record, numbered in order of appearance
	first    []int // first record of each distinct record
	between
}

type between interface {
	// valuesTo stores K(a, row[items[j]]) in dst[j].
	valuesTo(dst []float64, a int, items, row []int)
}

// Len implements [classify.Gram].
func (g *values) Len() int { return len(g.distinct) }

// Alike returns the distinct record of each record, see [classify.Gram].
func (g *values) Alike() []int { return g.distinct }

// PartTo implements [classify.Gram].
func (g *values) PartTo(dst []float64, i int, items []int) {
	g.valuesTo(dst[:len(items)], g.distinct[i], items, g.distinct)
}

// RowTo implements [classify.Gram]. It computes a value once for each distinct record.
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

// newValues finds the distinct records among n records by their keys.
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
