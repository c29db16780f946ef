package kernel

import (
	"errors"
	"math"
	"testing"

	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/sparse"
)

// The modularity matrix of a complete graph with weights u_i·u_j is negative but for
// one zero: its positive part is 0, whatever rounding makes of the zero, and no
// tolerance is too tight for that.
func TestModularityOfCompleteGraphs(t *testing.T) {
	for _, n := range []int{2, 3, 7, 30, 300} {
		for _, power := range []float64{0, 1} {
			var entries []sparse.Triplet
			testgraph.Complete(n).DoNonZero(func(i, j int, _ float64) {
				weight := math.Pow(0.37*float64(i+1)*float64(j+1), power)
				entries = append(entries, sparse.Triplet{Row: uint32(i), Col: uint32(j), Val: weight})
			})
			a, err := sparse.FromTriplets(n, n, entries)
			if err != nil {
				t.Fatal(err)
			}
			g := newGraph(t, a, 2)
			for _, rank := range []int{0, 1, 2} {
				b, r, err := Matrix(background, mustNew(t, g, "modularity", Parameters{Rank: rank}), upTo(n), upTo(n), &Settings{Tolerance: 1e-9})
				if err != nil {
					t.Fatalf("%d nodes, rank %d: %v", n, rank, err)
				}
				for _, v := range b.Data {
					if v != 0 {
						t.Fatalf("%d nodes, rank %d: a value is %g", n, rank, v)
					}
				}
				largest := g.Degrees[n-1]
				if !(r.ErrorBound <= 1e-9*largest) {
					t.Errorf("%d nodes, rank %d: bound %g", n, rank, r.ErrorBound)
				}
			}
		}
	}
}

// A rank that cuts through copies of an eigenvalue belongs to no kernel, however
// exact the pairs are.
func TestModularityOfCutCopies(t *testing.T) {
	var entries []sparse.Triplet
	for i := range uint32(6) {
		entries = append(entries, sparse.Triplet{Row: i, Col: i ^ 1, Val: 1})
	}
	a, err := sparse.FromTriplets(6, 6, entries) // three edges: the eigenvalue 1 twice
	if err != nil {
		t.Fatal(err)
	}
	k := mustNew(t, newGraph(t, a, 1), "modularity", Parameters{Rank: 1})
	if _, _, err := Matrix(background, k, upTo(6), upTo(6), &Settings{Tolerance: 1e-3}); !errors.Is(err, ErrTolerance) {
		t.Errorf("error %v", err)
	}
}
