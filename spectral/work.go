package spectral

import (
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/sparse"
)

// Work returns the typical work of Solve for k pairs on a graph with the given numbers of nodes, of
// entries and, where [Problem.Splits], of components. Of interior pairs it is that of most of the products
// that are allowed: pairs outside the bulk of the eigenvalues need fewer, and others are refused. The counts were
// measured on R-MAT graphs of 47,000 to 174,000 nodes and block models of 20,000 to 100,000 nodes.
func (p *Problem) Work(n int, entries int64, components, k int, s *lanczos.Settings) sparse.Work {
	if p.Which == lanczos.Interior {
		return lanczos.InteriorWork(n, entries, k, s)
	}
	of := func(pairs int, entry, row float64) sparse.Work {
		return sparse.Work{EntryColumns: entry * float64(entries), RowColumns: row * float64(n)}.Times(float64(pairs))
	}
	if !p.Splits() {
		const more = 8 // pairs, for the smallest basis
		return of(k+more, 28, 36)
	}
	known := min(k, components)
	work := of(known, 12, 4)
	if p.Matrix == sparse.Laplacian {
		return work.Plus(of(k-known, 50, 1100)) // LOBPCG
	}
	return work.Plus(of(k-known, 80, 150))
}
