package closed

import (
	"slices"

	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/spec"
)

// Attribute is a column of a table of records, whose values are its alphabet.
type Attribute = nodefile.Column

// Kernel declares a kernel of records: its name and parameters and how to make it.
type Kernel struct {
	spec.Spec

	// Texts says that values are compared by what they hold, so that new ones may come;
	// else they are categories, which are the same or not.
	Texts bool

	// Of returns the kernel of the records with the given attributes, all of which have
	// a code for each record; v is complete ([spec.Spec.Resolve]). The error is an
	// [*AttributeError] about attributes that the kernel does not take.
	Of func(attributes []Attribute, v spec.Values) (*Gram, error)
}

// Kernels returns all kernels of records.
func Kernels() []*Kernel { return []*Kernel{&categorical, &hypercube, &hamming, &stringsKernel} }

// KernelOf returns the kernel with the given name, or nil.
func KernelOf(name string) *Kernel {
	list := Kernels()
	i := slices.IndexFunc(list, func(k *Kernel) bool { return k.Name == name })
	if i < 0 {
		return nil
	}
	return list[i]
}

// AttributeError says that a kernel does not take some attributes.
type AttributeError struct {
	Attribute string // its name; "" for all of them together
	Record    int    // whose value it is; −1: of none
	What      string // what is wrong; what to do
}

// Error implements error.
func (e *AttributeError) Error() string {
	if e.Attribute == "" {
		return "closed: " + e.What
	}
	return "closed: attribute " + e.Attribute + ": " + e.What
}

// Gram gives the values of a kernel between n records. It is safe for concurrent use.
// Values are those of any other Gram of the same records, to the bit.
type Gram struct {
	alike []int // the distinct record that each record is, from 0 in order of appearance
	first []int // the first record that is each distinct one
	between
}

// between gives the values of a kernel between distinct records.
type between interface {
	// valuesTo stores K(a, of[items[j]]) in dst[j].
	valuesTo(dst []float64, a int, items, of []int)
}

// Distinct returns the first record that is each distinct one. The slice is shared.
func (g *Gram) Distinct() []int { return g.first }

// Len returns the number of records.
func (g *Gram) Len() int { return len(g.alike) }

// Alike returns for each record the number of the distinct one that it is, counted from
// 0 in order of first appearance. The slice is shared.
func (g *Gram) Alike() []int { return g.alike }

// At returns K(i, j).
func (g *Gram) At(i, j int) float64 {
	var v [1]float64
	g.valuesTo(v[:], g.alike[i], []int{j}, g.alike)
	return v[0]
}

// PartTo stores K(i, items[j]) in dst[j].
func (g *Gram) PartTo(dst []float64, i int, items []int) {
	g.valuesTo(dst[:len(items)], g.alike[i], items, g.alike)
}

// DistinctTo stores in dst[a] the value of record i with the distinct record a, for all of
// them.
func (g *Gram) DistinctTo(dst []float64, i int) {
	g.valuesTo(dst[:len(g.first)], g.alike[i], g.first, g.alike)
}

// RowTo stores K(i, j) in dst[j] for all records j. Cost: a value for each distinct one.
func (g *Gram) RowTo(dst []float64, i int) {
	if len(dst) != len(g.alike) {
		panic("closed: slice of the wrong length")
	}
	if len(g.first) == len(g.alike) {
		g.DistinctTo(dst, i)
		return
	}
	values := make([]float64, len(g.first))
	g.DistinctTo(values, i)
	for j, a := range g.alike {
		dst[j] = values[a]
	}
}

// newGram finds the distinct ones among n records by their keys.
func newGram[K comparable](n int, key func(i int) K) *Gram {
	g := &Gram{alike: make([]int, n)}
	number := map[K]int{}
	for i := range n {
		k := key(i)
		a, known := number[k]
		if !known {
			a = len(g.first)
			number[k] = a
			g.first = append(g.first, i)
		}
		g.alike[i] = a
	}
	return g
}
