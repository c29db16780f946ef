package method

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/param"
)

func TestGridSizes(t *testing.T) {
	for name, g := range map[string]*Grid{
		"small": smallGrid(Plain, Honest), "none": noGrid(),
		"from step 5": {Values: map[string][]param.Value{"alpha": param.Grid(0, 1), "steps": param.Grid(3, 5, 7), "min-steps": param.Grid(5), "cost": param.Grid(1)}, Features: []Features{Honest}},
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
		g := &Grid{Values: map[string][]param.Value{"alpha": param.Grid(0.5), "steps": param.Grid(1), "cost": param.Grid(1)}, Features: []Features{Plain}}
		change(g)
		return g
	}
	for _, test := range []struct {
		g    *Grid
		want string
	}{
		{good(func(g *Grid) { g.Values["alpha"] = nil }), "alpha has no value"},
		{good(func(g *Grid) { g.Values["alpha"] = param.Grid(0.5, 0.5) }), "alpha repeats a value"},
		{good(func(g *Grid) { g.Values["alpha"] = param.Grid(1.5) }), "alpha 1.5 is out of range; want 0 ≤ α ≤ 1"},
		{good(func(g *Grid) { g.Values["steps"] = param.Grid(-1) }), "steps -1 is out of range; want 0 ≤ T ≤ 1000000"},
		{good(func(g *Grid) { g.Values["min-steps"] = param.Grid(3) }), "no steps at or above min_steps 3"},
		{good(func(g *Grid) { g.Values["min-steps"] = param.Grid(-3) }), "min_steps -3 is negative"},
		{good(func(g *Grid) { g.Values["cost"] = param.Grid(0) }), "cost 0 is out of range; want C > 0"},
		{good(func(g *Grid) { g.Features = []Features{"bold"} }), `features "bold" are neither "plain" nor "honest"`},
		{good(func(g *Grid) { g.Values["alpha"], g.Values["cost"] = param.Grid(2), param.Grid(-1) }), "alpha 2 is out of range; want 0 ≤ α ≤ 1\ncost -1 is out"},
	} {
		if err := test.g.validate(); !errors.Is(err, ErrGrid) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v, want %s", test.g, err, test.want)
		}
	}
}

// On a plateau the middle is chosen, at equal hits the simpler setting.
func TestBest(t *testing.T) {
	g := &Grid{Values: map[string][]param.Value{"alpha": param.Grid(0.5), "steps": param.Grid(1, 2, 3, 4, 5), "cost": param.Grid(1)}, Features: []Features{Plain}}
	g = g.along(learnerOf("svm").Path)
	best := func(g *Grid, merit []float64, tested int) int {
		walks, learner := g.spaces()
		counts := choose.NewCounts(len(merit), []choose.FoldLabels{{Tested: tested}})
		for i, m := range merit {
			counts.Right[i] = int64(m)
		}
		s := &choose.Search{Kernel: walks, Learner: learner, Together: true, Measure: func(context.Context, []int, []int) (*choose.Counts, error) { return counts, nil }}
		found, err := s.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return found.Kernel*g.settings() + found.Setting
	}
	for _, test := range []struct {
		hits []float64
		want int
	}{
		{[]float64{900, 100, 100, 100, 100}, 1},
		{[]float64{100, 700, 700, 700, 100}, 3},
		{[]float64{500, 500, 500, 500, 499}, 1},
		{[]float64{705, 100, 700, 700, 700}, 4}, // the peak is one of luck: √(1000·0.7·0.3) = 14.5
		{[]float64{760, 100, 700, 700, 700}, 1}, // and here it is not
	} {
		if got := g.at(best(g, test.hits, 1000)).Steps; got != test.want {
			t.Errorf("hits %v: %d steps, want %d", test.hits, got, test.want)
		}
	}
	several := &Grid{Values: map[string][]param.Value{"alpha": param.Grid(0.5), "steps": param.Grid(1), "lambda": param.Grid(0.1, 1, 10, 100), "cost": param.Grid(0.1, 1, 10, 100)}, Features: []Features{Plain}}
	g = several.along(learnerOf("rls").Path)
	if got := best(g, []float64{500, 500, 500, 100}, 1000); got != 1 {
		t.Errorf("setting %d of λ, want the highest", got)
	}
	g = several.along(learnerOf("svm").Path)
	if got := best(g, []float64{500, 500, 500, 100}, 1000); got != 0 {
		t.Errorf("setting %d of costs, want the lowest", got)
	}
}

// Of a parameter that is not chosen the last value counts.
func TestGridWith(t *testing.T) {
	g := smallGrid(Plain)
	if got := g.with(cwk.Spec.Param("min-steps"), param.Grid(3, 1)).minSteps(); got != 3 {
		t.Errorf("the first step that counts is %d, want 3", got)
	}
	if got := g.with(cwk.Spec.Param("steps"), param.Grid(30, 10)).steps(); !slices.Equal(got, []int{10, 30}) || g.minSteps() != 0 {
		t.Errorf("steps %v, and of the grid before %d", got, g.minSteps())
	}
}
