package kernel

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/sparsetest"
	"github.com/heatwalk/heatwalk/spec"
)

// The modularity matrix of a complete graph with weights u_i·u_j is negative but for
// one zero: its positive part is 0, whatever rounding makes of the zero, and no
// tolerance is too tight for that.
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
				b, r, err := Matrix(background, mustNew(t, g, "modularity", spec.Values{"rank": spec.Of(rank)}), upTo(n), upTo(n), &Settings{Tolerance: 1e-9})
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

// TestModularityOfCutCopies checks that a rank which cuts through copies of an eigenvalue is rejected
// with a tolerance, however exact the pairs are, and that the error lists ranks that are not.
func TestModularityOfCutCopies(t *testing.T) {
	var entries []sparse.Triplet
	for i := range uint32(8) { // four edges, one heavier: M has an eigenvalue above 1, and 1 twice
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
		k := mustNew(t, g, "modularity", spec.Values{"rank": spec.Of(rank)})
		_, _, err := Matrix(background, k, all, all, &Settings{Tolerance: 1e-3})
		var refused *spec.ParameterError
		switch {
		case says == "" && err != nil:
			t.Errorf("rank %d: %v", rank, err)
		case says != "" && (!errors.As(err, &refused) || *refused != spec.ParameterError{Of: "modularity", Parameter: "rank", What: says}):
			t.Errorf("rank %d: %v, want: %s", rank, err, says)
		}
		_, r, err := Matrix(background, k, all, all, nil)
		if err != nil || math.IsInf(r.ErrorBound, 1) != (says != "") {
			t.Errorf("rank %d without a tolerance: %v, report %+v", rank, err, r)
		}
	}
}

// Tolerances down to what float64 allows are met, and the refusal of a smaller one names a
// tolerance that is met.
func TestModularityTolerance(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	g := newGraph(t, testgraph.Random(5, 1500, 6000, false), 2)
	nodes := upTo(30)
	for _, rank := range []float64{1, 7, 20} {
		for _, tolerance := range []float64{1e-3, 1e-5, 1e-8, 1e-9} {
			k := mustNew(t, g, "modularity", spec.Values{"rank": spec.Of(rank)})
			_, report := mustMatrix(t, k, nodes, nodes, &Settings{Tolerance: tolerance})
			if report.ErrorBound > tolerance*k.(*modularity).largest() {
				t.Errorf("rank %v, tolerance %g: error up to %g", rank, tolerance, report.ErrorBound)
			}
		}
		k := mustNew(t, g, "modularity", spec.Values{"rank": spec.Of(rank)})
		_, _, err := Matrix(background, k, nodes, nodes, &Settings{Tolerance: 1e-16})
		var asked, reached float64
		if _, failed := fmt.Sscanf(strings.TrimPrefix(fmt.Sprint(err), ErrTolerance.Error()), " here: asked for %g where %g can be promised", &asked, &reached); failed != nil {
			t.Fatalf("rank %v: %v", rank, err)
		}
		mustMatrix(t, k, nodes, nodes, &Settings{Tolerance: reached})
	}
}

// TestModularityOnSeveralProcesses compares the block of some nodes and a product with those of one process,
// and the bits of two runs.
func TestModularityOnSeveralProcesses(t *testing.T) {
	const n = 320
	whole := newGraph(t, testgraph.Random(8, n, 500, true), 1)
	nodes := []int{3, 40, 41, 200, 319}
	for _, given := range []spec.Values{{"rank": spec.Of(n), "resolution": spec.Of(1.0)}, {"rank": spec.Of(9), "resolution": spec.Of(0.8)}} {
		// results returns the block, and the product with the first rows of the identity.
		results := func(g *graph.Graph, nodes []int) (block, product *sparse.Block[float64], bound float64, err error) {
			k, err := newModularity(background, &matrices{Graph: g}, given)
			if err != nil {
				return nil, nil, 0, err
			}
			block, report, err := Matrix(background, k, nodes, nodes, nil)
			if err != nil {
				return nil, nil, 0, err
			}
			x := sparse.NewBlock[float64](len(g.Degrees), len(nodes))
			for j, i := range nodes {
				x.Row(i)[j] = 1
			}
			product = sparse.NewBlock[float64](x.Rows, x.Cols)
			if _, err := k.ApplyTo(background, product, x, nil); err != nil {
				return nil, nil, 0, err
			}
			return block, sparsetest.Whole(sparse.TeamOf(g.A), product), report.ErrorBound, nil
		}
		want, wantProduct, bound, err := results(whole, nodes)
		if err != nil {
			t.Fatal(err)
		}
		var before *sparse.Block[float64]
		for _, size := range []int{2, 3, 3} {
			blocks := make([]*sparse.Block[float64], size)
			err := sparsetest.Processes(size, func(network sparse.Network) error {
				d := sparse.NewDivision(n, network, append([]int{0, 100, 150}[:size:size], n), nodes)
				g, err := graph.Divide(background, whole, d)
				if err != nil {
					return err
				}
				local := make([]int, len(nodes))
				for i, row := range nodes {
					local[i], _ = d.Local(row)
				}
				got, product, b, err := results(g, local)
				if err != nil {
					return err
				}
				blocks[network.Rank()] = got
				for i := range n {
					for j, v := range product.Row(i) {
						if w := wantProduct.Row(i)[j]; math.Abs(v-w) > b+bound {
							return fmt.Errorf("product (%d, %d) is %v, want %v within %g", i, j, v, w, b+bound)
						}
					}
				}
				for i := range nodes {
					for j, v := range got.Row(i) {
						if w := want.Row(i)[j]; math.Abs(v-w) > b+bound {
							return fmt.Errorf("value (%d, %d) is %v, want %v within %g", i, j, v, w, b+bound)
						}
					}
				}
				return nil
			})
			if err != nil {
				t.Fatalf("%v, %d processes: %v", given, size, err)
			}
			for rank, b := range blocks {
				if !slices.Equal(b.Data, blocks[0].Data) {
					t.Errorf("%v: process %d of %d has other bits than process 0", given, rank, size)
				}
			}
			if size == 3 && before != nil && !slices.Equal(before.Data, blocks[0].Data) {
				t.Errorf("%v: another run of %d processes has other bits", given, size)
			}
			if before = nil; size == 3 {
				before = blocks[0]
			}
		}
	}
}
