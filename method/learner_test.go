package method

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
)

// Machines behind a kernel of the graph and behind walks have the weights and the strategy
// that are given: they name the classes that machines on all kernel values name.
func TestMachinesAsGiven(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a fifth of a second")
	}
	whole := goldenProblem(t, "sbm300")
	var uneven []int // of the classes but the first every third label
	for i, c := range whole.Class {
		if c == 0 || i%3 == 0 {
			uneven = append(uneven, i)
		}
	}
	p := whole.At(uneven)
	par := param.Values{"beta": param.Of(2.0), "laplacian": param.Of("normalized")}
	k, nodes, y := wholeKernel(t, p, "diffusion", par)
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
			set := &engine.Settings{Lists: listed(map[string][]param.Value{"cost": param.Grid(0.1), "alpha": param.Grid(0.4), "steps": param.Grid(4)}, Plain), Given: given}
			if name != "cwk" {
				set.Given = param.Values{"beta": par["beta"], "laplacian": par["laplacian"]}
				for at, v := range given {
					set.Given[at] = v
				}
			}
			out := predictBy(t, name, p, set)
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
					unlike++ // equal votes, which soft votes part, or a decision near 0
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

// TestParametersAreTold gives methods a value for each parameter that is not chosen, also of
// classifiers and of smoothing, and finds them all in a choice on splits and in a prediction.
func TestParametersAreTold(t *testing.T) {
	p := contract.Planted(t, 5, 60, 40)
	splits, err := choose.Draw(p.Class, choose.Design{Fraction: 0.5, Tuning: true}, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	list, err := parseMethods("cwk,cwk+svm,cwk+rls+cs,cwk+perceptron,modularity,modularity+rls,pseudo-inverse+cs,pseudo-inverse+dkm-svm,lp,lp+cs,lgc,lgc+cs,wvrn,spectral+logistic")
	if err != nil {
		t.Fatal(err)
	}
	given := param.Values{
		"class-weights": param.Of("balanced"), "strategy": param.Of("one-vs-rest"), "correct-alpha": param.Of(0.3), "smooth-alpha": param.Of(0.4),
		"alpha": param.Of(0.6), "steps": param.Of(2), "rounds": param.Of(7), "rank": param.Of(4), "dimension": param.Of(3), "epochs": param.Of(3),
	}
	for _, m := range list {
		set := &engine.Settings{Lists: listed(map[string][]param.Value{"alpha": param.Grid(0.6), "steps": param.Grid(2), "cost": param.Grid(3), "lambda": param.Grid(0.7)}, Plain), Given: given, Fixed: true}
		out, err := m.Predict(t.Context(), p, nil, set)
		if err != nil {
			t.Fatal(m.Name, err)
		}
		told := []engine.Parameters{out.Parameters}
		if c, err := m.Tune(t.Context(), p, splits, set); err != nil {
			t.Fatal(m.Name, err)
		} else if c != nil {
			told = append(told, c.Parameters)
		}
		want := param.Values{}
		for _, d := range m.Specs {
			maps.Copy(want, d.Own(given))
		}
		for name, v := range map[string]param.Value{"cost": param.Of(3.0), "lambda": param.Of(0.7), "svm_tolerance": param.Of(1e-4)} {
			if slices.Contains(m.Takes, name) && !slices.Contains([]string{"spectral+logistic", "pseudo-inverse+dkm-svm"}, m.Name) { // whose own are given
				want[strings.ReplaceAll(name, "_", "-")] = v
			}
		}
		for _, par := range told {
			text, err := json.Marshal(par)
			if err != nil {
				t.Fatal(err)
			}
			var got param.Values
			if err := json.Unmarshal(text, &got); err != nil {
				t.Fatal(err)
			}
			for name, v := range want {
				if got[name].String() != v.String() {
					t.Errorf("%s: %s is %v of %s, want %v", m.Name, name, got[name], text, v)
				}
				if v.String() != "" && !strings.Contains(par.String(), v.String()) {
					t.Errorf("%s: %q does not tell %s %v", m.Name, par, name, v)
				}
			}
		}
	}
}

// TestGivenValuesAreNotTried tests that a given cost, λ, tolerance or walk replaces the grid of
// the methods that have the parameter.
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
