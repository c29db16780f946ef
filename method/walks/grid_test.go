package walks

import (
	"context"
	"errors"
	"testing"

	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/test/contract"
)

func TestGridSizes(t *testing.T) {
	for name, s := range map[string]*engine.Settings{
		"small": {}, "none": {Fixed: true}, "from step 5": {Lists: map[string][]param.Value{"steps": param.Grid(7, 3, 5), "min-steps": param.Grid(5)}},
	} {
		g, seen := jobOf(t, s, "svm"), map[string]bool{}
		for i := range g.Size() {
			p := settingAt(g, i)
			if p.Steps() < p.MinSteps() {
				t.Errorf("%s: setting %d is %v", name, i, p)
			}
			seen[p.String()] = true
		}
		if len(seen) != g.Size() || name == "none" && len(seen) != 1 {
			t.Errorf("%s: %d different settings of %d", name, len(seen), g.Size())
		}
	}
}

func TestGridProblems(t *testing.T) {
	p := contract.Planted(t, 5, 60, 30)
	for name, v := range map[string]param.Value{"alpha": param.Of(1.5), "steps": param.Of(-1), "cost": param.Of(0), "features": param.Of("bold")} {
		_, err := plainWalks().engine().Predict(t.Context(), p, nil, &engine.Settings{Lists: map[string][]param.Value{name: {v}}})
		if wrong := new(param.ParameterError); !errors.As(err, &wrong) || wrong.Parameter != name {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBest(t *testing.T) {
	lists := contract.Lists(map[string][]param.Value{"alpha": param.Grid(0.5), "steps": param.Grid(1, 2, 3, 4, 5), "cost": param.Grid(1)}, Plain)
	g := gridOf(t, lists, "svm")
	best := func(g *job, merit []float64, tested int) int {
		counts := choose.NewCounts(len(merit), []choose.FoldLabels{{Tested: tested}})
		copy(counts.Right, merit)
		s := &choose.Search{Kernel: g.SourceSpace, Learner: g.Space, Together: true, Measure: func(context.Context, []int, []int) (*choose.Counts, error) { return counts, nil }}
		found, err := s.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return found.Kernel*len(g.Values) + found.Setting
	}
	for _, test := range []struct {
		hits []float64
		want int
	}{
		{[]float64{900, 100, 100, 100, 100}, 1},
		{[]float64{100, 700, 700, 700, 100}, 3},
		{[]float64{500, 500, 500, 500, 499}, 1},
		{[]float64{705, 100, 700, 700, 700}, 4}, // the peak is one of luck: √(1000·0.7·0.3) = 14.5
		{[]float64{760, 100, 700, 700, 700}, 1},
	} {
		if got := settingAt(g, best(g, test.hits, 1000)).Kernel.Values.Int("steps"); got != test.want {
			t.Errorf("hits %v: %d steps, want %d", test.hits, got, test.want)
		}
	}
	several := contract.Lists(map[string][]param.Value{"alpha": param.Grid(0.5), "steps": param.Grid(1), "lambda": param.Grid(0.1, 1, 10, 100), "cost": param.Grid(0.1, 1, 10, 100)}, Plain)
	g = gridOf(t, several, "rls")
	if got := best(g, []float64{500, 500, 500, 100}, 1000); got != 1 {
		t.Errorf("setting %d of λ, want the highest", got)
	}
	g = gridOf(t, several, "svm")
	if got := best(g, []float64{500, 500, 500, 100}, 1000); got != 0 {
		t.Errorf("setting %d of costs, want the lowest", got)
	}
}

func TestWalkSettings(t *testing.T) {
	set := &engine.Settings{Lists: contract.Lists(map[string][]param.Value{"alpha": param.Grid(0.9, 0.5)}, "honest"), Given: param.Values{"min-steps": param.Of(1)}}
	walks, err := walkSettings(set)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range walks {
		if v.Int("min-steps") != 1 || v.Word("features") != Honest {
			t.Error(v)
		}
	}
	if first, last := walks[0].Number("alpha"), walks[len(walks)-1].Number("alpha"); first != 0.5 || last != 0.9 {
		t.Errorf("α from %v to %v", first, last)
	}
}
