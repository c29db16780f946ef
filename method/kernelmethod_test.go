package method

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/kernels"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/test/contract"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func predictBy(t *testing.T, name string, p *engine.Problem, s *engine.Settings) *engine.Prediction {
	t.Helper()
	methods, err := parseMethods(name)
	if err != nil {
		t.Fatal(err)
	}
	out, err := methods[0].Predict(context.Background(), p, nil, s)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return out
}

func TestKernelMethodAgainstWholeKernel(t *testing.T) {
	for _, name := range []string{"karate", "wrand60", "sbm300"} {
		p := contract.Golden(t, name)
		set := &engine.Settings{Fixed: true, Given: param.Values{"cost": param.Of(10.0), "beta": param.Of(3.0), "laplacian": param.Of("normalized")}}
		out := predictBy(t, "diffusion", p, set)

		on, err := graph.New(context.Background(), p.A, &graph.Settings{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		k, err := kernel.New(context.Background(), on, "diffusion", kernel.Families().Named("diffusion").Own(set.Given))
		if err != nil {
			t.Fatal(err)
		}
		n, _ := p.A.Dims()
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		whole, _, err := kernel.Matrix(context.Background(), k, all, all, nil)
		if err != nil {
			t.Fatal(err)
		}
		y := make([]int, n)
		for i := range y {
			y[i] = -1
		}
		for i, row := range p.Row {
			y[row] = p.Class[i]
		}
		svm := &classify.SVM{Cost: 10}
		model, err := svm.Fit(context.Background(), classify.DenseGram(whole), y, len(p.Names))
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if !out.Reached.Contains(uint32(i)) || y[i] >= 0 {
				continue
			}
			decisions := model.ScoresTo(nil, whole.Row(i), 0)
			scores := classify.SoftVotes(make([]float64, len(p.Names)), model.Pairs, decisions, choose.VoteSlope)
			for m, pair := range model.Pairs { // soft votes, below 1, break ties
				if decisions[m] > 0 {
					scores[pair.Positive]++
				} else {
					scores[pair.Negative]++
				}
			}
			want := classify.ArgMax(scores)
			if c := out.Class[i]; c != want && scores[c] < scores[want]-1e-6 {
				t.Errorf("%s: node %d is of class %d, with the whole kernel %d: %v", name, i, c, want, scores)
			}
		}
		if want := "diffusion, normalized, beta = 3, cost = 10, class-weights equal, strategy one-vs-one, svm-tolerance = 0.001"; out.Parameters.String() != want || out.Settings != 1 {
			t.Errorf("%s: %v of %d", name, out.Parameters, out.Settings)
		}
	}
}

func TestKernelMethods(t *testing.T) {
	if testing.Short() {
		t.Skip("all kernels on all their parameters")
	}
	g := testgraph.Load(t, "sbm300")
	p := contract.Golden(t, "sbm300")
	names := methodNames()
	for turn, family := range kernel.Families() {
		of := family.Name
		if of == "commute-time" {
			continue // a distance
		}
		for i, name := range []string{of, of + "+rls"} {
			if !slices.Contains(names, name) {
				t.Errorf("no method %s", name)
				continue
			}
			grid := map[string][]param.Value{"cost": param.Grid(0.5, 8, 128)}
			out := predictBy(t, name, p, &engine.Settings{Lists: grid, Workers: 1})
			if (turn+i)%2 == 0 || testgraph.Hunt {
				again := predictBy(t, strings.Replace(name+"+svm", "+rls+svm", "+rls", 1), p, &engine.Settings{Lists: grid, Workers: 7})
				if !slices.Equal(out.Scores.Data, again.Scores.Data) || out.Parameters.String() != again.Parameters.String() {
					t.Errorf("%s: other results with 7 workers", name)
				}
			}
			right := 0
			for i, c := range out.Class {
				if c == g.Labels[i] {
					right++
				}
			}
			t.Logf("%s: %d of %d right; %v of %d", name, right, len(out.Class), out.Parameters, out.Settings)
			least := 0.6
			if len(family.Params) == 0 {
				least = 0.35 // it may reach few nodes; chance is 0.25
			}
			if share := float64(right) / float64(len(out.Class)); share < least {
				t.Errorf("%s: %.2f right with %v", name, share, out.Parameters)
			}
			if out.Tested != len(p.Row) || out.Parameters.Kernel.Spec.Name != of {
				t.Errorf("%s: %d tested, %v", name, out.Tested, out.Parameters)
			}
			if v, rls := out.Parameters.Declared.Values, name != of; rls != v.Has("lambda") || rls == v.Has("cost") {
				t.Errorf("%s: %v", name, out.Parameters)
			}
		}
	}
}

func TestKernelMethodErrors(t *testing.T) {
	p := contract.Golden(t, "karate")
	m, err := parseMethods("von-neumann")
	if err != nil {
		t.Fatal(err)
	}
	_, err = m[0].Predict(context.Background(), p, nil, &engine.Settings{Given: param.Values{"alpha": param.Of(2.0)}})
	if !errors.As(err, new(*param.ParameterError)) {
		t.Error(err)
	}
	directed := *p
	directed.Directed = true
	if _, err := m[0].Predict(context.Background(), &directed, nil, nil); !errors.Is(err, problem.ErrDirected) {
		t.Error(err)
	}
	if m, err = parseMethods("diffusion"); err != nil {
		t.Fatal(err)
	}
	_, err = m[0].Predict(context.Background(), p, nil, &engine.Settings{Given: param.Values{"laplacian": param.Of("random-walk")}})
	if !errors.Is(err, choose.ErrUsage) || !strings.Contains(err.Error(), "not symmetric") {
		t.Error(err)
	}
	for _, name := range []string{"diffusion", "diffusion+rls", "diffusion+logistic"} {
		if m, err = parseMethods(name); err != nil {
			t.Fatal(err)
		}
		if _, err := m[0].Predict(context.Background(), p, nil, &engine.Settings{Memory: 20_000}); !errors.Is(err, budget.ErrMemory) {
			t.Errorf("%s within a limit that blocks to choose from exceed: %v", name, err)
		}
	}
}

// The kernels L⁺ and modularity do not fall with the distance, and kernels without parameters may not reach far.
func TestKernelsWithTwoLabels(t *testing.T) {
	const n, second = 13, 5
	p := contract.Path(t, n, false)
	p.Row[1] = second
	ctx := context.Background()
	on, err := graph.New(ctx, p.A, &graph.Settings{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range kernels.Engines() {
		if m.HasRaw { // its learner has no path
			continue
		}
		f := kernel.Families().Named(m.Specs[0].Name)
		of := f.Name
		got, err := m.Predict(ctx, p, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		form := param.Values{}
		for _, p := range f.Params {
			if len(p.Grid) == 1 && p.On == nil {
				form[p.Name] = p.Grid[0]
			}
		}
		want, err := f.Resolve(form, kernel.On(ctx, on))
		if err != nil {
			t.Fatal(err)
		}
		own := got.Parameters.Declared.Values
		hasUsual := own["cost"] == param.Of(0.5) || own["lambda"] == param.Of(0.1)
		if text := f.Text(want); got.Tested != 0 || got.Settings != 1 || f.Text(got.Parameters.Kernel.Values) != text || hasUsual { // usual values are for a mean diagonal of 1
			t.Errorf("%s: %d tested, %d settings, %v, want %s", m.Name, got.Tested, got.Settings, got.Parameters, text)
		}
		for i, c := range got.Class {
			if near := i > second/2; (c == 1) != near && of != "modularity" && of != "pseudo-inverse" && len(f.Params) > 0 {
				t.Errorf("%s: node %d is of class %d, %v", m.Name, i, c, got.Parameters)
			}
		}
	}
}

// TestGridOfAdjacency tests that the grid is relative to the largest eigenvalue of the adjacency matrix.
func TestGridOfAdjacency(t *testing.T) {
	p := contract.Golden(t, "karate")
	ctx := context.Background()
	g, err := graph.New(ctx, p.A, &graph.Settings{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	radius, err := kernel.On(ctx, g).Radius(true)
	if err != nil {
		t.Fatal(err)
	}
	got, err := methodOf(t, "von-neumann").Predict(ctx, p, nil, &engine.Settings{Given: param.Values{"matrix": param.Of("adjacency")}})
	if err != nil {
		t.Fatal(err)
	}
	share := got.Parameters.Kernel.Values.Number("alpha") * radius
	if !slices.ContainsFunc(kernel.Families().Named("von-neumann").Param("alpha").Grid, func(x param.Value) bool {
		tried := param.Values{"": x}.Number("")
		return math.Abs(share-tried) < 0.01*tried && (tried < 0.9 || math.Abs(share-tried) < 1e-12)
	}) {
		t.Errorf("%v is %v of what there is, none of the shares to try", got.Parameters, share)
	}
}
