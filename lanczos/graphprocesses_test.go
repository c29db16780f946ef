package lanczos

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// Copies of multiple eigenvalues are found, too.
func TestGraphOnSeveralProcesses(t *testing.T) {
	const n = 300
	a := testgraph.Random(5, n, 300, true)
	whole, err := graph.New(t.Context(), a, nil)
	if err != nil {
		t.Fatal(err)
	}
	entries := entriesOf(a, whole.Degrees)
	type variant struct {
		GraphProblem
		k int
	}
	var variants []variant
	for _, matrix := range sparse.Kinds { // the end at which components have an eigenvector
		p := GraphProblem{Matrix: matrix, Which: Largest, Resolution: 0.7}
		if matrix == sparse.Laplacian || matrix == sparse.NormalizedLaplacian {
			p.Which = Smallest
		}
		k := 12
		if p.Splits() {
			k = len(whole.Components.Sizes) + 4 // more pairs than isolated nodes
		}
		variants = append(variants, variant{p, k})
	}
	for _, which := range []Which{Largest, Smallest} {
		variants = append(variants, variant{GraphProblem{Matrix: sparse.NormalizedAdjacency, Which: which, Beyond: true, Positive: which == Largest}, 5})
	}
	for _, v := range testgraph.Sample(t, 4, variants) {
		p, name := v.GraphProblem, fmt.Sprintf("%v of %s", v.Which, v.Matrix)
		want, err := p.Solve(t.Context(), whole, v.k, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var before *GraphPairs
		for _, size := range []int{2, 3, 3} {
			var got *GraphPairs // pairs of process 0, with all rows
			err := testgraph.Processes(size, func(network sparse.Network) error {
				bounds := []int{0, n / 3, n / 2, n}
				d := sparse.NewDivision(n, network, append(bounds[:size:size], n), []int{5, 17, n - 2})
				g, err := graph.Divide(t.Context(), whole, d, 0)
				if err != nil {
					return err
				}
				pairs, err := p.Solve(t.Context(), g, v.k, &Settings{Workers: 1 + network.Rank()})
				if err != nil {
					return err
				}
				pairs.Vectors = testgraph.Whole(sparse.TeamOf(g.A), pairs.Vectors)
				if network.Rank() == 0 {
					got = pairs
				}
				return nil
			})
			if err != nil {
				t.Fatalf("%s, %d processes: %v", name, size, err)
			}
			if got.Known != want.Known || got.Converged != want.Converged || len(got.Values) != len(want.Values) {
				t.Errorf("%s, %d processes: %d pairs, %d known, want %d and %d", name, size, len(got.Values), got.Known, len(want.Values), want.Known)
				continue
			}
			for j, value := range want.Values {
				if math.Abs(got.Values[j]-value) > 1e-9*want.Norm {
					t.Errorf("%s, %d processes: value %d is %v, want %v", name, size, j, got.Values[j], value)
				}
			}
			var scale []float64
			if v.Matrix == sparse.Transition {
				scale = blocks.Roots(whole.Degrees)
			}
			checkEigen(t, fmt.Sprintf("%s, %d processes", name, size), entries[v.Matrix], got, scale)
			if size == 3 && before != nil && !(slices.Equal(before.Values, got.Values) && slices.Equal(before.Vectors.Data, got.Vectors.Data)) {
				t.Errorf("%s: another run of %d processes has other bits", name, size)
			}
			if before = nil; size == 3 {
				before = got
			}
		}
	}
}

func TestColoursOfSeveralProcesses(t *testing.T) {
	graphs := map[string]*sparse.CSR{
		"random": testgraph.Random(5, 300, 200, true), "path": testgraph.Path(40), "even cycle": testgraph.Cycle(30),
		"odd cycle": testgraph.Cycle(31), "star": testgraph.Star(20), "without edges": testgraph.Random(1, 9, 0, false),
	}
	for name, a := range graphs {
		whole, err := graph.New(t.Context(), a, nil)
		if err != nil {
			t.Fatal(err)
		}
		want, err := bipartite(t.Context(), whole)
		if err != nil {
			t.Fatal(err)
		}
		n := len(whole.Degrees)
		err = testgraph.Processes(3, func(network sparse.Network) error {
			d := sparse.NewDivision(n, network, []int{0, n / 3, n / 2, n}, []int{1, n / 2})
			g, err := graph.Divide(t.Context(), whole, d, 0)
			if err != nil {
				return err
			}
			got, err := bipartite(t.Context(), g)
			if err != nil || (got == nil) != (want == nil) {
				return fmt.Errorf("process %d: vector %v, want %v, error %w", network.Rank(), got, want, err)
			}
			sign := make([]float64, len(whole.Components.Sizes)) // sign of the vector of each component
			for i := range got {
				row, c := d.Team.Row(i), g.Components.Of[i]
				if d.Team.IsPadding(i) {
					continue
				}
				if sign[c] == 0 {
					sign[c] = got[i] * want[row]
				}
				if math.Abs(got[i]) != math.Abs(want[row]) || got[i]*want[row]*sign[c] < 0 {
					return fmt.Errorf("process %d: row %d is %v, want ±%v", network.Rank(), row, got[i], want[row])
				}
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
