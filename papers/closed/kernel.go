package closed

import (
	"slices"

	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/param"
)

// Kernel declares a kernel of records: its name and parameters and how to make it.
type Kernel struct {
	param.Spec

	// Texts reports that the kernel compares the text of values, so that unknown values are
	// possible; otherwise values are categories, which are equal or not.
	Texts bool

	// Of returns the kernel of the records with the given attributes, columns of a table
	// whose values are their alphabets, all of which have a code for each record; v is
	// complete ([param.Spec.Resolve]). The error is an [*AttributeError] about attributes
	// that the kernel does not take.
	Of func(attributes []nodefile.Column, v param.Values) (Gram, error)
}

var kernels = param.List[*Kernel]{&categorical, &hypercube, &hamming, &stringsKernel}

// Kernels returns the kernels of records of this package, and those that were registered.
func Kernels() param.List[*Kernel] {
	return slices.Clone(kernels)
}

// Register adds a kernel of another package, which then has a name in the commands on records. Call it from an init
// function. It panics if Of is nil or the name is taken.
func Register(k *Kernel) { kernels.Add(k, k.Of != nil) }

// AttributeError says that a kernel does not take some attributes.
type AttributeError struct {
	Attribute string // its name; "" for all of them together
	Record    int    // whose value it is; −1: of none
	What      string // the problem and the remedy
}

// Error implements error.
func (e *AttributeError) Error() string {
	if e.Attribute == "" {
		return "closed: " + e.What
	}
	return "closed: attribute " + e.Attribute + ": " + e.What
}

// Gram gives the values of a kernel between n records, which package classify learns
// from. It is safe for concurrent use. Values are those of any other Gram of the same
// records, to the bit.
type Gram interface {
	// Len returns the number of records.
	Len() int

	// RowTo stores K(i, j) in dst[j] for all records j. Cost: a value for each distinct one.
	RowTo(dst []float64, i int)

	// PartTo stores K(i, items[j]) in dst[j].
	PartTo(dst []float64, i int, items []int)

	// Alike returns for each record the number of the distinct one that it is, counted
	// from 0 in order of first appearance. The slice is shared.
	Alike() []int

	// DistinctTo stores in dst[a] the value of record i with the distinct record a, for
	// all of them.
	DistinctTo(dst []float64, i int)
}

// values implements [Gram].
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

func (g *values) Len() int     { return len(g.distinct) }
func (g *values) Alike() []int { return g.distinct }

// PartTo implements [Gram].
func (g *values) PartTo(dst []float64, i int, items []int) {
	g.valuesTo(dst[:len(items)], g.distinct[i], items, g.distinct)
}

// DistinctTo implements [Gram].
func (g *values) DistinctTo(dst []float64, i int) {
	g.valuesTo(dst[:len(g.first)], g.distinct[i], g.first, g.distinct)
}

// RowTo implements [Gram]. It computes the value of each distinct record once.
func (g *values) RowTo(dst []float64, i int) {
	if len(dst) != len(g.distinct) {
		panic("closed: slice of the wrong length")
	}
	if len(g.first) == len(g.distinct) {
		g.DistinctTo(dst, i)
		return
	}
	values := make([]float64, len(g.first))
	g.DistinctTo(values, i)
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
