package spectral

import (
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/lanczos"
)

// TestIsolatedNodes compares both ends of the spectra of S, L̃ and T with all eigenvalues of S as
// a dense matrix, on sparse random graphs with isolated nodes and many components.
// HEATWALK_HUNT is the number of graphs.
func TestIsolatedNodes(t *testing.T) {
	graphs := 4
	if n, err := strconv.Atoi(os.Getenv("HEATWALK_HUNT")); err == nil {
		graphs = n
	}
	for seed := range uint64(graphs) {
		n := 257 + int(seed*37%144)
		a := testgraph.Random(seed, n, n*int(3+seed%4)/2, seed%2 == 0)
		g, err := graph.New(t.Context(), a, nil)
		if err != nil {
			t.Fatal(err)
		}
		h := mat.NewSymDense(n, nil)
		for i := range n {
			for j := i; j < n; j++ {
				if v := a.At(i, j); v != 0 {
					h.SetSym(i, j, v/math.Sqrt(g.Degrees[i]*g.Degrees[j]))
				}
			}
		}
		var e mat.EigenSym
		if !e.Factorize(h, false) {
			t.Fatal("no eigenvalues")
		}
		of := func(matrix Matrix) []float64 {
			values := e.Values(nil)
			isolated := 0
			for _, d := range g.Degrees {
				if d == 0 {
					isolated++
				}
			}
			// S has 0 for an isolated node, L̃ 0 and T 1: replace that many zeros of S.
			zero := 0.0
			if matrix != AdjacencyNormalized {
				zero = 1
			}
			slices.SortFunc(values, func(a, b float64) int { return int(math.Copysign(1, math.Abs(a)-math.Abs(b))) })
			for i := range isolated {
				values[i] = zero
			}
			if matrix == LaplacianNormalized {
				for i, v := range values {
					values[i] = 1 - v
				}
			}
			slices.Sort(values)
			return values
		}
		for _, matrix := range []Matrix{AdjacencyNormalized, LaplacianNormalized, Transition} {
			for _, which := range []lanczos.Which{lanczos.Largest, lanczos.Smallest} {
				want := of(matrix)
				if which == lanczos.Largest {
					slices.Reverse(want)
				}
				k := 20 + int(seed%31)
				pairs, err := (&Problem{Matrix: matrix, Which: which}).Solve(t.Context(), g, k, nil)
				if err != nil {
					t.Errorf("graph %d, %s, %v: %v", seed, matrix, which, err)
					continue
				}
				for j, v := range pairs.Values {
					if math.Abs(v-want[j]) > 1e-8 {
						t.Errorf("graph %d, %s, %v: value %d is %.12g, want %.12g", seed, matrix, which, j, v, want[j])
						break
					}
				}
			}
		}
	}
}
