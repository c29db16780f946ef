package method

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func goldenProblem(t *testing.T, name string) *engine.Problem {
	t.Helper()
	g := testgraph.Load(t, name)
	return &engine.Problem{Graph: &graph.Graph{A: g.A, Degrees: g.Degrees}, Row: g.Train, Class: g.TrainClass, Names: g.Classes}
}

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

// Matrix-free predictions are those of a machine on the whole kernel: the
// classes that its votes choose, where they choose one.
func TestKernelMethodAgainstWholeKernel(t *testing.T) {
	for _, name := range []string{"karate", "wrand60", "sbm300"} {
		p := goldenProblem(t, name)
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
		y, trace := make([]int, n), 0.0
		for i := range y {
			y[i] = -1
		}
		for i, row := range p.Row {
			y[row] = p.Class[i]
			trace += whole.Row(row)[row]
		}
		blocks.Scale(whole, float64(len(p.Row))/trace)
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
		if want := "diffusion, normalized, β = 3, C = 10, class-weights equal, strategy one-vs-one, tolerance = 0.001"; out.Parameters.String() != want || out.Settings != 1 {
			t.Errorf("%s: %v of %d", name, out.Parameters, out.Settings)
		}
	}
}

// Every kernel's method learns the blocks of a graph that has them, with
// parameters of its own choice, and the same for any number of workers.
func TestKernelMethods(t *testing.T) {
	if testing.Short() {
		t.Skip("all kernels on all their parameters")
	}
	g := testgraph.Load(t, "sbm300")
	p := goldenProblem(t, "sbm300")
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
	p := goldenProblem(t, "karate")
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

// Where labels are too few to try anything, a kernel has its defaults, and of
// two labels on a path the nearest one wins, as far as the kernel reaches. That
// of L⁺ and of modularity is no matter of distance, and one without parameters may not reach far.
func TestKernelsWithTwoLabels(t *testing.T) {
	const n, second = 13, 5
	p := pathGraph(t, n)
	p.Row[1] = second
	ctx := context.Background()
	on, err := graph.New(ctx, p.A, &graph.Settings{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range kernelMethods() {
		if m.HasRaw { // whose learner has no path
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
		if text := f.Text(want); got.Tested != 0 || got.Settings != 1 || f.Text(got.Parameters.Kernel.Values) != text || own["cost"] != param.Of(0.5) && own["lambda"] != param.Of(0.1) {
			t.Errorf("%s: %d tested, %d settings, %v, want %s", m.Name, got.Tested, got.Settings, got.Parameters, text)
		}
		for i, c := range got.Class {
			if near := i > second/2; (c == 1) != near && of != "modularity" && of != "pseudo-inverse" && len(f.Params) > 0 {
				t.Errorf("%s: node %d is of class %d, %v", m.Name, i, c, got.Parameters)
			}
		}
	}
}

// TestGridOfAdjacency tests that the grid on the adjacency matrix is relative to its largest eigenvalue.
func TestGridOfAdjacency(t *testing.T) {
	p := goldenProblem(t, "karate")
	ctx := context.Background()
	g, err := graph.New(ctx, p.A, &graph.Settings{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	radius, err := kernel.On(ctx, g).Radius(true)
	if err != nil {
		t.Fatal(err)
	}
	got, err := kernelMethod{kernel.Families().Named("von-neumann"), classify.Learners()[0]}.engine().Predict(ctx, p, nil, &engine.Settings{Given: param.Values{"matrix": param.Of("adjacency")}})
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

func TestKernelParametersAsText(t *testing.T) {
	p := engine.Parameters{Kernel: &engine.Setting{Spec: &kernel.Families().Named("diffusion").Spec, Values: param.Values{"laplacian": param.Of("normalized"), "beta": param.Of(2.0)}}, Declared: costOf(8)}
	if got := p.String(); got != "diffusion, normalized, β = 2, C = 8" {
		t.Error(got)
	}
	text, err := json.Marshal(p)
	if want := `{"beta":2,"cost":8,"kernel":"diffusion","laplacian":"normalized"}`; err != nil || string(text) != want {
		t.Errorf("%s %v", text, err)
	}
	p = walkWith(onWalk(0.5, 3, 0, Plain), costOf(2))
	text, err = json.Marshal(p)
	if want := `{"alpha":0.5,"cost":2,"features":"plain","min_steps":0,"steps":3}`; err != nil || string(text) != want {
		t.Errorf("%s %v", text, err)
	}
}

// Least squares without a kernel block is that with one, and both are the dense
// solution.
func TestLeastSquaresWithoutBlock(t *testing.T) {
	p := goldenProblem(t, "sbm300")
	for _, name := range []string{"diffusion", "regularized-laplacian", "pagerank", "heat-pagerank", "p-step"} {
		by := learnerOf("rls")
		settings, weights := &engine.Settings{Given: param.Values{"lambda": param.Of(0.05)}}, slices.Repeat([]float64{1}, len(p.Names))
		if name == "pagerank" {
			settings.Given, weights = param.Values{"lambda": param.Of(0.05), "class-weights": param.Of("balanced")}, classify.BalancedWeights(p.Class, len(p.Names))
		}
		family := kernel.Families().Named(name)
		own := settings.WithDefaults()
		params, _, err := own.Grid(&family.Spec, family.Own(own.Given), kernel.OnDegrees(p.Degrees))
		if err != nil {
			t.Fatal(err)
		}
		par := &engine.Parameters{Kernel: &engine.Setting{Spec: &family.Spec, Values: params[4]}, Declared: &engine.Setting{Spec: engine.SpecOf(by), Values: nil}}
		r, err := kernelMethod{family, by}.newPredictor(t.Context(), p, par, settings)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.fitVotes(context.Background()); err != nil {
			t.Fatal(err)
		}
		gram := r.gram
		if err := r.learnItems(context.Background(), &engine.Choice{Parameters: r.Parameters(0, 0)}); err != nil {
			t.Fatal(err)
		}
		direct := r.fitted
		without := *by
		without.Solved = 0
		r.Learner = &without
		if err := r.learnItems(context.Background(), &engine.Choice{Parameters: r.Parameters(0, 0)}); err != nil {
			t.Fatal(err)
		}
		dense := mat.NewDense(gram.Rows, gram.Rows, nil)
		for i := range gram.Rows {
			dense.SetRow(i, gram.Row(i))
			dense.Set(i, i, dense.At(i, i)+0.05/weights[p.Class[i]])
		}
		targets := mat.NewDense(gram.Rows, len(p.Names), nil)
		targets.Apply(func(i, c int, _ float64) float64 {
			if p.Class[i] == c {
				return 1
			}
			return -1
		}, targets)
		var want mat.Dense
		if err := want.Solve(dense, targets); err != nil {
			t.Fatal(err)
		}
		// A residual of 1e-7·‖t‖ is an error of 1/λ times that, in addition to products that are
		// exact to 1e-10.
		tolerance := 3e-7 * math.Sqrt(float64(gram.Rows)) / 0.05 * slices.Max(weights)
		for m := range p.Names {
			for i, c := range r.fitted.Machines[m].Coef {
				if d := math.Abs(c - want.At(i, m)); !(d <= tolerance) {
					t.Fatalf("%s: coefficient %d of machine %d is %v, want %v", name, i, m, c, want.At(i, m))
				}
				if d := math.Abs(direct.Machines[m].Coef[i] - want.At(i, m)); !(d <= 1e-6) {
					t.Fatalf("%s: with the block, coefficient %d of machine %d is %v, want %v", name, i, m, direct.Machines[m].Coef[i], want.At(i, m))
				}
			}
		}
		if r.Out.Work.Sweeps == 0 {
			t.Errorf("%s: no work", name)
		}
	}
}

// graded is a kernel with the eigenvalues 1 … 1e-16.
type graded struct {
	kernel.Kernel
	nodes int
}

func (g graded) Len() int { return g.nodes }

func (graded) ApplyTo(_ context.Context, dst, x *sparse.Block[float64], _ *kernel.Settings) (*kernel.Report, error) {
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			dst.Row(i)[j] = math.Pow(1e-16, float64(i)/float64(x.Rows)) * v
		}
	}
	return &kernel.Report{Sweeps: 1}, nil
}

// A system that conjugate gradients do not solve is an error, not a machine.
func TestLeastSquaresGivenUp(t *testing.T) {
	p := *goldenProblem(t, "sbm300")
	p.Row, p.Class = nil, nil
	for i := range 300 {
		p.Row, p.Class = append(p.Row, i), append(p.Class, i%2)
	}
	set := new(engine.Settings).WithDefaults()
	r := &kernelPredictor{
		Job: &engine.Job{Problem: &p, Settings: &set, Out: &engine.Prediction{}, Learner: learnerOf("rls")}, best: graded{nodes: len(p.Degrees)}, scale: 1,
	}
	model, err := r.solve(t.Context(), &p, param.Values{"lambda": param.Of(1e-30), "class-weights": param.Of("equal")}, solveTolerance)
	if !errors.Is(err, iterative.ErrIterationLimit) && !errors.Is(err, iterative.ErrStagnation) && !errors.Is(err, iterative.ErrIndefinite) {
		t.Fatalf("error %v", err)
	}
	if text := err.Error(); !strings.Contains(text, "a ridge of 1e-30") || !strings.Contains(text, "; choose a larger λ") || model != nil {
		t.Errorf("%q, model %v", text, model)
	}
}
