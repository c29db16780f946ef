package kernel

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/expm"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestParameterErrors(t *testing.T) {
	g := newGraph(t, testgraph.Complete(5), 1) // ρ = 4
	for _, c := range []struct {
		name, parameter, says string
		p                     param.Values
	}{
		{"heat", "kernel", "there is no kernel \"heat\" in this program; choose from diffusion", param.Values{}},
		{"diffusion", "beta", "-1 is out of range; diffusion takes β > 0", param.Values{"laplacian": param.Of(combinatorial), "beta": param.Of(-1.0)}},
		{"diffusion", "beta", "NaN", param.Values{"laplacian": param.Of(combinatorial), "beta": param.Of(math.NaN())}},
		{"diffusion", "laplacian", "give normalized, combinatorial or random-walk", param.Values{"beta": param.Of(1.0), "laplacian": param.Of("L")}},
		{"exponential", "beta", "0 < β ≤ 87.5 on this graph, whose largest eigenvalue is at most 4", param.Values{"beta": param.Of(151.0)}},
		{"exponential", "beta", "0 < β ≤ 87.5 on this graph", param.Values{"beta": param.Of(-1.0)}},
		{"exponential", "beta", "normalised adjacency takes 0 < β ≤ 350", param.Values{"beta": param.Of(1e300), "matrix": param.Of(normalizedAdjacency)}},
		{"exponential", "matrix", "give adjacency", param.Values{"beta": param.Of(1.0), "matrix": param.Of("T")}},
		{"von-neumann", "alpha", "0 < α < 1", param.Values{"alpha": param.Of(1.0)}},
		{"von-neumann", "alpha", "0 < α < 0.25 on this graph, whose largest eigenvalue is 4", param.Values{"alpha": param.Of(0.25), "matrix": param.Of(adjacency)}},
		{"von-neumann", "alpha", "0 < α < 0.24999999999999", param.Values{"alpha": param.Of(0.25 * (1 - 0x1p-53)), "matrix": param.Of(adjacency)}},
		{"von-neumann", "alpha", "too near to 1; von-neumann of the normalised adjacency takes α up to 1 − 7.1e-15", param.Values{"alpha": param.Of(1 - 0x1p-53)}},
		{"regularized-commute-time", "alpha", "too near to 1", param.Values{"alpha": param.Of(1 - 0x1p-48)}},
		{"von-neumann", "alpha", "takes up to 0.24999999975 on this graph", param.Values{"alpha": param.Of(0.25 * (1 - 1e-10)), "matrix": param.Of(adjacency)}},
		{"von-neumann", "alpha", "0 < α < 0.25 on this graph", param.Values{"alpha": param.Of(3.0), "matrix": param.Of(adjacency)}},
		{"von-neumann", "alpha", "0 < α < 0.25 on this graph", param.Values{"alpha": param.Of(-3.0), "matrix": param.Of(adjacency)}},
		{"von-neumann", "alpha", "a finite α", param.Values{"alpha": param.Of(math.NaN()), "matrix": param.Of(adjacency)}},
		{"regularized-laplacian", "alpha", "α > 0", param.Values{"laplacian": param.Of(combinatorial), "alpha": param.Of(math.Inf(1))}},
		{"regularized-laplacian", "alpha", "0 < α ≤ 5.6295e+14 on this graph", param.Values{"laplacian": param.Of(combinatorial), "alpha": param.Of(1e20)}},
		{"regularized-commute-time", "alpha", "0 < α < 1", param.Values{"alpha": param.Of(1.0)}},
		{"pseudo-inverse", "laplacian", "give normalized or combinatorial", param.Values{"laplacian": param.Of(randomWalk)}},
		{"p-step", "shift", "a ≥ 2", param.Values{"shift": param.Of(1.0), "steps": param.Of(1)}},
		{"p-step", "shift", "up to 1e+152", param.Values{"shift": param.Of(1e300)}},
		{"p-step", "steps", "1 to 504", param.Values{"steps": param.Of(505)}},
		{"p-step", "steps", "1 to 318", param.Values{"shift": param.Of(3.0), "steps": param.Of(547)}},
		{"matern", "nu", "ν > 0", param.Values{"laplacian": param.Of(combinatorial), "nu": param.Of(-1.0), "kappa": param.Of(1.0)}},
		{"matern", "kappa", "κ > 0", param.Values{"laplacian": param.Of(combinatorial), "nu": param.Of(1.0), "kappa": param.Of(-2.0)}},
		{"matern", "kappa", "with ν = 300 takes 13.6", param.Values{"laplacian": param.Of(combinatorial), "nu": param.Of(300.0), "kappa": param.Of(1e3)}},
		{"matern", "kappa", "with ν = 300 takes 13.6", param.Values{"laplacian": param.Of(combinatorial), "nu": param.Of(300.0), "kappa": param.Of(1e-3)}},
		{"matern", "kappa", "with ν = 1 takes κ ≤ 3.35544e+07 on this graph", param.Values{"laplacian": param.Of(combinatorial), "nu": param.Of(1.0), "kappa": param.Of(1e8)}},
		{"modularity", "rank", "1 to 5", param.Values{"rank": param.Of(6)}},
		{"modularity", "resolution", "γ > 0", param.Values{"resolution": param.Of(-1.0)}},
		{"modularity", "resolution", "0 < γ ≤ 4.5036e+15 on this graph", param.Values{"resolution": param.Of(1e17)}},
		{"pagerank", "alpha", "0 < α < 1", param.Values{"alpha": param.Of(1.5)}},
		{"heat-pagerank", "beta", "β > 0", param.Values{"beta": param.Of(-3.0)}},
	} {
		_, err := New(background, g, c.name, c.p)
		var e *param.ParameterError
		if !errors.As(err, &e) {
			t.Errorf("%s %v: %v", c.name, c.p, err)
			continue
		}
		if e.Parameter != c.parameter || !strings.Contains(e.What, c.says) {
			t.Errorf("%s %v: %s, want %s: … %s …", c.name, c.p, e, c.parameter, c.says)
		}
	}
	// Just inside the range.
	mustNew(t, g, "von-neumann", param.Values{"alpha": param.Of(0.2499999), "matrix": param.Of(adjacency)})
	for _, name := range []string{"von-neumann", "pagerank", "regularized-commute-time"} {
		k := mustNew(t, g, name, param.Values{"alpha": param.Of(1 - 0x1p-47)})
		if _, _, err := Matrix(background, k, upTo(5), upTo(5), nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	k := mustNew(t, g, "diffusion", param.Values{"laplacian": param.Of(combinatorial), "beta": param.Of(1.0)})
	for _, tolerance := range []float64{-1, 1, math.NaN()} {
		if _, _, err := gramOf(background, k, []int{0}, &Settings{Tolerance: tolerance}); !errors.As(err, new(*param.ParameterError)) {
			t.Errorf("tolerance %v: %v", tolerance, err)
		}
	}
	// An error may name no tolerance.
	_, _, err := gramOf(background, mustNew(t, newGraph(t, graphOf(t, 5, edge{0, 1, 1e12}, edge{1, 2, 1e-8}, edge{2, 3, 1e3}, edge{3, 4, 1e-12}), 1), "matern", param.Values{"laplacian": param.Of(randomWalk), "nu": param.Of(2.5), "kappa": param.Of(1e5)}), upTo(5), &Settings{Tolerance: 0.5})
	if !errors.Is(err, ErrTolerance) || !strings.Contains(err.Error(), "asked for 0.5 where no digit can be promised; take parameters") {
		t.Error(err)
	}
	for _, c := range symmetricKernels {
		if c.name == "modularity" {
			continue // is 0 on a complete graph
		}
		k := mustNew(t, g, c.name, c.p)
		if _, _, err := gramOf(background, k, upTo(5), &Settings{Tolerance: 1e-17}); !errors.Is(err, ErrTolerance) {
			t.Errorf("%s: tolerance 1e-17: %v", c.name, err)
		}
		_, r, err := gramOf(background, k, upTo(5), &Settings{Tolerance: 1e-17, Lenient: true})
		if err != nil || !(r.ErrorBound > 1e-17*r.Largest) || r.ErrorBound > 1e-6*r.Largest {
			t.Errorf("%s: 1e-17 as an aim: %v, report %+v", c.name, err, r)
		}
	}
}

func TestCancel(t *testing.T) {
	g := newGraph(t, testgraph.Random(13, 2000, 8000, false), 2)
	for _, c := range slices.Concat(symmetricKernels, others) {
		ctx, cancel := context.WithCancel(background)
		k := mustNew(t, g, c.name, c.p)
		cancel()
		if _, _, err := Matrix(ctx, k, upTo(100), upTo(100), nil); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestSinkError(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	g := newGraph(t, testgraph.Random(14, 200, 800, false), 2)
	full := errors.New("full")
	for _, c := range slices.Concat(symmetricKernels, others) {
		k := mustNew(t, g, c.name, c.p)
		for _, cols := range [][]int{upTo(150), upTo(149)} {
			calls := 0
			_, err := Block(background, k, upTo(150), cols, func(int, int, *sparse.Block[float64]) error { calls++; return full }, nil)
			if !errors.Is(err, full) || calls != 1 {
				t.Errorf("%s: %v after %d calls", c.name, err, calls)
			}
		}
	}
}

func TestPanics(t *testing.T) {
	g := newGraph(t, testgraph.Complete(4), 1)
	k := mustNew(t, g, "diffusion", param.Values{"laplacian": param.Of(combinatorial), "beta": param.Of(1.0)})
	x := sparse.NewBlock[float64](4, 2)
	for want, f := range map[string]func(){
		badNode:    func() { _, _, _ = Matrix(background, k, []int{4}, []int{4}, nil) },
		badShape:   func() { _, _, _ = Matrix(background, k, nil, nil, nil) },
		badOverlap: func() { _, _ = k.ApplyTo(background, x, x, nil) },
	} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("panic %v, want %s", got, want)
				}
			}()
			f()
		}()
	}
	runtime.KeepAlive(x)
}

