package classify

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// goldenGraphs are those of testdata/golden with results of learners.
var goldenGraphs = []string{"karate", "wrand60", "sbm300"}

// lesson is a golden graph with a kernel between all its nodes, the training nodes
// first, in training order.
type lesson struct {
	g    testgraph.Graph
	name string
	node []int // of each item
	k    *denseGram[float64]
	y    []int
}

// newLesson takes the kernel of the learners' golden files.
func newLesson(t *testing.T, graph string) *lesson {
	t.Helper()
	g := testgraph.Load(t, graph)
	if graph != "sbm300" {
		return lessonOf(g, graph, testgraph.Golden(t, graph+"/learner_K.npy"))
	}
	// exp(−3L̃), of which the golden file has some columns only.
	n := len(g.Nodes)
	a := mat.NewSymDense(n, nil)
	g.A.DoNonZero(func(i, j int, v float64) {
		if i <= j {
			a.SetSym(i, j, v/math.Sqrt(g.Degrees[i]*g.Degrees[j]))
		}
	})
	var eigen mat.EigenSym
	if !eigen.Factorize(a, true) {
		t.Fatal("no eigenvalues")
	}
	var u, scaled, k mat.Dense
	eigen.VectorsTo(&u)
	values := eigen.Values(nil)
	scaled.Apply(func(_, q int, v float64) float64 { return v * math.Exp(3*(values[q]-1)) }, &u)
	k.Mul(&scaled, u.T())
	return lessonOf(g, graph, sparse.BlockOf(n, n, k.RawMatrix().Data))
}

func lessonOf(g testgraph.Graph, name string, k *sparse.Block[float64]) *lesson {
	l := &lesson{g: g, name: name, node: append([]int(nil), g.Train...)}
	trained := map[int]bool{}
	for _, i := range g.Train {
		trained[i] = true
	}
	for i := range g.Nodes {
		if !trained[i] {
			l.node = append(l.node, i)
		}
	}
	n := len(l.node)
	l.k = &denseGram[float64]{Rows: n, Cols: n, Stride: n, Data: make([]float64, n*n)}
	l.y = make([]int, n)
	for a, i := range l.node {
		for b, j := range l.node {
			l.k.Data[a*n+b] = k.Row(i)[j]
		}
		l.y[a] = -1
		if a < len(g.Train) {
			l.y[a] = g.TrainClass[a]
		}
	}
	return l
}

