package method

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGridSizes(t *testing.T) {
	if got := PaperGrid(Plain).Size(); got != 5850 {
		t.Errorf("the grid of the paper has %d settings, want 13·30·15 = 5850", got)
	}
	for name, g := range map[string]*Grid{
		"paper": PaperGrid(Plain, Honest), "small": SmallGrid(Plain, Honest), "none": NoGrid(),
		"from step 5": {Alpha: []float64{0, 1}, Steps: []int{3, 5, 7}, MinSteps: 5, Cost: []float64{1}, Features: []Features{Honest}},
	} {
		if err := g.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		seen := map[Parameters]bool{}
		for i := range g.Size() {
			p := g.at(i)
			if p.Steps < p.MinSteps {
				t.Errorf("%s: setting %d is %v", name, i, p)
			}
			seen[p] = true
		}
		if len(seen) != g.Size() {
			t.Errorf("%s: %d different settings of %d", name, len(seen), g.Size())
		}
	}
}

func TestReadGrid(t *testing.T) {
	got, err := ReadGrid(strings.NewReader(`{"alpha": [0.5, 0.1], "steps": [10, 2], "min_steps": 1, "cost": [8, 1]}`))
	want := &Grid{
		Alpha: []float64{0.1, 0.5}, Steps: []int{2, 10}, MinSteps: 1, Cost: []float64{1, 8},
		Features: []Features{Plain, Honest},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Fatal(err, diff)
	}
	const rest = `"steps": [1], "cost": [1]`
	for _, test := range []struct{ in, want string }{
		{`{"alpha": [0.5], ` + rest + `} {}`, "more than one JSON value"},
		{`{"alpha": [0.5], ` + rest + `, "gamma": [1]}`, `there is no key "gamma", only alpha, steps, min_steps, cost, lambda and features`},
		{`{"alpha": [], ` + rest + `}`, "alpha has no value"},
		{`{"alpha": [0.5, 0.5], ` + rest + `}`, "alpha repeats a value"},
		{`{"alpha": [1.5], ` + rest + `}`, "alpha 1.5 does not lie between 0 and 1"},
		{`{"alpha": [0], "steps": [-1], "cost": [1]}`, "steps -1 do not lie between 0 and 1000000"},
		{`{"alpha": [0], "steps": [2], "min_steps": 3, "cost": [1]}`, "no steps at or above min_steps 3"},
		{`{"alpha": [0], "steps": [2], "min_steps": -3, "cost": [1]}`, "min_steps -3 is negative"},
		{`{"alpha": [0], "steps": [1], "cost": [0]}`, "cost 0 is not a positive number"},
		{`{"alpha": [0], ` + rest + `, "features": ["plain", "bold"]}`, `features "bold" are neither "plain" nor "honest"`},
		{`{"alpha": [2], "steps": [1], "cost": [-1]}`, "alpha 2 does not lie between 0 and 1\ncost -1 is not"},
		{``, "EOF"},
		{`[]`, "array in the place of an object"},
		{`{"alpha": [0], ` + rest + `}` + strings.Repeat(" ", 1<<20), "longer than 1 MiB"},
		{`{"` + strings.Repeat("a", 1<<20), "longer than 1 MiB"},
	} {
		_, err := ReadGrid(strings.NewReader(test.in))
		if !errors.Is(err, ErrGrid) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%.80s: %.200v, want %s", test.in, err, test.want)
		}
	}
}

func FuzzReadGrid(f *testing.F) {
	f.Add(`{"alpha": [0.5, 0.1], "steps": [10, 2], "min_steps": 1, "cost": [8, 1], "features": ["honest"]}`)
	f.Add(`{"alpha": [1e-400], "steps": [1e3], "cost": [1e400]}`)
	f.Add(`{"alpha": null}`)
	f.Fuzz(func(t *testing.T, in string) {
		g, err := ReadGrid(strings.NewReader(in))
		if err != nil {
			if !errors.Is(err, ErrGrid) {
				t.Fatalf("%v does not wrap ErrGrid", err)
			}
			return
		}
		if g.Validate() != nil || g.Size() < 1 {
			t.Fatalf("%+v was read", g)
		}
	})
}

// On a plateau the middle is chosen, at equal hits the simpler setting.
func TestBest(t *testing.T) {
	g := &Grid{Alpha: []float64{0.5}, Steps: []int{1, 2, 3, 4, 5}, Cost: []float64{1}, Features: []Features{Plain}}
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
}