func TestNoNodes(t *testing.T) {
	a, err := sparse.NewCSR(0, 0, []int64{0}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	g := newGraph(t, a, 1)
	for _, f := range Families() {
		if k, err := New(background, g, f.Name, nil); err == nil || !strings.Contains(err.Error(), "no nodes") {
			t.Errorf("%s: %v, %v", f.Name, k, err)
		}
	}
}

func TestDistanceIsNoMap(t *testing.T) {
	k := mustNew(t, newGraph(t, testgraph.Complete(4), 1), "commute-time", param.Values{})
	x, y := sparse.NewBlock[float64](4, 1), sparse.NewBlock[float64](4, 1)
	if _, err := k.ApplyTo(background, y, x, nil); !errors.Is(err, ErrDistance) {
		t.Error(err)
	}
}

func TestAsymmetricDoors(t *testing.T) {
	const n = 400
	ring := func(slip int) *graph.Graph {
		a := sparse.NewComputed(n, n, func(i int) int {
			if i == slip {
				return 1
			}
			return 2
		}, func(i int, col []uint32, val []float64) {
			ends := []uint32{uint32((i + 1) % n), uint32((i + n - 1) % n)}
			copy(col, ends)
			slices.Sort(col)
			for e := range val {
				val[e] = 1
			}
		})
		g, err := graph.New(background, a, nil)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	block := func() *sparse.Block[float64] { return sparse.BlockOf(n, 1, slices.Repeat([]float64{1}, n)) }
	function := func(m *expm.Map, err error) error {
		if err == nil {
			_, err = m.ApplyTo(background, []*sparse.Block[float64]{block()}, block(), []expm.Function{expm.Exp(-0.5)}, nil)
		}
		return err
	}
	for name, door := range map[string]func(g *graph.Graph) error{
		"Laplacian": func(g *graph.Graph) error { return function(expm.New(background, g, sparse.Laplacian)) },
		"adjacency": func(g *graph.Graph) error { return function(expm.New(background, g, sparse.Adjacency)) },
		"bounded": func(g *graph.Graph) error {
			return function(expm.NewBounded(&sparse.Operator[float64]{A: g.A}, -2, 2, 1))
		},
		"eigenpairs": func(g *graph.Graph) error {
			_, err := (&lanczos.Problem{A: &sparse.Operator[float64]{A: g.A}}).Solve(background, 1, nil)
			return err
		},
		"solve": func(g *graph.Graph) error {
			s, err := iterative.ShiftedLaplacian(g, false, 1, 1)
			if err == nil {
				_, err = s.SolveTo(background, block(), block(), nil)
			}
			return err
		},
		"elimination": func(g *graph.Graph) error {
			s, err := iterative.VonNeumann(g, true, 0.5)
			if err == nil {
				_, err = s.EliminateTo(background, block(), block())
			}
			return err
		},
		"factor": func(g *graph.Graph) error {
			s, err := iterative.ShiftedLaplacian(g, true, 1, 1)
			if err == nil {
				_, _, err = s.Preconditioner(background)
			}
			return err
		},
		"harmonic":  func(g *graph.Graph) error { _, err := iterative.Harmonic(background, g, []int{0}); return err },
		"p-step":    func(g *graph.Graph) error { _, err := New(background, g, "p-step", nil); return err },
		"diffusion": func(g *graph.Graph) error { _, err := New(background, g, "diffusion", nil); return err },
		"elimination of the Laplacian": func(g *graph.Graph) error {
			s, err := iterative.ShiftedLaplacian(g, false, 1, 1)
			if err == nil {
				_, err = s.EliminateTo(background, block(), block())
			}
			return err
		},
		"factor of the Laplacian": func(g *graph.Graph) error {
			s, err := iterative.ShiftedLaplacian(g, false, 1, 1)
			if err == nil {
				_, _, err = s.Preconditioner(background)
			}
			return err
		},
	} {
		if err := door(ring(-1)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := door(ring(7)); !errors.Is(err, ErrAsymmetric) {
			t.Errorf("%s of an asymmetric matrix: %v", name, err)
		}
	}
}
