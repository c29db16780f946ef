package method

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// wholeKernel returns the values between all nodes, labelled nodes first.
func wholeKernel(t *testing.T, p *engine.Problem, name string, par param.Values) (k *sparse.Block[float64], nodes, y []int) {
	t.Helper()
	of, err := kernel.New(t.Context(), contract.GraphOf(t, p.A, 1), name, par)
	if err != nil {
		t.Fatal(err)
	}
	free := problem.ListUnlabelled(p, nil)
	nodes, y = slices.Concat(p.Row, free), slices.Concat(p.Class, slices.Repeat([]int{-1}, len(free)))
	if k, _, err = kernel.Matrix(t.Context(), of, nodes, nodes, nil); err != nil {
		t.Fatal(err)
	}
	return k, nodes, y
}

// A learner behind a kernel is the learner on the values of the kernel by its formula, whatever the mean of its diagonal is.
func TestLearnersAgainstWholeKernel(t *testing.T) {
	for i, name := range []string{"karate", "wrand60", "karate", "wrand60"} {
		p := contract.Golden(t, name)
		of := []string{"diffusion:beta=3", "diffusion:beta=3", "regularized-laplacian:alpha=5", "p-step:shift=3:steps=3"}[i]
		term, err := param.ParseTerm(of)
		if err != nil {
			t.Fatal(err)
		}
		family := kernel.Families().Named(term.Name)
		par, err := family.ParseValues(term.Texts)
		if err != nil {
			t.Fatal(err)
		}
		if par, err = family.Resolve(par, nil); err != nil {
			t.Fatal(err)
		}
		k, nodes, y := wholeKernel(t, p, term.Name, par)
		gram := classify.DenseGram(k)
		for _, l := range classify.Learners() {
			v, err := engine.SpecOf(l).Resolve(nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			m, err := parseMethods(term.Name + "+" + l.Name)
			if err != nil {
				t.Fatal(err)
			}
			got, err := m[0].Predict(t.Context(), p, &engine.Parameters{Kernel: &engine.Setting{Spec: &family.Spec, Values: par}, Declared: &engine.Setting{Spec: engine.SpecOf(l), Values: v}}, &engine.Settings{Raw: true})
			if err != nil {
				t.Fatalf("%s: %v", l.Name, err)
			}
			model, err := l.Fit(t.Context(), gram, y, len(p.Names), v)
			if err != nil {
				t.Fatal(err)
			}
			for a, i := range nodes {
				if !got.Reached.Contains(uint32(i)) {
					continue
				}
				want := model.ScoresTo(nil, k.Row(a), k.Row(a)[a])
				if class := model.Pairs.Predict(want); l.Path != nil && y[a] < 0 && got.Class[i] != class && slices.ContainsFunc(want, func(x float64) bool { return math.Abs(x) > 1e-3 }) {
					t.Errorf("%s, %s+%s: node %d is of class %d, want %d: %v", name, of, l.Name, i, got.Class[i], class, want)
				}
				if l.Probabilities != nil {
					for c, q := range l.Probabilities(nil, want) {
						if d := math.Abs(float64(got.Scores.Row(i)[c]) - q); d > 1e-6 {
							t.Fatalf("%s, %s: node %d has class %d with probability %v, want %v", name, l.Name, i, c, got.Scores.Row(i)[c], q)
						}
					}
				}
				if got.Raw == nil {
					continue
				}
				raw := slices.Clone(got.Raw.Row(i))
				if l.Probabilities != nil { // a number added to all biases changes nothing
					floats.AddConst(-stat.Mean(raw, nil), raw)
					floats.AddConst(-stat.Mean(want, nil), want)
				}
				for c, w := range want {
					// Votes are whole numbers: values between all nodes and between labels differ by rounding, which may
					// change one or two.
					if d := math.Abs(raw[c] - w); d > 1e-6*(1+math.Abs(w)) && (l.Name != "perceptron" || family.Name == "diffusion") {
						t.Fatalf("%s, %s: node %d scores %v for class %d, want %v", name, l.Name, i, raw[c], c, w)
					}
				}
			}
		}
	}
}

func TestLearnerMethods(t *testing.T) {
	g, p := testgraph.Load(t, "sbm300"), contract.Golden(t, "sbm300")
	for turn, name := range methodNames() {
		l, ok := strings.CutPrefix(name, "regularized-laplacian+")
		if !ok || l == "rls" || strings.HasPrefix(l, "dkm-") && l != "dkm-gp" {
			continue
		}
		if testing.Short() && turn%2 > 0 {
			continue
		}
		var first string
		for _, workers := range testgraph.Workers(turn / 2) {
			out := predictBy(t, name, p, &engine.Settings{Given: param.Values{"alpha": param.Of(8.0)}, Workers: workers, Raw: true})
			found := fmt.Sprint(out.Parameters, out.Scores.Data, out.Raw)
			if first == "" {
				first = found
				right := 0
				for i, c := range out.Class {
					if c == g.Labels[i] {
						right++
					}
				}
				t.Logf("%s: %d of %d right; %v of %d, %.2f found", name, right, len(out.Class), out.Parameters, out.Settings, out.Accuracy)
				if 10*right < 7*len(out.Class) {
					t.Errorf("%s: %d of %d right with %v", name, right, len(out.Class), out.Parameters)
				}
			}
			if found != first {
				t.Errorf("%s: other results with %d workers", name, workers)
			}
		}
	}
}
