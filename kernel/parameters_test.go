package kernel

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestSymmetricForms(t *testing.T) {
	loaded := testgraph.Load(t, "wrand60")
	g := newGraph(t, loaded.A, 2)
	all := upTo(len(loaded.Degrees))
	for name, p := range map[string]param.Values{"pagerank": {"alpha": param.Of(0.9)}, "heat-pagerank": {"beta": param.Of(3.0)}} {
		plain, _ := mustMatrix(t, mustNew(t, g, name, p), all, all, nil)
		p["symmetric"] = param.Of(true)
		got, r := mustMatrix(t, mustNew(t, g, name, p), all, all, nil)
		root := roots(g)
		for i := range all {
			for j, v := range got.Row(i) {
				want := root[i] * plain.Row(i)[j] / root[j]
				if math.Abs(v-want) > 1e-9*r.Largest || v != got.Row(j)[i] {
					t.Fatalf("%s: (%d, %d) is %v, want %v; its mirror image %v", name, i, j, v, want, got.Row(j)[i])
				}
			}
		}
	}
}

func TestDefaults(t *testing.T) {
	for graph, a := range map[string]*sparse.CSR{
		"weights":    testgraph.Load(t, "wrand60").A,
		"a hub":      testgraph.Star(30),
		"two nodes":  testgraph.Complete(2),
		"no edges":   mustTriplets(t, 3, nil),
		"tiny loads": mustTriplets(t, 2, []sparse.Triplet{{Row: 0, Col: 1, Val: 1e-100}, {Row: 1, Col: 0, Val: 1e-100}}),
		"great":      mustTriplets(t, 2, []sparse.Triplet{{Row: 0, Col: 1, Val: 1e100}, {Row: 1, Col: 0, Val: 1e100}}),
	} {
		g := newGraph(t, a, 1)
		for _, f := range Families() {
			forms := []param.Values{{}}
			for i := range f.Params {
				for _, word := range f.Params[i].Words {
					forms = append(forms, param.Values{f.Params[i].Name: param.Of(word)})
				}
			}
			for _, p := range forms {
				resolved := complete(t, f, p, On(background, g))
				for name, x := range resolved {
					if slices.Contains([]string{"alpha", "beta", "kappa"}, name) && !param.Above(0).Contains(resolved.Number(name)) {
						t.Errorf("%s, %s %v: %s is %v", graph, f.Name, p, name, x)
					}
				}
				n := upTo(len(g.Degrees))
				got, _ := mustMatrix(t, mustNew(t, g, f.Name, p), n, n, nil)
				want, _ := mustMatrix(t, mustNew(t, g, f.Name, resolved), n, n, nil)
				for i := range n {
					for j, v := range got.Row(i) {
						if v != want.Row(i)[j] {
							t.Fatalf("%s, %s %v: (%d, %d) is %v, with %v %v", graph, f.Name, p, i, j, v, resolved, want.Row(i)[j])
						}
					}
				}
			}
		}
	}
}

// All nodes have degree 4 and ρ = 4, except for an isolated node.
func TestDefaultValues(t *testing.T) {
	var edges []sparse.Triplet
	for i := range uint32(5) {
		for j := range uint32(5) {
			if i != j {
				edges = append(edges, sparse.Triplet{Row: i, Col: j, Val: 1})
			}
		}
	}
	g := newGraph(t, mustTriplets(t, 6, edges), 1)
	for _, c := range []struct {
		name string
		p    param.Values
		want string
	}{
		{"diffusion", param.Values{}, "normalized, beta = 4"},
		{"diffusion", param.Values{"laplacian": param.Of(combinatorial)}, "combinatorial, beta = 1"},
		{"diffusion", param.Values{"laplacian": param.Of(randomWalk)}, "random-walk, beta = 4"},
		{"exponential", param.Values{"matrix": param.Of(normalizedAdjacency)}, "normalized-adjacency, beta = 4"},
		{"von-neumann", param.Values{}, "normalized-adjacency, alpha = 0.8"},
		{"regularized-laplacian", param.Values{"laplacian": param.Of(combinatorial)}, "combinatorial, alpha = 1"},
		{"regularized-laplacian", param.Values{}, "normalized, alpha = 4"},
		{"pseudo-inverse", param.Values{}, "normalized"},
		{"regularized-commute-time", param.Values{}, "alpha = 0.8"},
		{"p-step", param.Values{}, "shift = 2, steps = 8"},
		{"p-step", param.Values{"shift": param.Of(3.0)}, "shift = 3, steps = 8"},
		{"matern", param.Values{"laplacian": param.Of(combinatorial)}, "combinatorial, nu = 1.5, kappa = 1.5"},
		{"matern", param.Values{"nu": param.Of(2.0)}, "normalized, nu = 2, kappa = 3"},
		{"modularity", param.Values{}, "rank = 6, resolution = 1"},
		{"pagerank", param.Values{"symmetric": param.Of(true)}, "alpha = 0.85, symmetric"},
		{"heat-pagerank", param.Values{}, "beta = 4"},
	} {
		f := Families().Named(c.name)
		if got := f.Text(complete(t, f, c.p, On(background, g))); got != c.want {
			t.Errorf("%s %v: %s; want %s", c.name, c.p, got, c.want)
		}
	}
	for name, parameter := range map[string]string{"von-neumann": "alpha", "exponential": "beta"} {
		f := Families().Named(name)
		want := f.Param(parameter).Default
		got := complete(t, f, param.Values{"matrix": param.Of(adjacency)}, On(background, g)).Number(parameter)
		if share := (param.Values{"": want}).Number(""); math.Abs(4*got-share) > 1e-9 {
			t.Errorf("%s of A: %v", name, got)
		}
	}
	large := newGraph(t, testgraph.Path(smallNodes+1), 1)
	if got := complete(t, &modularities, nil, On(background, large)); got.Int("rank") != 0 {
		t.Errorf("modularity of many nodes: %v", got)
	}
}

