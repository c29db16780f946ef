package expm

import (
	"math"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/sparse"
)

// Complete graphs have two eigenvalues and closed forms of exp(tM). At these rates the interval of the radius leaves no digit.
func TestExpFarFromTheRadius(t *testing.T) {
	const n = 50
	var entries []sparse.Triplet
	for i := range uint32(n) {
		for j := range uint32(n) {
			if i != j {
				entries = append(entries, sparse.Triplet{Row: i, Col: j, Val: 1})
			}
		}
	}
	a, err := sparse.FromTriplets(n, n, entries)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		kind           sparse.Kind
		rate           float64
		constant, rest float64 // eigenvalues of the constant vector and of all others
	}{
		{sparse.Adjacency, -1, n - 1, -1},
		{sparse.Adjacency, -40, n - 1, -1},
		{sparse.NormalizedAdjacency, -1000, 1, -1. / (n - 1)},
		{sparse.Laplacian, 2, 0, n},
		{sparse.NormalizedLaplacian, 300, 0, 1 + 1./(n-1)},
	} {
		var first *sparse.Block[float64]
		for _, workers := range []int{1, 3} {
			g, err := graph.New(t.Context(), a, &graph.Settings{Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			m, err := New(t.Context(), g, c.kind)
			if err != nil {
				t.Fatal(err)
			}
			b, y := sparse.NewBlock[float64](n, 1), sparse.NewBlock[float64](n, 1)
			b.Row(0)[0] = 1
			r, err := m.ApplyTo(t.Context(), []*sparse.Block[float64]{y}, b, []Function{Exp(c.rate)}, &Settings{Tolerance: 1e-9})
			if err != nil {
				t.Errorf("exp(%g·x) of %s: %v", c.rate, c.kind, err)
				continue
			}
			if r.Condition != Estimated {
				t.Errorf("exp(%g·x) of %s has no condition", c.rate, c.kind)
			}
			square := 0.0
			for i := range n {
				want := (math.Exp(c.rate*c.constant) - math.Exp(c.rate*c.rest)) / n
				if i == 0 {
					want += math.Exp(c.rate * c.rest)
				}
				d := y.Row(i)[0] - want
				square += d * d
			}
			if off := math.Sqrt(square); off > r.Functions[0].ErrorBound {
				t.Errorf("exp(%g·x) of %s: error %g, bound %g", c.rate, c.kind, off, r.Functions[0].ErrorBound)
			}
			if first == nil {
				first = y
			}
			for i := range n {
				if y.Row(i)[0] != first.Row(i)[0] {
					t.Fatalf("%s: other bits with %d goroutines", c.kind, workers)
				}
			}
		}
	}
}
