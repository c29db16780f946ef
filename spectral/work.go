package spectral

import (
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/sparse"
)

// Work returns the typical work of Solve for k pairs on a graph with the given numbers of entries
// and, where [Problem.Splits], of components. known is false for interior pairs, whose work depends
// on the eigenvalues around them. The counts were measured on R-MAT graphs of 47,000 to 174,000 nodes
// and on a block model.
func (p *Problem) Work(entries int64, components, k int) (w sparse.Work, known bool) {
	const (
		eachKnown   = 12  // of a pair that components determine
		eachLargest = 80  // of a pair at an end with large gaps
		eachSplit   = 200 // of a pair near those of components
	)
	each := float64(eachLargest)
	switch {
	case p.Which == lanczos.Interior:
		return w, false
	case p.Splits() && components >= k:
		each = eachKnown
	case p.Splits():
		each = eachSplit
	}
	return sparse.Work{EntryColumns: each * float64(k) * float64(entries)}, true
}
