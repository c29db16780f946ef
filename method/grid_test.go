package method

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/spec"
)

func TestGridSizes(t *testing.T) {
	for name, g := range map[string]*Grid{
		"small": smallGrid(Plain, Honest), "none": noGrid(),
		"from step 5": {Values: map[string][]spec.Value{"alpha": spec.Grid(0, 1), "steps": spec.Grid(3, 5, 7), "min-steps": spec.Grid(5), "cost": spec.Grid(1)}, Features: []Features{Honest}},
	} {
		if err := g.validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		seen := map[string]bool{}
		for i := range g.Size() {
			p := g.along(learnerOf("svm").Path).at(i)
			if p.Steps < p.MinSteps {
				t.Errorf("%s: setting %d is %v", name, i, p)
			}
			seen[p.String()] = true
		}
		if len(seen) != g.Size() {
			t.Errorf("%s: %d different settings of %d", name, len(seen), g.Size())
		}
	}
}

func TestGridProblems(t *testing.T) {
	good := func(change func(*Grid)) *Grid {
		g := &Grid{Values: map[string][]spec.Value{"alpha": spec.Grid(0.5), "steps": spec.Grid(1), "cost": spec.Grid(1)}, Features: []Features{Plain}}
		change(g)
		return g
	}
	for _, test := range []struct {
		g    *Grid
		want string
	}{
		{good(func(g *Grid) { g.Values["alpha"] = nil }), "alpha has no value"},
		{good(func(g *Grid) { g.Values["alpha"] = spec.Grid(0.5, 0.5) }), "alpha repeats a value"},
		{good(func(g *Grid) { g.Values["alpha"] = spec.Grid(1.5) }), "alpha 1.5 is out of range; want 0 ≤ α ≤ 1"},
		{good(func(g *Grid) { g.Values["steps"] = spec.Grid(-1) }), "steps -1 is out of range; want 0 ≤ T ≤ 1000000"},
		{good(func(g *Grid) { g.Values["min-steps"] = spec.Grid(3) }), "no steps at or above min_steps 3"},
		{good(func(g *Grid) { g.Values["min-steps"] = spec.Grid(-3) }), "min_steps -3 is negative"},
		{good(func(g *Grid) { g.Values["cost"] = spec.Grid(0) }), "cost 0 is out of range; want C > 0"},
		{good(func(g *Grid) { g.Features = []Features{"bold"} }), `features "bold" are neither "plain" nor "honest"`},
		{good(func(g *Grid) { g.Values["alpha"], g.Values["cost"] = spec.Grid(2), spec.Grid(-1) }), "alpha 2 is out of range; want 0 ≤ α ≤ 1\ncost -1 is out"},
	} {
		if err := test.g.validate(); !errors.Is(err, ErrGrid) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v, want %s", test.g, err, test.want)
		}
	}
}

// On a plateau the middle is chosen, at equal hits the simpler setting.
func TestBest(t *testing.T) {
	g := &Grid{Values: map[string][]spec.Value{"alpha": spec.Grid(0.5), "steps": spec.Grid(1, 2, 3, 4, 5), "cost": spec.Grid(1)}, Features: []Features{Plain}}
	g = g.along(learnerOf("svm").Path)
	for _, test := range []struct {
		hits []int64
		want int
	}{
		{[]int64{900, 100, 100, 100, 100}, 1},
		{[]int64{100, 700, 700, 700, 100}, 3},
		{[]int64{500, 500, 500, 500, 500}, 1},
		{[]int64{705, 100, 700, 700, 700}, 4}, // the peak is one of luck: √(1000·0.7·0.3) = 14.5
		{[]int64{760, 100, 700, 700, 700}, 1}, // and here it is not
	} {
		if got := g.at(best(g, test.hits, 1000)).Steps; got != test.want {
			t.Errorf("hits %v: %d steps, want %d", test.hits, got, test.want)
		}
	}
	several := &Grid{Values: map[string][]spec.Value{"alpha": spec.Grid(0.5), "steps": spec.Grid(1), "lambda": spec.Grid(0.1, 1, 10), "cost": spec.Grid(0.1, 1, 10)}, Features: []Features{Plain}}
	g = several.along(learnerOf("rls").Path)
	if got := best(g, []int64{500, 500, 500}, 1000); got != 2 {
		t.Errorf("setting %d of λ, want the highest", got)
	}
	g = several.along(learnerOf("svm").Path)
	if got := best(g, []int64{500, 500, 500}, 1000); got != 0 {
		t.Errorf("setting %d of costs, want the lowest", got)
	}
}

// Of a parameter that is not chosen the last value counts.
func TestGridWith(t *testing.T) {
	g := smallGrid(Plain)
	if got := g.with(cwk.Spec.Param("min-steps"), spec.Grid(3, 1)).minSteps(); got != 3 {
		t.Errorf("the first step that counts is %d, want 3", got)
	}
	if got := g.with(cwk.Spec.Param("steps"), spec.Grid(30, 10)).steps(); !slices.Equal(got, []int{10, 30}) || g.minSteps() != 0 {
		t.Errorf("steps %v, and of the grid before %d", got, g.minSteps())
	}
}

// Settings of a learner without a path are no neighbours of each other: the one with most right
// answers is chosen, however those beside it do.
func TestPickWithoutPath(t *testing.T) {
	g := &Grid{Values: map[string][]spec.Value{"alpha": spec.Grid(0.5), "steps": spec.Grid(3)}, Features: []Features{Plain}, settled: make([]*Setting, 5)}
	for i := range g.settled {
		g.settled[i] = new(Setting)
	}
	if got := new(chooser).pick(g, []int64{0, 90, 0, 89, 89}, 100); got != 1 {
		t.Errorf("setting %d, want 1", got)
	}
}