func mustTriplets(t *testing.T, n int, entries []sparse.Triplet) *sparse.CSR {
	t.Helper()
	a, err := sparse.FromTriplets(n, n, entries)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

type counting struct {
	sparse.Matrix
	sweeps int
}

func (c *counting) SweepRows(ctx context.Context, lo, hi, workers int, visit func(int, sparse.Panel) error) error {
	c.sweeps++
	return c.Matrix.SweepRows(ctx, lo, hi, workers, visit)
}

func TestRadiusOnce(t *testing.T) {
	m := &counting{Matrix: testgraph.Star(600)} // bounds of its largest eigenvalue are not tight
	g := newGraph(t, m, 1)
	for _, find := range []func(context.Context, *graph.Graph) (float64, error){radius, roughRadius} {
		first, err := find(background, g)
		if err != nil {
			t.Fatal(err)
		}
		before := m.sweeps
		if second, err := find(background, g); err != nil || second != first || m.sweeps != before {
			t.Errorf("%v after %v, %v, %d more sweeps", second, first, err, m.sweeps-before)
		}
		stopped, cancel := context.WithCancel(background)
		cancel()
		if _, err := find(stopped, newGraph(t, m, 1)); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	rough, err := roughRadius(background, g)
	if err != nil {
		t.Fatal(err)
	}
	p := complete(t, &vonNeumann, param.Values{"matrix": param.Of(adjacency)}, On(background, g))
	if p.Number("alpha") != 0.8/rough {
		t.Errorf("α = %v", p.Number("alpha"))
	}
}

// grid also returns the largest eigenvalue.
func grid(t *testing.T, w, h int) (*sparse.CSR, float64) {
	t.Helper()
	var entries []sparse.Triplet
	join := func(i, j int) {
		entries = append(entries, sparse.Triplet{Row: uint32(i), Col: uint32(j), Val: 1}, sparse.Triplet{Row: uint32(j), Col: uint32(i), Val: 1})
	}
	for i := range w * h {
		if i%w+1 < w {
			join(i, i+1)
		}
		if i+w < w*h {
			join(i, i+w)
		}
	}
	a, err := sparse.FromTriplets(w*h, w*h, entries)
	if err != nil {
		t.Fatal(err)
	}
	return a, 2*math.Cos(math.Pi/float64(w+1)) + 2*math.Cos(math.Pi/float64(h+1))
}

// Many eigenvalues are close to the largest.
func TestRoughRadius(t *testing.T) {
	a, want := grid(t, 120, 90)
	m := &counting{Matrix: a}
	g := newGraph(t, m, 2)
	before := m.sweeps
	got, err := roughRadius(background, g)
	if err != nil || !(got > 0.99*want && got <= want*(1+1e-12)) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	if spent := m.sweeps - before; spent > 100 {
		t.Errorf("%d sweeps", spent)
	}
}

// The bound is close wherever the eigenvector is concentrated.
func TestRadiusAbove(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	lattice, largest := grid(t, 120, 90)
	tree := testgraph.Star(200)
	for _, c := range []struct {
		a    *sparse.CSR
		want float64
	}{
		{lattice, largest},
		{testgraph.Path(3000), 2 * math.Cos(math.Pi/3001)},
		{tree, math.Sqrt(199)},
		{testgraph.TwoCliques(40), 39},
		{testgraph.Cycle(999), 2},
	} {
		m := &counting{Matrix: c.a}
		var bits []float64
		for _, workers := range []int{1, 3} {
			g := newGraph(t, m, workers)
			before := m.sweeps
			w := newPerron(g, 1.1*c.want)
			w.lower = 0.9 * c.want
			err := w.search(background, func() bool { return false })
			got := w.upper
			if err != nil || !(got >= c.want*(1-1e-15) && got <= c.want*(1+2e-10)) {
				t.Errorf("%v, %v; want %v", got, err, c.want)
			}
			t.Logf("%d nodes: %d sweeps", g.A.NNZ(), m.sweeps-before)
			bits = append(bits, got)
		}
		if bits[0] != bits[1] {
			t.Errorf("%v and %v with other workers", bits[0], bits[1])
		}
	}
}

func TestRefusedAlphaIsOutsideItsRange(t *testing.T) {
	for _, rho := range []float64{1, 3, 4.000000000000044, math.Sqrt(599), 1e9 / 7, 1e-3 / 3} {
		for _, refused := range []float64{1 / rho, math.Nextafter(1/rho, 0), (1 - 1e-14) / rho, 1.5 / rho} {
			says := alphasBelow(rho, refused)
			var end float64
			if _, err := fmt.Sscanf(says, "0 < α < %g on", &end); err != nil || !(end <= refused) || !(end > 0.999999999/rho*(1-1e-13)) {
				t.Errorf("%v refused with ρ = %v: %s (%v, %v)", refused, rho, says, end, err)
			}
		}
		if says := alphasBelow(rho, -1); says != alphasBelow(rho, math.NaN()) {
			t.Error(says)
		}
	}
}
