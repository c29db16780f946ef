package propagate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"go.uber.org/goleak"
	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func graphOf(t *testing.T, a sparse.Matrix, workers int) *graph.Graph {
	t.Helper()
	g, err := graph.New(t.Context(), a, &graph.Settings{Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func scores(t *testing.T, l *Learner, g *graph.Graph, groups []cwk.Seeds, given param.Values, s *Settings) *sparse.Block[float64] {
	t.Helper()
	v, err := l.Resolve(given, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := sparse.NewBlock[float64](len(g.Degrees), len(groups)*groups[0].Classes)
	if _, err := l.ScoresTo(context.Background(), f, g, groups, v, s); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestLGCGolden(t *testing.T) {
	for _, c := range []struct {
		graph  string
		alphas []float64
	}{{"karate", []float64{0.1, 0.5, 0.9, 0.99}}, {"wrand60", []float64{0.1, 0.5, 0.9, 0.99}}, {"sbm300", []float64{0.5, 0.99}}} {
		g := testgraph.Load(t, c.graph)
		seeds := cwk.Seeds{Row: g.Train, Class: g.TrainClass, Classes: len(g.Classes)}
		for _, alpha := range c.alphas {
			want := testgraph.Golden(t, fmt.Sprintf("%s/lgc_a%v.npy", c.graph, alpha))
			got := scores(t, &lgc, graphOf(t, g.A, 0), []cwk.Seeds{seeds}, param.Values{"alpha": param.Of(alpha)}, nil)
			for i := range want.Rows {
				for j, w := range want.Row(i) {
					if d := math.Abs(got.Row(i)[j] - w); d > 1e-10+1e-9*math.Abs(w) {
						t.Fatalf("%s, α = %v: row %d, column %d is %v, want %v", c.graph, alpha, i, j, got.Row(i)[j], w)
					}
				}
			}
		}
	}
}

func TestPoissonAgainstDense(t *testing.T) {
	p := testgraph.Planted(t, 3, 60, 14)
	seeds := cwk.Seeds{Row: p.Row, Class: p.Class, Classes: len(p.Names)}
	g := graphOf(t, p.A, 0)
	got := scores(t, &poisson, g, []cwk.Seeds{seeds}, nil, nil)
	for part := range g.Components.Sizes {
		var rows []int
		for i, of := range g.Components.Of {
			if int(of) == part {
				rows = append(rows, i)
			}
		}
		shares, labels := make([]float64, seeds.Classes), 0.0
		for i, row := range p.Row {
			if slices.Contains(rows, row) {
				shares[p.Class[i]]++
				labels++
			}
		}
		m := len(rows)
		l, y := mat.NewDense(m+1, m, nil), mat.NewDense(m+1, seeds.Classes, nil)
		for a, i := range rows {
			for b, j := range rows {
				w := p.A.At(i, j)
				l.Set(a, b, l.At(a, b)-w)
				l.Set(a, a, l.At(a, a)+w)
			}
			l.Set(m, a, p.Degrees[i]) // Σ d·F = 0
			if at := slices.Index(p.Row, i); at >= 0 {
				for c := range shares {
					y.Set(a, c, -shares[c]/labels)
				}
				y.Set(a, p.Class[at], y.At(a, p.Class[at])+1)
			}
		}
		want := mat.NewDense(m, seeds.Classes, nil)
		switch agreed := slices.Index(shares, labels); {
		case labels == 0:
		case agreed >= 0:
			for a := range rows {
				want.Set(a, agreed, 1)
			}
		default:
			if err := want.Solve(l, y); err != nil {
				t.Fatal(err)
			}
		}
		for a, i := range rows {
			for c := range shares {
				if d := math.Abs(got.Row(i)[c] - want.At(a, c)); d > 1e-9 {
					t.Fatalf("component %d, node %d, class %d: %v, want %v", part, i, c, got.Row(i)[c], want.At(a, c))
				}
			}
		}
	}
}

// Memory limits cut the columns into groups.
func TestSameBits(t *testing.T) {
	p := testgraph.Planted(t, 5, 400, 40)
	whole := cwk.Seeds{Row: p.Row, Class: p.Class, Classes: len(p.Names)}
	half := cwk.Seeds{Row: p.Row[:20], Class: p.Class[:20], Classes: len(p.Names)}
	for _, l := range Learners() {
		given := param.Values{}
		if l.Param("rounds") != nil {
			given["rounds"] = param.Of(3)
		}
		want := scores(t, l, graphOf(t, p.A, 1), []cwk.Seeds{whole, half}, given, nil)
		v, err := l.Resolve(given, nil)
		if err != nil {
			t.Fatal(err)
		}
		least := l.Declare(400, p.A.NNZ(), 1, whole.Classes, v).Required(0)
		for turn, memory := range []int64{0, least, 2 * least} {
			for _, workers := range testgraph.Workers(turn) {
				g := graphOf(t, p.A, workers)
				got := scores(t, l, g, []cwk.Seeds{whole, half}, given, &Settings{Memory: memory})
				if !slices.Equal(got.Data, want.Data) {
					t.Errorf("%s: other bits with %d workers and %d bytes", l.Name, workers, memory)
				}
			}
		}
		alone := scores(t, l, graphOf(t, p.A, 2), []cwk.Seeds{half}, given, nil)
		for i := range alone.Rows {
			if !slices.Equal(alone.Row(i), want.Row(i)[whole.Classes:]) {
				t.Fatalf("%s: another group beside it changes row %d", l.Name, i)
			}
		}
		if _, err := l.ScoresTo(context.Background(), sparse.NewBlock[float64](400, 3), graphOf(t, p.A, 1), []cwk.Seeds{whole}, v, &Settings{Memory: least - 1}); err == nil {
			t.Errorf("%s: %d bytes are too few for a column, and there is no error", l.Name, least-1)
		}
	}
}

// The limit of a factor is the memory that the blocks leave. The factor of a path, which every solve makes, is declared.
func TestFactorBesideBlocks(t *testing.T) {
	const n = 2000
	a := testgraph.Ladder(n)
	seeds := cwk.Seeds{Row: []int{0, n - 1}, Class: []int{0, 1}, Classes: 2}
	solve := func(memory int64) error {
		_, err := poisson.ScoresTo(t.Context(), sparse.NewBlock[float64](n, 2), graphOf(t, a, 1), []cwk.Seeds{seeds}, nil, &Settings{Memory: memory, Tolerance: 1e-6})
		return err
	}
	space := poisson.Declare(n, a.NNZ(), 2, 2, nil)
	if err := solve(space.Most(0)); err != nil {
		t.Errorf("where a factor fits beside the blocks: %v", err)
	}
	if err := solve(space.Required(1)); !errors.Is(err, budget.ErrMemory) {
		t.Errorf("where the blocks alone fit: %v", err)
	}
	a = testgraph.Path(n)
	if err := solve(poisson.Declare(n, a.NNZ(), 2, 2, nil).Required(1)); err != nil {
		t.Errorf("a path: %v", err)
	}
}

func TestProbabilities(t *testing.T) {
	shares := []float64{0.5, 0.25, 0.25}
	sharp := make([]float64, 2)
	poisson.Probabilities(sharp, []float64{0.3, 0.1}, nil, 0.2)
	if want := 1 / (1 + math.Exp(-2)); math.Abs(sharp[0]-want) > 1e-15 { // e³ and e, of twice the scores over the scale
		t.Errorf("poisson: %v, want %v", sharp[0], want)
	}
	p := make([]float64, 3)
	poisson.Probabilities(p, []float64{0.1, 0.4, 0}, shares, 0.2)
	if sum := p[0] + p[1] + p[2]; math.Abs(sum-1) > 1e-15 || !(p[1] > p[0] && p[0] > p[2]) {
		t.Errorf("%v", p)
	}
	poisson.Probabilities(p, make([]float64, 3), shares, 0.2)
	if !slices.Equal(p, shares) {
		t.Errorf("%v where nothing is known, want %v", p, shares)
	}
}
