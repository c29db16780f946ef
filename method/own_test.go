package method

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/validate"
)

func TestGridFile(t *testing.T) {
	const text = `{
  "alpha": [0.9, 0.5],
  "cost": 2,
  "diffusion": {
    "laplacian": "combinatorial",
    "beta": [0.25, 1],
    "cost": [1, 4]
  },
  "lgc": {"alpha": [0.7]}
}`
	file, err := ReadGridFile(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	methods, err := ParseMethods("cwk,diffusion+rls,diffusion,lgc,lp,von-neumann")
	if err != nil {
		t.Fatal(err)
	}
	never := func(string) bool { return false }
	for i, want := range []string{
		"map[alpha:[0.9 0.5] cost:[2]]", "map[beta:[0.25 1] laplacian:[combinatorial]]", "map[beta:[0.25 1] cost:[1 4] laplacian:[combinatorial]]",
		"map[alpha:[0.7]]", "", "map[alpha:[0.9 0.5] cost:[2]]",
	} {
		own, err := file.Own(methods[i], never)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(own); want != "" && got != want {
			t.Errorf("%s: %s, want %s", methods[i].Name(), got, want)
		}
	}
	own, err := file.Own(methods[0], func(name string) bool { return name == "alpha" })
	if err != nil || own["alpha"] != nil {
		t.Errorf("%v, %v: what is given already is taken from the file", own, err)
	}
	set, err := new(Settings).With(methods[0], Own{"alpha": {"0.9", "0.5"}, "min-steps": {"1"}, "features": {"honest"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(set.Grid.Alpha, set.Grid.MinSteps, set.Grid.Features); got != "[0.5 0.9] 1 [honest]" {
		t.Error(got)
	}
}

func TestGridFileErrors(t *testing.T) {
	methods, err := ParseMethods("cwk,diffusion")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, want string }{
		{"[1]", "line 1: no JSON object"},
		{"{\n \"alpha\": [1,\n}", "line 3: "},
		{"{\n\n\"alphas\": [1]}", "line 3: cwk, diffusion have no parameter \"alphas\""},
		{"{\"diffusion\": {\n\"gamma\": 1}}", "line 2: diffusion has no parameter \"gamma\""},
		{"{\"difusion\": {\"beta\": 1}}", "line 1: there is no method \"difusion\""},
		{"{\"alpha\": []}", "line 1: alpha has no value"},
		{"{\"alpha\": [0.5,\n 0.5]}", "line 2: alpha repeats the value 0.5"},
		{"{\"alpha\": [[1]]}", "line 1: alpha: a value is a number"},
		{"{\"cost\": [1],\n\"cost\": [2]}", "line 2: \"cost\" stands there twice"},
		{"{\"diffusion\":\n{\"beta\": [1, 0]}}", "line 2: diffusion: beta: 0 is out of range"},
		{"{\"diffusion\":\n{\"laplacian\": \"x\"}}", "line 2: diffusion: laplacian: \"x\" is none of its values"},
		{"{\"steps\": [1.5]}", "line 1: cwk: steps: 1.5 is not a whole number"},
		{"{\"cwk\": {\"alpha\": [2]}}", "line 1: cwk: alpha: 2 is out of range; cwk takes 0 ≤ α ≤ 1"},
		{strings.Repeat(" ", 1<<20), "line 1: longer than 1 MiB"},
		{"{\"" + strings.Repeat("a", 1<<20), "line 1: longer than 1 MiB"},
		{"{} {}", "line 1: more than one JSON value"},
	} {
		file, err := ReadGridFile(strings.NewReader(c.text))
		if err == nil {
			err = file.Check(methods)
		}
		for _, m := range methods {
			if err == nil {
				_, err = file.Own(m, func(string) bool { return false })
			}
		}
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%.80q: %v, want %s", c.text, err, c.want)
		}
	}
}

// TestEntries tunes methods with parameters of their own, which the choice keeps.
func TestEntries(t *testing.T) {
	entries, err := ParseEntries("diffusion:laplacian=combinatorial:beta=0.5, diffusion ,cwk:alpha=0.5:steps=3:features=plain,lgc:alpha=0.3,pseudo-inverse+rls:laplacian=combinatorial")
	if err != nil {
		t.Fatal(err)
	}
	g := testgraph.Planted(t, 5, 60, 50)
	p := &Problem{A: g.A, Degrees: g.Degrees, Row: g.Row, Class: g.Class, Names: g.Names}
	splits, err := validate.RandomSplits(p.Class, 0.5, 2, 1, validate.ForTuning)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"diffusion, combinatorial, β = 0.5, C = ", "diffusion, normalized, β = ", "α = 0.5, 3 steps, C = ", "α = 0.3", "pseudo-inverse, combinatorial, λ = "} {
		e := entries[i]
		set, err := new(Settings).With(e.Method, e.Own)
		if err != nil {
			t.Fatal(err)
		}
		choice, err := e.Method.Tune(context.Background(), p, splits, set)
		if err != nil {
			t.Fatal(err)
		}
		if got := choice.Parameters.String(); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s…", e.Name, got, want)
		}
		if out, err := e.Method.Predict(context.Background(), p, nil, set); err != nil || !strings.HasPrefix(out.Parameters.String(), want) {
			t.Errorf("%s inside a training set: %v, %v, want %s…", e.Name, out.Parameters, err, want)
		}
		fixed := *set
		fixed.Fixed, fixed.Grid = true, NoGrid()
		again, err := fixed.With(e.Method, e.Own)
		if err != nil {
			t.Fatal(err)
		}
		if choice, err = e.Method.Tune(context.Background(), p, splits, again); err != nil || choice.Settings != 1 {
			t.Errorf("%s without a grid: %+v, %v", e.Name, choice, err)
		}
	}
	for list, want := range map[string]string{
		"lp,lp":                    "validate: parameter outside its range: method \"lp\" is named twice; leave one out",
		"diffusion:beta":           "validate: parameter outside its range: \"beta\" in \"diffusion:beta\" is no parameter; write NAME:PARAMETER=VALUE",
		"diffusion:beta=1:beta=2":  "validate: parameter outside its range: beta is given twice in \"diffusion:beta=1:beta=2\"; leave one out",
		"diffusion:beta=-1":        "validate: parameter outside its range: diffusion: beta: -1 is out of range",
		"majority:beta=1":          "validate: parameter outside its range: majority: it has no parameter",
		"cwk:prior=x":              "validate: parameter outside its range: cwk: prior is one for all methods; give it as a flag",
		"diffusion:laplacian=wide": "validate: parameter outside its range: diffusion: laplacian: \"wide\" is none",
	} {
		if _, err := ParseEntries(list); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", list, err, want)
		}
	}
}

// TestPaperFile holds the sizes of the grids of the walk kernels' paper.
func TestPaperFile(t *testing.T) {
	methods, err := ParseMethods("cwk,diffusion,pseudo-inverse,von-neumann,lgc")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{13 * 30 * 15, 15 * 15, 15, 11 * 15, 11} {
		own, err := PaperFile().Own(methods[i], func(string) bool { return false })
		if err != nil {
			t.Fatal(err)
		}
		size := 1
		for _, values := range own {
			size *= len(values)
		}
		if size != want {
			t.Errorf("%s: %d settings, want %d", methods[i].Name(), size, want)
		}
		if _, err := new(Settings).With(methods[i], own); err != nil {
			t.Error(err)
		}
	}
}
