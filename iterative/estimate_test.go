package iterative

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// Estimates are seldom below the errors, and never far above them.
func TestErrorEstimate(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 11))
	weights := func(decades float64) *sparse.CSR {
		var links []link
		const n = 1000
		for range 4 * n {
			links = append(links, link{r.IntN(n), r.IntN(n), math.Pow(10, decades*r.Float64())})
		}
		return linked(t, n, links)
	}
	below, all := 0, 0
	for name, a := range map[string]*sparse.CSR{
		"random": testgraph.Random(3, 1000, 4000, false), "sparse": testgraph.Random(4, 1000, 1500, false), "grid": grid(22),
		"path": testgraph.Path(1000), "three orders": weights(3), "eight orders": weights(8),
	} {
		g := graphOf(t, a)
		for _, normalized := range []bool{false, true} {
			for _, tolerance := range []float64{1e-3, 1e-6, 1e-9} {
				s, err := ShiftedLaplacian(g, normalized, 1, 0)
				if err != nil {
					t.Fatal(err)
				}
				n, _ := a.Dims()
				b, x, y := sparse.NewBlock[float64](n, 3), sparse.NewBlock[float64](n, 3), sparse.NewBlock[float64](n, 3)
				b.Row(1)[0], b.Row(n / 2)[1] = 1, 1
				for i := range n {
					b.Row(i)[2] = r.NormFloat64()
				}
				res, err := s.SolveTo(ctx, x, b, &Settings{Tolerance: tolerance})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := s.EliminateTo(ctx, y, b); err != nil {
					t.Fatal(err)
				}
				for j := range b.Cols {
					off, size := 0.0, 0.0
					for i := range n {
						off = math.Hypot(off, x.Row(i)[j]-y.Row(i)[j])
						size = math.Hypot(size, y.Row(i)[j])
					}
					estimate := res.ErrorEstimate[j]
					all++
					if estimate < off {
						below++
					}
					if !(estimate >= 0.4*off && estimate <= max(3000*off, 1e-10*size)) {
						t.Errorf("%s, normalized %t, tolerance %g, column %d: error %.2g, estimate %.2g", name, normalized, tolerance, j, off, estimate)
					}
				}
			}
		}
	}
	if below > all/10 {
		t.Errorf("%d of %d estimates are below the error", below, all)
	}
}
