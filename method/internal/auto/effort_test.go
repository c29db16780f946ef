package auto

import (
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/test/contract"
)

// High effort adds what a normal prediction says that it adds, with the same bits for any number of workers and memory, and
// kept choices predict the same.
func TestHighEffort(t *testing.T) {
	p, class := contract.Blocks(t, 3, 900, 200, 3, 6, 1)
	normal := evident(t, p, &settings{Settings: engine.Settings{Workers: 2}})
	if normal.More == nil || normal.More.Seconds < 1 || !slices.Contains(normal.More.Stages, "boosted trees") || normal.More.Labels != 0 {
		t.Fatalf("high effort adds %+v, want boosted trees", normal.More)
	}
	high := engine.Settings{Workers: 1, Effort: engine.HighEffort}
	out := evident(t, p, &settings{Settings: high})
	if out.More != nil {
		t.Errorf("high effort adds %+v to itself", out.More)
	}
	hasTrees := slices.ContainsFunc(out.Mixed.(*Choice).Mixture, func(c Component) bool { return c.Trees })
	if !hasTrees {
		t.Error("trees are no component")
	}
	if found, before := contract.Accuracy(p, out.Class, class), contract.Accuracy(p, normal.Class, class); found < before-0.02 {
		t.Errorf("accuracy %.3f with high effort, %.3f without", found, before)
	}
	for _, set := range []*settings{
		{Settings: engine.Settings{Workers: 3, Memory: 64 << 20, Effort: engine.HighEffort}},
		{Settings: high, choice: out.Mixed.(*Choice)},
	} {
		if again := evident(t, p, set); !slices.Equal(again.Scores.Data, out.Scores.Data) {
			t.Errorf("%+v: other probabilities", set)
		}
	}
	if low := evident(t, p, &settings{Settings: engine.Settings{Effort: engine.LowEffort}}); low.More != nil {
		t.Errorf("low effort advises %+v", low.More)
	}
}

// With high effort models learn from up to 20,000 labels.
func TestHighDesign(t *testing.T) {
	p, _ := contract.Blocks(t, 3, 9000, 8000, 3, 6, 1)
	for effort, want := range map[string]int{"": 4000, engine.NormalEffort: 4000, engine.LowEffort: 4000, engine.HighEffort: 8000} {
		if d := designOf(p, &settings{Settings: engine.Settings{Effort: effort}}); d.examples != want {
			t.Errorf("effort %q: models learn from %d labels, want %d", effort, d.examples, want)
		}
	}
}
