package kernel

import (
	"math"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// The unit of weights changes kernels with default parameters by a factor only.
func TestUnitOfWeights(t *testing.T) {
	of := func(scale float64) *graph.Graph {
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
		for _, c := range byLaplacian() {
			name, factor := c.name, 1.0
			switch l := c.p["laplacian"]; {
			case name == "pseudo-inverse" && l == param.Of(combinatorial), name == "regularized-commute-time":
				factor = 1 / unit
			case name == "matern" && l == param.Of(combinatorial): // ν is 1.5
				factor = math.Pow(unit, -1.5)
			case name == "modularity":
				factor = unit
			}
			want, wr := mustMatrix(t, mustNew(t, one, name, c.p), upTo(60), upTo(60), nil)
			got, r, err := Matrix(background, mustNew(t, g, name, c.p), upTo(60), upTo(60), nil)
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

func byLaplacian() (all []named) {
	for _, name := range Families().Names() {
		all = append(all, named{name, param.Values{}})
		if Families().Named(name).Param("laplacian") != nil {
			all = append(all, named{name, param.Values{"laplacian": param.Of(combinatorial)}})
		}
	}
	return all
}

func apart(t *testing.T, unit float64) *graph.Graph {
	var entries []sparse.Triplet
	for i := range uint32(5) {
		next, w := (i+1)%5, float64(i+1)
		entries = append(entries,
			sparse.Triplet{Row: i, Col: next, Val: w}, sparse.Triplet{Row: next, Col: i, Val: w},
			sparse.Triplet{Row: 5 + i, Col: 5 + next, Val: unit * w}, sparse.Triplet{Row: 5 + next, Col: 5 + i, Val: unit * w})
	}
	return newGraph(t, mustTriplets(t, 10, entries), 1)
}

func TestUnitsOfComponents(t *testing.T) {
	g, all := apart(t, 1e16), upTo(10)
	for _, c := range others {
		if c.name == "commute-time" {
			continue
		}
		k := mustNew(t, g, c.name, c.p)
		b, r := mustMatrix(t, k, all, all, &Settings{Tolerance: 1e-12})
		for i := range 5 {
			for j := range 5 {
				if d := math.Abs(b.Row(i)[j] - b.Row(5 + i)[5+j]); d > 2*r.ErrorBound {
					t.Errorf("%s %v: (%d, %d) differs by %g, bound %g", c.name, c.p, i, j, d, r.ErrorBound)
				}
				if b.Row(i)[5+j] != 0 || b.Row(5 + i)[j] != 0 {
					t.Errorf("%s %v: a value between components", c.name, c.p)
				}
			}
		}
		x, y := sparse.NewBlock[float64](10, 1), sparse.NewBlock[float64](10, 1)
		x.Row(2)[0], x.Row(7)[0] = 1, 1
		if _, err := k.ApplyTo(background, y, x, &Settings{Tolerance: 1e-12}); err != nil {
			t.Errorf("%s %v: %v", c.name, c.p, err)
		}
	}
}

// The component with light weights dominates L⁺.
func TestCommuteTimesOfComponents(t *testing.T) {
	g := apart(t, 1e4)
	for _, lists := range [][2][]int{{upTo(10), upTo(10)}, {upTo(10), {0, 7}}} {
		for tolerance := 1e-2; tolerance > 1e-8; tolerance /= 10 {
			_, r := mustMatrix(t, mustNew(t, g, "commute-time", param.Values{}), lists[0], lists[1], &Settings{Tolerance: tolerance})
			if !(r.ErrorBound <= tolerance*r.Largest) {
				t.Errorf("tolerance %g: bound %g, largest value %g", tolerance, r.ErrorBound, r.Largest)
			}
		}
	}
}

func TestEndsOfRanges(t *testing.T) {
	const n = 12
	g := newGraph(t, testgraph.Complete(n), 1) // S has the eigenvalues 1 and −1/(n−1)
	other := -1.0 / (n - 1)
	for _, c := range []struct {
		name string
		p    param.Values
		f    func(s float64) float64
	}{
		{"exponential", param.Values{"matrix": param.Of(normalizedAdjacency), "beta": param.Of(349.9)}, func(s float64) float64 { return math.Exp(349.9 * s) }},
		{"p-step", param.Values{"shift": param.Of(2.0), "steps": param.Of(504)}, func(s float64) float64 { return math.Pow(1+s, 504) }},
		{"matern", param.Values{"laplacian": param.Of(normalized), "nu": param.Of(50.0), "kappa": param.Of(0.31)}, func(s float64) float64 { return math.Pow(100/(0.31*0.31)+1-s, -50) }},
		{"matern", param.Values{"laplacian": param.Of(normalized), "nu": param.Of(80.5), "kappa": param.Of(110.0)}, func(s float64) float64 { return math.Pow(161/(110.*110)+(1-s), -80.5) }},
	} {
		k := mustNew(t, g, c.name, c.p)
		for _, cols := range [][]int{upTo(n), {3, 5}} {
			b, r := mustMatrix(t, k, upTo(n), cols, nil)
			if !(relative(r) < 1e-9) {
				t.Errorf("%s: bound %g, largest value %g", c.name, r.ErrorBound, r.Largest)
			}
			for i := range n {
				for j, col := range cols {
					want := (c.f(1) - c.f(other)) / n
					if i == col {
						want += c.f(other)
					}
					if d := math.Abs(b.Row(i)[j] - want); !(d <= r.ErrorBound+1e-12*math.Abs(c.f(1))) {
						t.Fatalf("%s: (%d, %d) is %g, want %g, bound %g", c.name, i, col, b.Row(i)[j], want, r.ErrorBound)
					}
				}
			}
		}
	}
}

func TestTinyAlpha(t *testing.T) {
	g := newGraph(t, testgraph.Path(3), 1)
	for _, alpha := range []float64{1e-6, 1e-30, 1e-200} {
		got, r := mustMatrix(t, mustNew(t, g, "regularized-laplacian", param.Values{"laplacian": param.Of(combinatorial), "alpha": param.Of(alpha)}), upTo(3), upTo(3), nil)
		if !(r.ErrorBound < 1e-9) {
			t.Errorf("α = %g: bound %g", alpha, r.ErrorBound)
		}
		if d := math.Abs(got.Row(1)[1] - 1/(1+2*alpha)); d > max(r.ErrorBound, 3*alpha*alpha) {
			t.Errorf("α = %g: off by %g, bound %g", alpha, d, r.ErrorBound)
		}
	}
}
