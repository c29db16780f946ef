package kernel

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/param"
)

func TestPromisedTolerance(t *testing.T) {
	const n = 1500
	advised, refused := 0, 0
	for _, orders := range []float64{10, 12, 16} {
		rng := rand.New(rand.NewPCG(5, uint64(orders)))
		var edges []edge
		for i := 1; i < n; i++ { // random tree
			edges = append(edges, edge{uint32(i), uint32(rng.IntN(i)), math.Pow(10, orders*(rng.Float64()-0.5))})
		}
		g := newGraph(t, graphOf(t, n, edges...), 1)
		for name, p := range map[string]param.Values{
			"pseudo-inverse": {"laplacian": param.Of(combinatorial)}, "commute-time": nil,
		} {
			k := mustNew(t, g, name, p)
			missed := new(ToleranceError)
			_, _, err := Matrix(background, k, upTo(n), []int{0, 5, 17}, nil)
			switch {
			case errors.As(err, &missed):
				advised++
				if _, _, err = Matrix(background, k, upTo(n), []int{0, 5, 17}, &Settings{Tolerance: missed.Reached}); err != nil {
					t.Errorf("%s, %g orders: %v was advised: %v", name, orders, missed.Reached, err)
				}
			case err != nil && !strings.Contains(err.Error(), "no sure digit"):
				t.Errorf("%s, %g orders: %v", name, orders, err)
			case err != nil:
				refused++
			}
		}
	}
	if advised == 0 || refused == 0 {
		t.Errorf("%d runs were advised, %d refused", advised, refused)
	}
}
