package graph_test

import (
	"math"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/sparse"
)

// The loop and a negative weight lie in different pieces of the row.
func TestHub(t *testing.T) {
	const n = 2*sparse.MaxRange + 10
	entries, degree := []sparse.Triplet{{Row: n / 2, Col: n / 2, Val: 5}}, 5.0
	for v := range uint32(n) {
		if v == n/2 {
			continue
		}
		w := float64(v%5) + 0.5
		if v == n-1 {
			w = -w
		}
		entries = append(entries, sparse.Triplet{Row: n / 2, Col: v, Val: w}, sparse.Triplet{Row: v, Col: n / 2, Val: w})
		degree += math.Abs(w)
	}
	a, err := sparse.FromTriplets(n, n, entries)
	if err != nil {
		t.Fatal(err)
	}
	for _, workers := range []int{1, 2, 7} {
		g, err := graph.New(t.Context(), a, &graph.Settings{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		if g.Degrees[n/2] != degree || g.Loops[n/2] != 5 || !g.Signed || len(g.Components.Sizes) != 1 {
			t.Errorf("degree %v, want %v; loop %v, signed %t", g.Degrees[n/2], degree, g.Loops[n/2], g.Signed)
		}
	}
}
