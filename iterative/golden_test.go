package iterative

import (
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func graphOf(t testing.TB, a sparse.Matrix) *graph.Graph {
	t.Helper()
	g, err := graph.New(ctx, a, &graph.Settings{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func identity(n int, rows []int) *sparse.Block[float64] {
	b := sparse.NewBlock[float64](n, len(rows))
	for j, i := range rows {
		b.Row(i)[j] = 1
	}
	return b
}

func transposed(b *sparse.Block[float64]) *sparse.Block[float64] {
	t := sparse.NewBlock[float64](b.Cols, b.Rows)
	for i := range b.Rows {
		for j, v := range b.Row(i) {
			t.Row(j)[i] = v
		}
	}
	return t
}

func oneHot(g testgraph.Graph) *sparse.Block[float64] {
	y := sparse.NewBlock[float64](len(g.Nodes), len(g.Classes))
	for i, row := range g.Train {
		y.Row(row)[g.TrainClass[i]] = 1
	}
	return y
}

// goldenSystems are the systems whose inverses the files hold.
var goldenSystems = []struct {
	files string
	make  func(g *graph.Graph) (*System, error)
}{
	{"vonneumann_S_a0.1", func(g *graph.Graph) (*System, error) { return VonNeumann(g, true, 0.1) }},
	{"vonneumann_S_a0.5", func(g *graph.Graph) (*System, error) { return VonNeumann(g, true, 0.5) }},
	{"vonneumann_S_a0.9", func(g *graph.Graph) (*System, error) { return VonNeumann(g, true, 0.9) }},
	{"vonneumann_S_a0.99", func(g *graph.Graph) (*System, error) { return VonNeumann(g, true, 0.99) }},
	{"reglap_L_a0.1", func(g *graph.Graph) (*System, error) { return ShiftedLaplacian(g, false, 0.1, 1) }},
	{"reglap_L_a1.0", func(g *graph.Graph) (*System, error) { return ShiftedLaplacian(g, false, 1, 1) }},
	{"reglap_L_a10.0", func(g *graph.Graph) (*System, error) { return ShiftedLaplacian(g, false, 10, 1) }},
	{"reglap_L_a1000.0", func(g *graph.Graph) (*System, error) { return ShiftedLaplacian(g, false, 1000, 1) }},
	{"reglap_Lnorm_a0.1", func(g *graph.Graph) (*System, error) { return ShiftedLaplacian(g, true, 0.1, 1) }},
	{"reglap_Lnorm_a1.0", func(g *graph.Graph) (*System, error) { return ShiftedLaplacian(g, true, 1, 1) }},
	{"reglap_Lnorm_a10.0", func(g *graph.Graph) (*System, error) { return ShiftedLaplacian(g, true, 10, 1) }},
	{"reglap_Lnorm_a1000.0", func(g *graph.Graph) (*System, error) { return ShiftedLaplacian(g, true, 1000, 1) }},
	{"Lplus", func(g *graph.Graph) (*System, error) { return ShiftedLaplacian(g, false, 1, 0) }},
	{"Lnormplus", func(g *graph.Graph) (*System, error) { return ShiftedLaplacian(g, true, 1, 0) }},
	{"regcommute_a0.5", func(g *graph.Graph) (*System, error) { return VonNeumann(g, false, 0.5) }},
	{"regcommute_a0.9", func(g *graph.Graph) (*System, error) { return VonNeumann(g, false, 0.9) }},
}

func TestGoldenSystems(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	only := map[string][]string{
		"sbm300": {"vonneumann_S_a0.9", "reglap_L_a10.0", "reglap_Lnorm_a10.0", "Lplus", "Lnormplus", "regcommute_a0.9"},
	}
	for _, name := range []string{"karate", "wrand60", "sbm300"} {
		graph := testgraph.Load(t, name)
		g := graphOf(t, graph.A)
		n := len(graph.Nodes)
		rows := make([]int, n)
		for i := range rows {
			rows[i] = i
		}
		if name == "sbm300" {
			rows = graph.Train
		}
		for _, c := range goldenSystems {
			if list := only[name]; list != nil && !slices.Contains(list, c.files) {
				continue
			}
			want := testgraph.Golden(t, name+"/"+c.files+".npy")
			s, err := c.make(g)
			if err != nil {
				t.Fatal(err)
			}
			x, b := sparse.NewBlock[float64](n, len(rows)), identity(n, rows)
			for _, way := range []string{"ladder", "factor"} {
				if way == "factor" {
					s.prepare()
					if s.cg.Precond, err = s.anyFactor(ctx); err != nil {
						t.Fatal(err)
					}
					_, err = s.cg.SolveTo(ctx, x, b, &Settings{Tolerance: 1e-12})
				} else {
					_, err = s.SolveTo(ctx, x, b, &Settings{Tolerance: 1e-12})
				}
				if err != nil {
					t.Errorf("%s/%s by %s: %v", name, c.files, way, err)
				}
				testgraph.Close(t, transposed(x), want, 1e-10, 1e-9)
			}
		}
	}
}

func TestGoldenProducts(t *testing.T) {
	graph := testgraph.Load(t, "sbm300")
	g, b := graphOf(t, graph.A), testgraph.Golden(t, "sbm300/B.npy")
	for file, make := range map[string]func() (*System, error){
		"vonneumann_B_a0.5":  func() (*System, error) { return VonNeumann(g, true, 0.5) },
		"vonneumann_B_a0.99": func() (*System, error) { return VonNeumann(g, true, 0.99) },
		"reglap_B_a1.0":      func() (*System, error) { return ShiftedLaplacian(g, true, 1, 1) },
		"reglap_B_a100.0":    func() (*System, error) { return ShiftedLaplacian(g, true, 100, 1) },
		"Lplus_B":            func() (*System, error) { return ShiftedLaplacian(g, false, 1, 0) },
		"Lnormplus_B":        func() (*System, error) { return ShiftedLaplacian(g, true, 1, 0) },
	} {
		s, err := make()
		if err != nil {
			t.Fatal(err)
		}
		x := sparse.NewBlock[float64](b.Rows, b.Cols)
		if _, err := s.SolveTo(ctx, x, b, &Settings{Tolerance: 1e-12}); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		testgraph.Close(t, x, testgraph.Golden(t, "sbm300/"+file+".npy"), 1e-10, 1e-9)
	}
}

func TestGoldenHarmonic(t *testing.T) {
	for _, name := range []string{"karate", "wrand60", "sbm300"} {
		graph := testgraph.Load(t, name)
		want := testgraph.Golden(t, name+"/lp_harmonic.npy")
		start := func() *sparse.Block[float64] {
			f := oneHot(graph)
			for i := range f.Rows {
				if !slices.Contains(graph.Train, i) {
					for j := range f.Row(i) {
						f.Row(i)[j] = 1 / float64(f.Cols)
					}
				}
			}
			return f
		}
		f := start()
		h, err := Harmonic(ctx, graphOf(t, graph.A), graph.Train)
		if err != nil {
			t.Fatal(name, err)
		}
		if _, err := h.SolveTo(ctx, f, nil, &Settings{Tolerance: 1e-13}); err != nil {
			t.Fatal(name, err)
		}
		testgraph.Close(t, f, want, 1e-10, 1e-9)
	}
}
