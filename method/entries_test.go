package method

import (
	"context"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestEntries(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	entries, err := Parse("diffusion:laplacian=combinatorial:beta=0.5, diffusion ,cwk:alpha=0.5:steps=3:features=plain,lgc:alpha=0.3,pseudo-inverse:laplacian=combinatorial+rls")
	if err != nil {
		t.Fatal(err)
	}
	g := testgraph.Planted(t, 5, 60, 50)
	p := &engine.Problem{Graph: &graph.Graph{A: g.A, Degrees: g.Degrees}, Row: g.Row, Class: g.Class, Names: g.Names}
	splits, err := choose.Draw(p.Class, choose.Design{Fraction: 0.5, Tuning: true}, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"diffusion, combinatorial, beta = 0.5, cost = ", "diffusion, normalized, beta = ", "alpha = 0.5, steps = 3, plain features, cost = ", "alpha = 0.3", "pseudo-inverse, combinatorial, lambda = "} {
		e := entries[i]
		set := &engine.Settings{Given: e.Own}
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
		fixed.Fixed = true
		if choice, err = e.Method.Tune(context.Background(), p, splits, &fixed); err != nil || choice.Settings != 1 {
			t.Errorf("%s without a grid: %+v, %v", e.Name, choice, err)
		}
	}
	for list, want := range map[string]string{
		"lp,lp":                    "method \"lp\" is named twice; leave one out",
		"diffusion:beta":           "\"beta\" in \"diffusion:beta\" is no parameter; write NAME:PARAMETER=VALUE",
		"diffusion:beta=1:beta=2":  "beta is given twice in \"diffusion:beta=1:beta=2\"; leave one out",
		"diffusion:beta=-1":        "diffusion: beta: -1 is out of range",
		"majority:beta=1":          "majority: it has no parameter",
		"cwk:prior=x":              "cwk: prior is one for all methods; set it once, outside the names of methods",
		"diffusion:beta=1,cost=2":  "\"cost=2\" is no method, and parameters of one are joined by ':'; write diffusion:beta=1:cost=2",
		"diffusion:laplacian=wide": "diffusion: laplacian: \"wide\" is none",
	} {
		if _, err := Parse(list); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", list, err, want)
		}
	}
}

func TestGridErrorsAreInOrder(t *testing.T) {
	entries, err := Parse("lgc")
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		g, err := readGrid("g.json", strings.NewReader(`{"zoo": [1], "foo": [1], "bar": [2], "baz": [3], "qux": [4], "aaa": [1]}`))
		if err == nil {
			err = g.check([]*engine.Engine{entries[0].Method})
		}
		if err == nil || !strings.Contains(err.Error(), `"aaa"`) {
			t.Fatal(err)
		}
	}
}
