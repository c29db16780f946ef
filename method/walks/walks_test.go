package walks

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// slowWalkItems returns the training rows, then the nodes without a label if whole is set, and a row for every node.
func slowWalkItems(p *engine.Problem, par engine.Parameters, whole bool) (items, nodes []slowItem) {
	plain := slowWalk(p, par.Alpha(), par.Steps(), func(int) bool { return true })
	folds := choose.FoldCount(len(p.Row))
	fold := choose.DrawFolds(p, folds, 0, 0).Of
	hidden := make([][][][]float64, folds)
	for f := range hidden {
		hidden[f] = slowWalk(p, par.Alpha(), par.Steps(), func(i int) bool { return fold[i] != f })
	}
	for i, row := range p.Row {
		walk := plain
		if par.Features() == Honest {
			walk = hidden[fold[i]]
		}
		items = append(items, slowItem{walk, row, p.Class[i]})
	}
	for i := range p.Degrees {
		nodes = append(nodes, slowItem{plain, i, -1})
		if whole && !slices.Contains(p.Row, i) {
			items = append(items, nodes[i])
		}
	}
	return items, nodes
}

func TestWalkLearnersAgainstDense(t *testing.T) {
	p := contract.Golden(t, "karate")
	for _, by := range classify.Learners() {
		if by.Path != nil { // its models are not available
			continue
		}
		m := method{"cwk+" + by.Name, by}.engine()
		given := param.Values{}
		if by.Param("vote") != nil {
			given["vote"] = param.Of("averaged") // votes are whole numbers, so that rounding may change one
		}
		v, err := by.Resolve(given, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range []string{Plain, Honest} {
			par := walkWith(onWalk(0.4, 4, 1, kind), &engine.Setting{Spec: &by.Spec, Values: v})
			got, err := m.Predict(t.Context(), p, &par, &engine.Settings{Raw: true})
			if err != nil {
				t.Fatalf("%s: %v", m.Name, err)
			}
			items, nodes := slowWalkItems(p, par, by.Whole)
			var values []float64
			var y []int
			for _, a := range items {
				y = append(y, a.class)
				for _, b := range items {
					values = append(values, a.kernel(b, 1, 4))
				}
			}
			model, err := by.Fit(t.Context(), classify.DenseGram(sparse.BlockOf(len(items), len(items), values)), y, len(p.Names), v)
			if err != nil {
				t.Fatal(err)
			}
			for i, node := range nodes {
				var row []float64
				for _, b := range items {
					row = append(row, node.kernel(b, 1, 4))
				}
				want := model.ScoresTo(nil, row, node.kernel(node, 1, 4))
				if by.Probabilities != nil {
					for c, q := range by.Probabilities(nil, want) {
						if d := math.Abs(float64(got.Scores.Row(i)[c]) - q); d > 1e-4 {
							t.Fatalf("%s, %s: node %d has class %d with probability %v, want %v", m.Name, kind, i, c, got.Scores.Row(i)[c], q)
						}
					}
				}
				if (got.Raw == nil) != (len(want) != len(p.Names) || model.Pairs[0].Negative != classify.Rest) {
					t.Fatalf("%s: raw scores %v", m.Name, got.Raw)
				}
				if got.Raw == nil {
					continue
				}
				for c, w := range want {
					if d := math.Abs(got.Raw.Row(i)[c] - w); d > 1e-4*(1+math.Abs(w)) {
						t.Fatalf("%s, %s: node %d scores %v for class %d, want %v", m.Name, kind, i, got.Raw.Row(i)[c], c, w)
					}
				}
			}
		}
	}
}

func TestWalkLearners(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	g, p := testgraph.Load(t, "sbm300"), contract.Golden(t, "sbm300")
	splits, err := choose.Draw(p.Class, choose.Design{Fraction: 0.5, Tuning: true}, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range Engines() {
		if strings.HasPrefix(m.Name, "cwk+dkm-") && m.Name != "cwk+dkm-svm" {
			continue
		}
		var first string
		for _, workers := range []int{1, 2, 7} {
			grid := map[string][]param.Value{"alpha": param.Grid(0.1, 0.8), "steps": param.Grid(2, 5)}
			set := &engine.Settings{Lists: grid, Workers: workers}
			if workers == 7 {
				set.Memory = memoryOf(t, m, p, set)
			}
			out, err := m.Predict(t.Context(), p, nil, set)
			if err != nil {
				t.Fatalf("%s: %v", m.Name, err)
			}
			choice, err := m.Tune(t.Context(), p, splits, set)
			if err != nil {
				t.Fatalf("%s: %v", m.Name, err)
			}
			found := fmt.Sprint(out.Parameters, out.Scores.Data, out.Estimate, choice.Parameters, choice.Accuracy)
			if first == "" {
				first = found
				right := 0
				for i, c := range out.Class {
					if c == g.Labels[i] {
						right++
					}
				}
				t.Logf("%s: %d of %d right; %v of %d, %.2f found; on splits %v, %.2f", m.Name, right, len(out.Class),
					out.Parameters, out.Settings, out.Accuracy, choice.Parameters, choice.Accuracy)
				if 10*right < 5*len(out.Class) {
					t.Errorf("%s: %d of %d right with %v", m.Name, right, len(out.Class), out.Parameters)
				}
				if d := out.Accuracy - float64(right)/float64(len(out.Class)); math.Abs(d) > 0.3 {
					t.Errorf("%s: tells %.2f, %d of %d are right", m.Name, out.Accuracy, right, len(out.Class))
				}
				if out.Settings != choice.Settings {
					t.Errorf("%s: chosen from %d and from %d", m.Name, out.Settings, choice.Settings)
				}
			}
			if found != first {
				t.Errorf("%s: other results with %d workers", m.Name, workers)
			}
		}
	}
}
