package method

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/kernels"
	"github.com/heatwalk/heatwalk/method/walks"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/test/contract"
)

// shrunk is least squares under another name; its machines never end.
func shrunk() *classify.Learner {
	shrink := param.Param{Name: "shrink", Symbol: "s", Meaning: "shrinkage", Range: param.Above(0), Default: param.Of(0.1), Grid: param.Grid(0.001, 0.01, 0.1, 1, 10)}
	constant := param.Param{Name: "shape", Kind: param.Choice, Words: []string{"round", "flat"}, Default: param.Of("round")}
	own := param.Spec{Name: "shrunk", Params: []param.Param{shrink, constant}}
	fit := func(ctx context.Context, k classify.Gram, y []int, classes int, v param.Values) (*classify.Model, error) {
		model, err := classify.FitRLS(ctx, k, y, classes, v.Number("shrink"), nil)
		if err == nil {
			err = classify.ErrIterationLimit
		}
		return model, err
	}
	return &classify.Learner{
		Spec: own, Fit: fit, Dual: true, ComparedItems: 100,
		Path: &classify.Path{
			Spec: own, Parameter: "shrink", Ridge: true, Noun: "a shrunk machine",
			Fit: func() classify.PathFit {
				return func(ctx context.Context, k classify.Gram, y []int, classes int, settings []param.Values) (list []*classify.Model, err error) {
					for _, v := range settings {
						if v.Word("shape") != "flat" {
							return nil, fmt.Errorf("shape is %v, not as given", v["shape"])
						}
						model, err := classify.FitRLS(ctx, k, y, classes, v.Number("shrink"), nil)
						if err != nil {
							return nil, err
						}
						list = append(list, model)
					}
					return list, nil
				}
			},
		},
		Workspace: func(items, _, _ int) budget.Workspace { return budget.Held(1e9 + int64(items)) },
	}
}

func meanOf() *classify.Learner {
	centroid := classify.Learners().Named("centroid")
	return &classify.Learner{
		Spec: param.Spec{Name: "mean", Params: []param.Param{{Name: "lean", Symbol: "l", Range: param.From(0), Default: param.Of(0.0), Grid: param.Grid(0.0, 1.0)}}},
		Fit: func(ctx context.Context, k classify.Gram, y []int, classes int, v param.Values) (*classify.Model, error) {
			model, err := centroid.Fit(ctx, k, y, classes, nil)
			if model != nil {
				model.Machines[0].Rho += v.Number("lean") // which makes it worse
			}
			return model, err
		},
		Dual:      true,
		Workspace: func(items, _, _ int) budget.Workspace { return budget.Held(1e9 + int64(items)) },
	}
}

