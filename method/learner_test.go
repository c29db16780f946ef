package method

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/walks"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/test/contract"
)

func TestParametersAreTold(t *testing.T) {
	p := contract.Planted(t, 5, 60, 40)
	splits, err := choose.Draw(p.Class, choose.Design{Fraction: 0.5, Tuning: true}, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	list, err := parseMethods("cwk,cwk+svm,cwk+rls,cwk+perceptron,modularity,modularity+rls,pseudo-inverse,pseudo-inverse+dkm-svm,lp,lgc,wvrn,spectral+logistic")
	if err != nil {
		t.Fatal(err)
	}
	given := param.Values{
		"class-weights": param.Of("balanced"), "strategy": param.Of("one-vs-rest"),
		"alpha": param.Of(0.6), "steps": param.Of(2), "rounds": param.Of(7), "rank": param.Of(4), "dimension": param.Of(3), "epochs": param.Of(3),
	}
	for _, m := range list {
		set := &engine.Settings{Lists: contract.Lists(map[string][]param.Value{"alpha": param.Grid(0.6), "steps": param.Grid(2), "cost": param.Grid(3), "lambda": param.Grid(0.7)}, walks.Plain), Given: given, Fixed: true}
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
			if slices.Contains(m.Takes, name) && !slices.Contains([]string{"spectral+logistic", "pseudo-inverse+dkm-svm"}, m.Name) { // these have parameters of their own
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
