package lanczos

import "github.com/heatwalk/heatwalk/sparse"

// InteriorWork returns the typical work of [Problem.Solve] for k interior pairs of a map with n rows and the given
// number of stored entries: that of most of the products that are allowed. Pairs outside the bulk of the
// eigenvalues need fewer; a search that would need more is refused. Settings may be nil.
func InteriorWork(n int, entries int64, k int, s *Settings) sparse.Work {
	const (
		cube       = 1.1  // of all pairs of a dense matrix
		usedShare  = 0.6  // of the products that are allowed
		productRow = 0.25 // of a row in a product
	)
	most, basis := 0, 0
	if s != nil {
		most, basis = s.MaxProducts, s.Basis
	}
	rows := float64(n)
	if pairs := k + guards(n, k); denseInside(n, basisSize(pairs, basis)) {
		return sparse.Work{EntryColumns: cube * rows * rows * rows}
	}
	if most == 0 {
		most = interiorLimit(rows, float64(entries)/rows)
	}
	columns := usedShare * width * float64(most)
	return sparse.Work{EntryColumns: columns * float64(entries), RowColumns: productRow * columns * rows}
}

// interiorLimit returns the usual limit of products for interior pairs of a map with n rows of the
// given number of entries each.
func interiorLimit(n, entries float64) int {
	return max(interiorProducts, int(interiorWork/(entries+rowEntries)/n))
}