func TestDeclaredLearner(t *testing.T) {
	if os.Getenv("HEATWALK_DECLARED") == "" { // learners stay registered, so this needs its own process
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestDeclaredLearner$")
		cmd.Env = append(os.Environ(), "HEATWALK_DECLARED=1")
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		return
	}
	classify.Register(shrunk())
	classify.Register(meanOf())
	p := contract.Planted(t, 5, 120, 60)
	splits, err := choose.Draw(p.Class, choose.Design{Fraction: 0.5, Tuning: true}, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "grid.json")
	for _, f := range append([]string{"cwk"}, kernelNames()...) {
		for _, learner := range []string{"shrunk", "mean"} {
			if _, err := findMethod(f+"+"+learner, engine.Classes); err != nil {
				t.Errorf("%s: %v", learner, err)
			}
		}
	}
	for _, c := range []struct{ name, known, param, unfinished string }{
		{"cwk+shrunk", "cwk+rls", "shrink", "a shrunk machine ended at the limit of its steps, before its tolerance"},
		{"diffusion+shrunk", "diffusion+svm", "shrink", "a shrunk machine ended at the limit of its steps, before its tolerance"},
		{"cwk+mean", "cwk+centroid", "lean", ""},
		{"diffusion+mean", "diffusion+centroid", "lean", ""},
	} {
		if err := os.WriteFile(file, []byte(`{"`+c.param+`": [0.3, 30]}`), 0o600); err != nil {
			t.Fatal(err)
		}
		given := param.Values{"shape": param.Of("flat"), "beta": param.Of(2.0), "alpha": param.Of(0.5), "steps": param.Of(4)}
		entries, err := Parse(c.name + "," + c.known)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Settle(t.Context(), entries, file); err != nil {
			t.Fatal(err)
		}
		give(entries, given)
		m, set := entries[0].Method, entries[0].Settings
		out, err := m.Predict(t.Context(), p, nil, set)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		choice, err := m.Tune(t.Context(), p, splits, set)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		for _, par := range []*engine.Parameters{&out.Parameters, &choice.Parameters} {
			var told param.Values
			text, err := json.Marshal(par)
			if err == nil {
				err = json.Unmarshal(text, &told)
			}
			v := told[c.param]
			if err != nil || v != param.Of(0.3) && v != param.Of(30.0) {
				t.Errorf("%s: %s, %v", c.name, text, err)
			}
			if told["shape"] != given["shape"] == (c.param == "shrink") {
				t.Errorf("%s: %s does not tell the shape", c.name, text)
			}
		}
		if out.Settings != 2 || choice.Settings != 2 || out.Unfinished != c.unfinished {
			t.Errorf("%s: %d and %d settings, %q", c.name, out.Settings, choice.Settings, out.Unfinished)
		}
		if tested := splits.Len * len(splits.At(0).Test); choice.Tested != tested {
			t.Errorf("%s: tested on %d nodes, want %d", c.name, choice.Tested, tested)
		}
		like, err := entries[1].Method.Predict(t.Context(), p, nil, entries[1].Settings)
		if err != nil {
			t.Fatal(err)
		}
		same := 0
		for i, class := range out.Class {
			if class == like.Class[i] {
				same++
			}
		}
		if 10*same < 7*len(out.Class) {
			t.Errorf("%s names the classes of %s at %d of %d nodes", c.name, c.known, same, len(out.Class))
		}
		if bytes := memoryOf(t, m, p, set); bytes < 1e9 {
			t.Errorf("%s takes %d bytes", c.name, bytes)
		}
		if _, err := Parse(c.name + ":" + c.param + "=-1"); err == nil || !strings.Contains(err.Error(), c.name+": "+c.param+": -1 is out of range; ") {
			t.Errorf("%s: %v", c.name, err)
		}
		one, err := Parse(c.name + ":" + c.param + "=0.7")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Settle(t.Context(), one, "small"); err != nil {
			t.Fatal(err)
		}
		give(one, given)
		if got, err := one[0].Method.Predict(t.Context(), p, nil, one[0].Settings); err != nil || got.Parameters.Declared.Values[c.param] != param.Of(0.7) {
			t.Errorf("%s: %v, %v", c.name, got.Parameters, err)
		}
	}
}

func give(entries []engine.Entry, given param.Values) {
	for i := range entries {
		values := maps.Clone(given)
		maps.Copy(values, entries[i].Settings.Given)
		entries[i].Settings.Given, entries[i].Settings.Lists = values, contract.Lists(entries[i].Settings.Lists, walks.Plain)
	}
}

func kernelNames() (names []string) {
	for _, f := range kernels.Families() {
		names = append(names, f.Name)
	}
	return names
}

func TestDefaultsAmongEquals(t *testing.T) {
	for _, l := range classify.Learners() {
		by := l
		if by.Path != nil {
			continue
		}
		usual, err := l.Resolve(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		settings, space, err := engine.LearnerSettings(new(engine.Settings), by, 3)
		if err != nil {
			t.Fatal(err)
		}
		best := space.Best(make([]float64, len(settings)), 10)
		if got := settings[best]; l.Text(got) != l.Text(usual) {
			t.Errorf("%s: %s, want %s", l.Name, l.Text(got), l.Text(usual))
		}
	}
}

func methodOf(t *testing.T, name string) *engine.Engine {
	t.Helper()
	m, err := parseMethods(name)
	if err != nil {
		t.Fatal(err)
	}
	return m[0]
}

func memoryOf(t *testing.T, m *engine.Engine, p *engine.Problem, s *engine.Settings) int64 {
	t.Helper()
	w, err := m.Declare(p, s, budget.Workspace{})
	if err != nil {
		t.Fatal(err)
	}
	return w.Required(1)
}