// scores fits a learner to the training nodes and returns its scores of all nodes.
func (l *lesson) scores(t *testing.T, learner string, given param.Values) *sparse.Block[float64] {
	t.Helper()
	d := Learners().Named(learner)
	v, err := d.Resolve(given, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := d.Fit(context.Background(), l.k, l.y, len(l.g.Classes), v)
	if err != nil {
		t.Fatalf("%s on %s: %v", learner, l.name, err)
	}
	scores := sparse.NewBlock[float64](len(l.node), len(m.Pairs))
	for a, i := range l.node {
		row := l.k.row(a)
		m.ScoresTo(scores.Row(i), row, row[a])
	}
	return scores
}

// golden reads a golden file of the graph.
func (l *lesson) golden(t *testing.T, format string, args ...any) *sparse.Block[float64] {
	t.Helper()
	return testgraph.Golden(t, l.name+"/"+fmt.Sprintf(format, args...))
}

func TestLearnersGolden(t *testing.T) {
	for _, graph := range goldenGraphs {
		l := newLesson(t, graph)
		for _, c := range []float64{1, 10} {
			got := l.scores(t, "svm", param.Values{"cost": param.Of(c)})
			testgraph.Close(t, got, l.golden(t, "svm_diffusion_C%.1f_decision.npy", c), 1e-6, 1e-6)
		}
		for _, c := range []float64{1, 100} {
			got := l.scores(t, "rls", param.Values{"cost": param.Of(c)})
			testgraph.Close(t, got, l.golden(t, "rls_C%.1f_scores.npy", c), 1e-10, 1e-9)
		}
	}
}

// TestLearners checks the contract of every learner.
func TestLearners(t *testing.T) {
	p := clouds(3, 40, 4, 3, 6)
	p.y[7], p.y[23] = -1, -1
	names := map[string]bool{}
	for _, d := range Learners() {
		if names[d.Name] {
			t.Errorf("two learners are called %s", d.Name)
		}
		names[d.Name] = true
		v, err := d.Resolve(nil, nil)
		if err != nil {
			t.Errorf("the defaults of %s: %v", d.Name, err)
			continue
		}
		fit := func(y []int) (*Model, error) {
			return d.Fit(context.Background(), p.gram(), y, p.classes, v)
		}
		m, err := fit(p.y)
		if err != nil {
			t.Errorf("%s: %v", d.Name, err)
			continue
		}
		linear, err := d.fitFeatures(context.Background(), p.f, p.y, p.classes, v)
		if err != nil {
			t.Errorf("%s on features: %v", d.Name, err)
			continue
		}
		right, labelled := 0, 0
		for i, want := range p.y {
			x := p.f.Row(i)
			onFeatures := linear(x)
			row := p.row(x)
			scores := m.ScoresTo(nil, row, inner(x, x))
			for c := range scores {
				within(t, fmt.Sprintf("%s on features, item %d", d.Name, i), onFeatures[c], scores[c], 1e-6*(1+math.Abs(scores[c])))
			}
			if want >= 0 {
				labelled++
				if m.Pairs.Predict(scores) == want {
					right++
				}
			}
			if d.Probabilities == nil {
				continue
			}
			sum := 0.0
			for _, q := range d.Probabilities(nil, scores) {
				sum += q
			}
			within(t, d.Name+": the sum of probabilities", sum, 1, 1e-12)
		}
		if 10*right < 9*labelled && !d.Whole { // on a deep kernel the defaults are for other values
			t.Errorf("%s: %d of %d training items are right", d.Name, right, labelled)
		}
		one := make([]int, len(p.y))
		if _, err := fit(one); !errors.Is(err, ErrOneClass) {
			t.Errorf("%s learns from one class: %v", d.Name, err)
		}
		done, cancel := context.WithCancel(context.Background())
		cancel()
		if d.Bytes != nil {
			if _, err := d.Fit(done, p.gram(), p.y, p.classes, v); !errors.Is(err, context.Canceled) {
				t.Errorf("%s goes on when cancelled: %v", d.Name, err)
			}
		}
	}
}

// TestLearnersAgree holds that any number of workers gives the same bits.
func TestLearnersAgree(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	p := clouds(9, 150, 3, 3, 2)
	k := p.gram()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, d := range Learners() {
		v, err := d.Resolve(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		var first []float64
		for _, workers := range []int{1, 2, 7} {
			runtime.GOMAXPROCS(workers)
			var scores []float64
			m, err := d.Fit(t.Context(), k, p.y, p.classes, v)
			if err != nil {
				t.Fatalf("%s: %v", d.Name, err)
			}
			onFeatures, err := d.fitFeatures(t.Context(), p.f, p.y, p.classes, v)
			if err != nil {
				t.Fatalf("%s on features: %v", d.Name, err)
			}
			for i := range k.Rows {
				scores = append(scores, m.ScoresTo(nil, k.row(i), k.row(i)[i])...)
				scores = append(scores, onFeatures(p.f.Row(i))...)
			}
			if first == nil {
				first = scores
			}
			if !slices.Equal(first, scores) {
				t.Errorf("%s: other bits with %d workers", d.Name, workers)
			}
		}
	}
}

// fitFeatures learns from explicit features of the items with y ≥ 0 and returns a function that
// scores features, by linear functions if the learner has them.
func (l *Learner) fitFeatures(ctx context.Context, f *sparse.Block[float64], y []int, classes int, v param.Values) (func(x []float64) []float64, error) {
	var linear *LinearModel
	var m *Model
	var err error
	if l.Linear != nil {
		single := sparse.BlockOf(f.Rows, f.Cols, make([]float32, f.Rows*f.Cols))
		for i := range f.Rows {
			simd.ConvertTo(single.Row(i), f.Row(i))
		}
		linear, err = l.Linear(ctx, single, y, classes, v)
	} else if m, err = l.Fit(ctx, LinearGram(f), y, classes, v); err == nil && m.Machines != nil {
		linear = LinearWeights(m, f)
	}
	return func(x []float64) []float64 {
		if linear != nil {
			return linear.ScoresTo(nil, x, nil)
		}
		row := make([]float64, f.Rows)
		for i := range row {
			row[i] = inner(x, f.Row(i))
		}
		return m.ScoresTo(nil, row, inner(x, x))
	}, err
}
