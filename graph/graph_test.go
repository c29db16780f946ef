package graph_test

import (
	"errors"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/sparse"
)

func TestFromMat(t *testing.T) {
	g, err := graph.FromMat(t.Context(), sparse.BlockOf(2, 2, []float64{0, 2, 2, 0}), nil)
	if err != nil || g.Degrees[0] != 2 || len(g.Components.Sizes) != 1 {
		t.Errorf("%+v, %v", g, err)
	}
	if _, err := graph.FromMat(t.Context(), sparse.BlockOf(2, 2, []float64{0, -1, -1, 0}), nil); !errors.Is(err, graph.ErrWeight) {
		t.Errorf("negative weights: %v", err)
	}
	if _, err := graph.FromMat(t.Context(), sparse.BlockOf(2, 1, []float64{0, 1}), nil); !errors.Is(err, sparse.ErrStructure) {
		t.Errorf("two rows and a column: %v", err)
	}
}

// Asymmetry up to rounding is averaged.
func TestFromMatAsymmetric(t *testing.T) {
	for _, c := range []struct {
		mirror float64
		fails  bool
	}{{1, false}, {1 + 1e-15, false}, {1 + 0x1p-34, false}, {1.001, true}, {0, true}} {
		g, err := graph.FromMat(t.Context(), sparse.BlockOf(2, 2, []float64{0, 1, c.mirror, 0}), nil)
		if c.fails != errors.Is(err, sparse.ErrStructure) || !c.fails && err != nil {
			t.Errorf("1 and %g: %v", c.mirror, err)
		}
		if mean := 0.5 + c.mirror/2; !c.fails && (g.Degrees[0] != mean || g.Degrees[1] != mean) {
			t.Errorf("1 and %g: degrees %v", c.mirror, g.Degrees)
		}
	}
}
