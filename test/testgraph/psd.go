package testgraph

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/sparse"
)

// Semidefinite fails the test if b differs from its transpose in any bit, or if b has an eigenvalue below −below.
func Semidefinite(t TB, b *sparse.Block[float64], below float64) {
	t.Helper()
	sym := mat.NewSymDense(b.Rows, nil)
	for i := range b.Rows {
		for j := range b.Cols {
			if b.Row(i)[j] != b.Row(j)[i] {
				t.Fatalf("(%d, %d) is %v, (%d, %d) is %v", i, j, b.Row(i)[j], j, i, b.Row(j)[i])
			}
			sym.SetSym(i, j, b.Row(i)[j])
		}
	}
	var e mat.EigenSym
	if !e.Factorize(sym, false) {
		t.Fatalf("no eigenvalues")
	}
	if least := slices.Min(e.Values(nil)); least < -below {
		t.Fatalf("the least eigenvalue is %g, with the bound %g", least, below)
	}
}
