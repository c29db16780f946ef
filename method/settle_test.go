package method

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/test/contract"
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
	file, err := readGrid("g", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	methods, err := parseMethods("cwk,diffusion+rls,diffusion,lgc,lp,von-neumann")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		"map[alpha:[0.9 0.5] cost:[2]]", "map[beta:[0.25 1] laplacian:[combinatorial]]", "map[beta:[0.25 1] cost:[1 4] laplacian:[combinatorial]]",
		"map[alpha:[0.7]]", "", "map[alpha:[0.9 0.5] cost:[2]]",
	} {
		own, err := file.of(methods[i])
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(own); want != "" && got != want {
			t.Errorf("%s: %s, want %s", methods[i].Name, got, want)
		}
	}
}

func TestGridFileErrors(t *testing.T) {
	methods, err := parseMethods("cwk,diffusion")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, want string }{
		{"[1]", "g: no JSON object"},
		{"{\n \"alpha\": [1,\n}", "g: no JSON object"},
		{"{\n\n\"alphas\": [1]}", "g: no parameter \"alphas\": cwk, diffusion"},
		{"{\"diffusion\": {\n\"gamma\": 1}}", "g: no parameter \"gamma\": diffusion"},
		{"{\"difusion\": {\"beta\": 1}}", "g: there is no method \"difusion\""},
		{"{\"alpha\": []}", "g: alpha has no value"},
		{"{\"alpha\": [[1]]}", "g: alpha: a value is a number"},
		{"{\"diffusion\":\n{\"beta\": [1, 0]}}", "g: diffusion: beta: 0 is out of range"},
		{"{\"diffusion\":\n{\"laplacian\": \"x\"}}", "g: diffusion: laplacian: \"x\" is none of its values"},
		{"{\"steps\": [1.5]}", "g: cwk: steps: 1.5 is not a whole number"},
		{strings.Repeat(" ", 1<<20), "g: longer than 1 MiB"},
		{"\xef\xbb\xbf{} {}", "g: no JSON object (invalid character '{' after"}, // the byte-order mark is passed over
	} {
		file, err := readGrid("g", strings.NewReader(c.text))
		if err == nil {
			err = file.check(methods)
		}
		for _, m := range methods {
			if err == nil {
				_, err = file.of(m)
			}
		}
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%.80q: %v, want %s", c.text, err, c.want)
		}
	}
}

// The sizes are from the paper of the walk kernels.
func TestPaperGrid(t *testing.T) {
	methods, err := parseMethods("cwk,diffusion,pseudo-inverse,von-neumann,lgc")
	if err != nil {
		t.Fatal(err)
	}
	paper, err := openGrid(t.Context(), "paper")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{13 * 30 * 15, 15 * 15, 15, 11 * 15, 11} {
		own, err := paper.of(methods[i])
		if err != nil {
			t.Fatal(err)
		}
		size := 1
		for _, values := range own {
			size *= len(values)
		}
		if size != want {
			t.Errorf("%s: %d settings, want %d", methods[i].Name, size, want)
		}
	}
}

func TestFirstStepBeyondTheLast(t *testing.T) {
	for list, isRefused := range map[string]bool{"cwk:min-steps=500": true, "lp,cwk:min-steps=500+gp": true, "cwk:steps=600:min-steps=500": false} {
		entries, err := Parse(list)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Settle(t.Context(), entries, "small")
		wrong := new(param.ParameterError)
		if errors.As(err, &wrong) != isRefused || isRefused && wrong.What != "500 lies beyond the last step that is tried, 200; give steps that reach it" {
			t.Errorf("%s: %v", list, err)
		}
	}
	p := contract.Planted(t, 5, 60, 30)
	set := &engine.Settings{Given: param.Values{"min-steps": param.Of(500)}}
	if _, err := methodOf(t, "cwk").Declare(p, set, budget.Workspace{}); err == nil {
		t.Error("an estimate takes a first step beyond the last")
	}
	if _, err := methodOf(t, "cwk").Predict(t.Context(), p, nil, set); err == nil {
		t.Error("a prediction takes a first step beyond the last")
	}
}

func FuzzGridFile(f *testing.F) {
	f.Add(`{"alpha": [0.5, 0.1], "steps": [10, 2], "cwk": {"min_steps": 1, "features": ["honest"]}}`)
	f.Add(`{"alpha": [1e-400], "steps": [1e3], "cost": [1e400]}`)
	f.Add(`{"alpha": null}`)
	f.Add(`{"diffusion": {"beta": 1e999, "laplacian": [true]}}`)
	f.Fuzz(func(t *testing.T, in string) {
		file, err := readGrid("g", strings.NewReader(in))
		for _, m := range All()[:12] {
			if err == nil {
				_, err = file.of(m)
			}
			if err != nil {
				if !errors.Is(err, ErrGrid) {
					t.Fatalf("%v does not wrap ErrGrid", err)
				}
				return
			}
		}
	})
}
