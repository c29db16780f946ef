package walks

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
)

func TestMachinesAsGiven(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a fifth of a second")
	}
	whole := contract.Golden(t, "sbm300")
	var uneven []int
	for i, c := range whole.Class {
		if c == 0 || i%3 == 0 {
			uneven = append(uneven, i)
		}
	}
	p := whole.At(uneven)
	par := param.Values{"beta": param.Of(2.0), "laplacian": param.Of("normalized")}
	on, err := kernel.New(t.Context(), contract.GraphOf(t, p.A, 1), "diffusion", par)
	if err != nil {
		t.Fatal(err)
	}
	free := problem.ListUnlabelled(p, nil)
	nodes, y := slices.Concat(p.Row, free), slices.Concat(p.Class, slices.Repeat([]int{-1}, len(free)))
	k, _, err := kernel.Matrix(t.Context(), on, nodes, nodes, nil)
	if err != nil {
		t.Fatal(err)
	}
	choose.Rescale(k, len(p.Row))
	onGraph := func(i int) []float64 { return k.Row(slices.Index(nodes, i)) }
	walk := onWalk(0.4, 4, 0, Plain)
	items, all := slowWalkItems(p, walk, true)
	onWalks := func(i int) []float64 {
		var row []float64
		for _, b := range items {
			row = append(row, all[i].kernel(b, 0, 4))
		}
		return row
	}
	for name, row := range map[string]func(i int) []float64{"diffusion": onGraph, "cwk": onWalks} {
		var gram []float64
		for a := range y {
			i := nodes[a]
			if name == "cwk" {
				i = items[a].row
			}
			values := slices.Clone(row(i))
			if name == "cwk" && a < len(p.Row) {
				for b := range values {
					values[b] = items[a].kernel(items[b], 0, 4)
				}
			}
			gram = append(gram, values...)
		}
		g := classify.DenseGram(sparse.BlockOf(len(y), len(y), gram))
		named := map[string][]int{}
		for _, given := range []param.Values{{}, {"class-weights": param.Of("balanced")}, {"strategy": param.Of("one-vs-rest")}, {"class-weights": param.Of("balanced"), "strategy": param.Of("one-vs-rest")}} {
			set := &engine.Settings{Lists: contract.Lists(map[string][]param.Value{"cost": param.Grid(0.1), "alpha": param.Grid(0.4), "steps": param.Grid(4)}, Plain), Given: given}
			if name != "cwk" {
				set.Given = param.Values{"beta": par["beta"], "laplacian": par["laplacian"]}
				for at, v := range given {
					set.Given[at] = v
				}
			}
			out, err := engineOf(t, name).Predict(t.Context(), p, nil, set)
			if err != nil {
				t.Fatal(err)
			}
			svm := &classify.SVM{Cost: 0.1, Tolerance: 1e-7}
			if given.Has("class-weights") {
				svm.Weights = classify.BalancedWeights(y, len(p.Names))
			}
			if given.Has("strategy") {
				svm.OneVsRest = true
			}
			model, err := svm.Fit(t.Context(), g, y, len(p.Names))
			if err != nil {
				t.Fatal(err)
			}
			var classes []int
			unlike := 0
			for i := range p.Degrees {
				if slices.Contains(p.Row, i) || !out.Reached.Contains(uint32(i)) {
					continue
				}
				classes = append(classes, out.Class[i])
				if out.Class[i] != model.Pairs.Predict(model.ScoresTo(nil, row(i), 0)) {
					unlike++ // equal votes, or a decision near 0
				}
			}
			if 50*unlike > len(classes) {
				t.Errorf("%s, %v: %d of %d nodes have other classes", name, given, unlike, len(classes))
			}
			for other, list := range named {
				if slices.Equal(list, classes) {
					t.Errorf("%s: %v and %s name the same classes", name, given, other)
				}
			}
			named[strings.Join(append([]string{"as"}, learnerOf("svm").Text(given)), " ")] = classes
		}
	}
}

func TestGivenValuesAreNotTried(t *testing.T) {
	given := param.Values{"cost": param.Of(3.0), "lambda": param.Of(0.3), "alpha": param.Of(0.25), "svm-tolerance": param.Of(1e-6)}
	if g := gridOf(t, nil, "rls"); len(g.Sources) < 2 || len(g.Values) < 2 {
		t.Errorf("grid %+v", g)
	}
	g := jobOf(t, &engine.Settings{Given: given}, "rls")
	if len(g.Values) != 1 || g.Values[0].Number("lambda") != 0.3 || slices.ContainsFunc(g.Sources, func(v param.Values) bool { return v.Number("alpha") != 0.25 }) {
		t.Errorf("grid %+v", g)
	}
	for _, c := range []struct {
		given param.Values
		want  float64
	}{{nil, 1e-3}, {given, 1e-6}} {
		if got := jobOf(t, &engine.Settings{Given: c.given}, "svm").Values[0].Number("svm-tolerance"); got != c.want {
			t.Errorf("tolerance %g, want %g", got, c.want)
		}
	}
}

func TestKernelParametersAsText(t *testing.T) {
	p := engine.Parameters{Kernel: &engine.Setting{Spec: &kernel.Families().Named("diffusion").Spec, Values: param.Values{"laplacian": param.Of("normalized"), "beta": param.Of(2.0)}}, Declared: costOf(8)}
	if got := p.String(); got != "diffusion, normalized, beta = 2, cost = 8" {
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
