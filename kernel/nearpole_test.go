package kernel

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/sparse"
)

// Near the pole of (I − αA)⁻¹ a hundred steps or so are enough on any graph, and the
// bound is not below the error, by dense eigenpairs.
func TestVonNeumannNearPole(t *testing.T) {
	lattice, _ := grid(t, 24, 17)
	loops := mustTriplets(t, 7, []sparse.Triplet{
		{Row: 0, Col: 1, Val: 1e-3}, {Row: 1, Col: 0, Val: 1e-3}, {Row: 1, Col: 2, Val: 700}, {Row: 2, Col: 1, Val: 700},
		{Row: 2, Col: 2, Val: 50}, {Row: 4, Col: 5, Val: 3}, {Row: 5, Col: 4, Val: 3}, {Row: 5, Col: 5, Val: 1},
	})
	for gi, a := range []*sparse.CSR{lattice, testgraph.Path(400), testgraph.Cycle(301), testgraph.Random(7, 200, 260, true), loops} {
		n, _ := a.Dims()
		dense := mat.NewSymDense(n, nil)
		for i := range n {
			for j := range n {
				dense.SetSym(i, j, a.At(i, j))
			}
		}
		var eigen mat.EigenSym
		if !eigen.Factorize(dense, true) {
			t.Fatal("no eigenpairs")
		}
		var vectors mat.Dense
		eigen.VectorsTo(&vectors)
		values := eigen.Values(nil)
		rho := slices.Max(values)
		cols := []int{0, n / 2, n - 1}
		for _, rest := range []float64{1e-3, 1e-5, 1e-7} {
			alpha := (1 - rest) / rho
			rest := 1 - alpha*rho // as rounded
			var bits *sparse.Block[float64]
			for _, workers := range []int{1, 3} {
				k := mustNew(t, newGraph(t, a, workers), "von-neumann", Parameters{Matrix: Adjacency, Alpha: alpha})
				got, report := mustMatrix(t, k, upTo(n), cols, nil)
				name := fmt.Sprintf("graph %d, 1 − αρ = %.3g: %v, %d sweeps, bound %.3g", gi, rest, report.Method, report.Sweeps, report.Relative())
				if _, ok := k.(*spectral).whole.(*solves); !ok || report.Sweeps > 150 {
					t.Error(name)
				}
				worst := 0.0
				for i := range n {
					for c, j := range cols {
						sum := 0.0
						for e, value := range values {
							sum += vectors.At(i, e) * vectors.At(j, e) / (1 - alpha*value)
						}
						worst = max(worst, math.Abs(sum-got.Row(i)[c]))
					}
				}
				if own := 1e-14 / rest * report.Largest; worst > report.ErrorBound+own {
					t.Errorf("%s: error %.3g, bound %.3g", name, worst, report.ErrorBound)
				}
				if bits != nil && !slices.Equal(bits.Data, got.Data) {
					t.Errorf("%s: other bits with other workers", name)
				}
				bits = got
			}
		}
	}
}
