package kernel

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// Each node of hubGraph chooses others, mostly nodes with small numbers.
func hubGraph(t *testing.T, n, others int) *sparse.CSR {
	rng := rand.New(rand.NewPCG(1, 2))
	rows := make([][]uint32, n)
	for i := 1; i < n; i++ {
		for range 1 + rng.IntN(2*others-1) {
			u := rng.Float64()
			j := int(u * u * u * float64(i))
			rows[i], rows[j] = append(rows[i], uint32(j)), append(rows[j], uint32(i))
		}
	}
	ptr, col := make([]int64, n+1), []uint32(nil)
	for i, row := range rows {
		slices.Sort(row)
		col = append(col, slices.Compact(row)...)
		ptr[i+1] = int64(len(col))
	}
	a, err := sparse.NewCSR(n, n, ptr, col, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// On a graph with hubs the diagonal agrees with the factor; on a path the search must give it up early.
func TestLeastEigenvalueByDiagonal(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, c := range []struct {
		name     string
		a        *sparse.CSR
		factored bool
	}{
		{"hubs", hubGraph(t, 30_000, 12), false},
		{"path", testgraph.Path(10_000), true},
	} {
		g := newGraph(t, c.a, 2)
		system, err := iterative.ShiftedLaplacian(g, false, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		l := newLeastSearch(system, 32)
		found, err := l.find(t.Context(), firstLook)
		if err != nil {
			t.Fatal(err)
		}
		if l.factored != c.factored {
			t.Errorf("%s: with a factor: %t, want %t", c.name, l.factored, c.factored)
		}
		l.behind()
		again, err := l.find(t.Context(), firstLook)
		if err != nil {
			t.Fatal(err)
		}
		within := found.Residuals[0] + again.Residuals[0]
		if value, exact := found.Values[0], again.Values[0]; value < exact-within || value > exact+within {
			t.Errorf("%s: least eigenvalue %v, with a factor %v", c.name, value, exact)
		}
	}
}
