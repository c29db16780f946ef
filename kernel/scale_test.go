package kernel

import (
	"math"
	"testing"

	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/sparse"
)

// The unit that weights are given in changes no kernel with default parameters
// by more than its factor, 1/c or c to the power of degree, to the ends of what
// a graph takes.
func TestUnitOfWeights(t *testing.T) {
	of := func(scale float64) *iterative.Graph {
		m := testgraph.Random(21, 60, 150, true)
		list := make([]sparse.Triplet, 0, m.NNZ())
		for i := range 60 {
			for j := range 60 {
				if w := m.At(i, j); w != 0 {
					list = append(list, sparse.Triplet{Row: uint32(i), Col: uint32(j), Val: w * scale})
				}
			}
		}
		scaled, err := sparse.FromTriplets(60, 60, list)
		if err != nil {
			t.Fatal(err)
		}
		return newGraph(t, scaled, 1)
	}
	one := of(1)
	for _, unit := range []float64{0x1p-325, 0x1p325, 0x1p-200} {
		g := of(unit)
		for _, name := range Names() {
			factor := 1.0
			switch name {
			case "pseudo-inverse", "regularized-commute-time":
				factor = 1 / unit
			case "matern": // ν is 1.5
				factor = math.Pow(unit, -1.5)
			case "modularity":
				factor = unit
			}
			want, wr := mustMatrix(t, mustNew(t, one, name, Parameters{}), upTo(60), upTo(60), nil)
			got, r, err := Matrix(background, mustNew(t, g, name, Parameters{}), upTo(60), upTo(60), nil)
			if err != nil {
				t.Errorf("%s, unit %g: %v", name, unit, err)
				continue
			}
			bound := wr.ErrorBound + r.ErrorBound/factor
			if !(bound < 1e-6*wr.Largest) {
				t.Errorf("%s, unit %g: bounds %g and %g", name, unit, wr.ErrorBound, r.ErrorBound)
			}
			for i := range 60 {
				for j := range 60 {
					w, v := want.Row(i)[j], got.Row(i)[j]/factor
					if math.Abs(v-w) > bound {
						t.Fatalf("%s, unit %g: %v at %d, %d, not %v", name, unit, v, i, j, w)
					}
				}
			}
		}
	}
}

// Resolvents of a map that is next to nothing are next to the identity, and
// their bounds say so.
func TestTinyAlpha(t *testing.T) {
	g := newGraph(t, testgraph.Path(3), 1)
	for _, alpha := range []float64{1e-6, 1e-30, 1e-200} {
		got, r := mustMatrix(t, mustNew(t, g, "regularized-laplacian", Parameters{Alpha: alpha}), upTo(3), upTo(3), nil)
		if !(r.ErrorBound < 1e-9) {
			t.Errorf("α = %g: bound %g", alpha, r.ErrorBound)
		}
		if d := math.Abs(got.Row(1)[1] - 1/(1+2*alpha)); d > max(r.ErrorBound, 3*alpha*alpha) {
			t.Errorf("α = %g: off by %g, bound %g", alpha, d, r.ErrorBound)
		}
	}
}
