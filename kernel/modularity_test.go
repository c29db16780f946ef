package kernel

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// M of a complete graph with weights u_i·u_j has no positive eigenvalue: the kernel is 0 at any tolerance.
func TestModularityOfCompleteGraphs(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
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
			for _, rank := range []int{n, 1, 2} {
				b, r, err := Matrix(background, mustNew(t, g, "modularity", param.Values{"rank": param.Of(rank)}), upTo(n), upTo(n), &Settings{Tolerance: 1e-9})
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

// A rank that separates copies of an eigenvalue is refused with a tolerance, and the error lists other ranks.
func TestModularityOfCutCopies(t *testing.T) {
	var entries []sparse.Triplet
	for i := range uint32(8) { // four edges, one heavier: M has the eigenvalue 1 twice, and a larger one
		weight := 1.0
		if i < 2 {
			weight = 2
		}
		entries = append(entries, sparse.Triplet{Row: i, Col: i ^ 1, Val: weight})
	}
	a, err := sparse.FromTriplets(8, 8, entries)
	if err != nil {
		t.Fatal(err)
	}
	g := newGraph(t, a, 1)
	all := upTo(8)
	for rank, says := range map[int]string{1: "", 2: "2 is between copies of an eigenvalue, 1, and no tolerance can be promised; give more, or 1", 3: ""} {
		k := mustNew(t, g, "modularity", param.Values{"rank": param.Of(rank)})
		_, _, err := Matrix(background, k, all, all, &Settings{Tolerance: 1e-3})
		var refused *param.ParameterError
		switch {
		case says == "" && err != nil:
			t.Errorf("rank %d: %v", rank, err)
		case says != "" && (!errors.As(err, &refused) || *refused != param.ParameterError{Of: "modularity", Parameter: "rank", What: says}):
			t.Errorf("rank %d: %v, want: %s", rank, err, says)
		}
		if _, _, err := Matrix(background, k, all, all, nil); (err != nil) != (says != "") {
			t.Errorf("rank %d without a tolerance: %v", rank, err)
		}
		_, r, err := Matrix(background, k, all, all, &Settings{Lenient: true})
		if err != nil || math.IsInf(r.ErrorBound, 1) != (says != "") {
			t.Errorf("rank %d with any bound: %v, report %+v", rank, err, r)
		}
	}
}

// A refusal must name a tolerance that is met.
func TestModularityTolerance(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	g := newGraph(t, testgraph.Random(5, 1500, 6000, false), 2)
	nodes := upTo(30)
	for _, rank := range []float64{1, 7, 20} {
		for _, tolerance := range []float64{1e-3, 1e-5, 1e-8, 1e-9} {
			k := mustNew(t, g, "modularity", param.Values{"rank": param.Of(rank)})
			_, report := mustMatrix(t, k, nodes, nodes, &Settings{Tolerance: tolerance})
			if report.ErrorBound > tolerance*k.(*modularity).largest(nodes) {
				t.Errorf("rank %v, tolerance %g: error up to %g", rank, tolerance, report.ErrorBound)
			}
		}
		k := mustNew(t, g, "modularity", param.Values{"rank": param.Of(rank)})
		_, _, err := Matrix(background, k, nodes, nodes, &Settings{Tolerance: 1e-16})
		var asked, reached float64
		if _, failed := fmt.Sscanf(strings.TrimPrefix(fmt.Sprint(err), ErrTolerance.Error()), " here: asked for %g where %g can be promised", &asked, &reached); failed != nil {
			t.Fatalf("rank %v: %v", rank, err)
		}
		mustMatrix(t, k, nodes, nodes, &Settings{Tolerance: reached})
	}
}
