package kernel

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func resolved(t *testing.T, name string, given param.Values, degrees []float64) (*Family, param.Values) {
	t.Helper()
	f := Families().Named(name)
	v, err := f.Resolve(given, OnDegrees(degrees))
	if err != nil {
		t.Fatal(err)
	}
	return f, v
}

func workspaceOf(t *testing.T, name string, given param.Values, g *graph.Graph, rows, cols []int) budget.Workspace {
	t.Helper()
	f, v := resolved(t, name, given, g.Degrees)
	return f.BlockWorkspace(v, g.Degrees, g.A.NNZ(), false, rows, cols, nil)
}

func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const n = 400
	a := testgraph.Random(9, n, 1400, true)
	g := newGraph(t, a, 2)
	few := []int{3, 1, 4, 15, 92}
	cases := slices.Concat(symmetricKernels, others, []named{
		{"modularity", param.Values{"rank": param.Of(1)}}, {"modularity", param.Values{"rank": param.Of(100)}}, {"modularity", param.Values{"rank": param.Of(n)}},
	})
	for _, c := range cases {
		t.Run(c.name+" "+c.text(), func(t *testing.T) {
			if c.p["matrix"] == param.Of(adjacency) {
				c.p = param.Values{"matrix": c.p["matrix"], "alpha": param.Of(c.p.Number("alpha") / 10)}
			}
			for _, nodes := range [][2][]int{{few, few}, {upTo(n), few}, {upTo(100), upTo(100)}} {
				limit := workspaceOf(t, c.name, c.p, g, nodes[0], nodes[1]).Required(1)
				if _, _, err := Matrix(background, mustNew(t, g, c.name, c.p), nodes[0], nodes[1], &Settings{Memory: limit}); err != nil {
					t.Error(fmt.Errorf("%d × %d within %d bytes: %w", len(nodes[0]), len(nodes[1]), limit, err))
				}
			}
		})
	}
}

func TestSlowSolvesPlanTheirFactor(t *testing.T) {
	const n = 3000
	g := newGraph(t, testgraph.Path(n), 2)
	nodes := []int{0, n / 2}
	for _, c := range []struct {
		name string
		p    param.Values
		slow bool
	}{
		{"regularized-laplacian", param.Values{"laplacian": param.Of(combinatorial), "alpha": param.Of(4.0)}, false},
		{"regularized-laplacian", param.Values{"laplacian": param.Of(combinatorial), "alpha": param.Of(1e4)}, true},
		{"regularized-laplacian", param.Values{"alpha": param.Of(1e4), "laplacian": param.Of(normalized)}, true},
		{"von-neumann", param.Values{"alpha": param.Of(0.8)}, false},
		{"von-neumann", param.Values{"alpha": param.Of(0.9999)}, true},
		{"pagerank", param.Values{"alpha": param.Of(0.9999)}, true},
		{"regularized-commute-time", param.Values{"alpha": param.Of(0.8)}, false},
		{"regularized-commute-time", param.Values{"alpha": param.Of(0.9999)}, true},
	} {
		limit := workspaceOf(t, c.name, c.p, g, nodes, nodes[:1]).Most(0)
		_, r, err := Matrix(background, mustNew(t, g, c.name, c.p), nodes, nodes[:1], &Settings{Memory: limit})
		if err != nil {
			t.Errorf("%s %v: %v", c.name, c.p, err)
		} else if c.slow && r.Sweeps > 100 {
			t.Errorf("%s %v: %d sweeps, %s", c.name, c.p, r.Sweeps, r.Method)
		}
	}
}

// On a path the least eigenvalue is 2 − 2cos(π/n).
func TestLeastEigenvalueIsABound(t *testing.T) {
	for _, n := range []int{20, 700, 3000} {
		e := mustNew(t, newGraph(t, testgraph.Path(n), 1), "pseudo-inverse", param.Values{"laplacian": param.Of(combinatorial)}).(*spectral).full.(*solves)
		if err := e.findLeast(background, 1); err != nil {
			t.Fatal(err)
		}
		sine := math.Sin(math.Pi / (2 * float64(n)))
		if want := 4 * sine * sine; !(e.system.Least <= want*(1+1e-9)) || e.system.Least < 0.8*want {
			t.Errorf("%d nodes: %v, want %v", n, e.system.Least, want)
		}
	}
}

func TestFactorIsTold(t *testing.T) {
	c := new(computation)
	const with = "conjugate gradients with a sampled Cholesky factor"
	for _, method := range []string{"conjugate gradients", with, "conjugate gradients"} {
		c.log.note(2, method)
	}
	if c.log.report.Method != with || c.log.report.Sweeps != 6 {
		t.Errorf("%d sweeps, %s", c.log.report.Sweeps, c.log.report.Method)
	}
}
