package spectral

import (
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/sparse"
)

// Work returns the typical work of Solve for k pairs on a graph with the given numbers of nodes, of
// entries and, where [Problem.Splits], of components. Of interior pairs it is that of most of the products
// that are allowed: pairs outside the bulk of the eigenvalues need fewer, and others are refused. The counts were
// measured on R-MAT graphs of 47,000 to 2.4 million nodes and block models of 20,000 to 100,000 nodes.
func (p *Problem) Work(n int, entries int64, components, k int, s *lanczos.Settings) sparse.Work {
	if p.Which == lanczos.Interior {
		return lanczos.InteriorWork(n, entries, k, s)
	}
	of := func(columns, entry, row float64) sparse.Work {
		return sparse.Work{EntryColumns: entry * columns * float64(entries), RowColumns: row * columns * float64(n)}
	}
	if !p.Splits() {
		return of(productColumns(k), 1, 1.3)
	}
	const norm = 84 // columns of products that measure the norm, where all pairs are known
	unknown := k - min(k, components)
	switch {
	case unknown == 0:
		return of(norm, 1, 0.7)
	case p.Matrix == sparse.Laplacian:
		return of(norm, 1, 0.7).Plus(of(float64(unknown), 50, 1100)) // LOBPCG
	}
	return of(productColumns(unknown+1), 1, 1.9)
}

// productColumns returns the typical number of columns of all products for k pairs. The first pairs of many graphs
// lie far from the others, so that a small basis finds them; more of them need a large one with a filter.
func productColumns(k int) float64 {
	const (
		first, far  = 40, 4   // columns for the first pair, and number of pairs that may lie apart
		each, later = 120, 15 // columns for each of these, and for each of the others
	)
	return first + each*float64(min(k, far)-1) + later*float64(max(k, far)-far)
}
