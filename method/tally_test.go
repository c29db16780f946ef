package method

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/heatwalk/heatwalk/method/internal/problemtest"
	"github.com/heatwalk/heatwalk/validate"
)

// TestTally stops choices on splits whenever something was counted and lets them go on from
// what was written of it: every unit of work is done once, the choice is that of one which
// was not stopped, and to choose again from a whole tally takes next to no sweeps.
func TestTally(t *testing.T) {
	p := problemtest.Planted(t, 5, 100, 80)
	counted := &problemtest.Counting{Matrix: p.A}
	p.A = counted
	splits, err := validate.Draw(p.Class, validate.Design{Fraction: 0.4, Tuning: true}, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	methods, err := parseMethods("cwk,cwk+perceptron,modularity+rls,pseudo-inverse,pseudo-inverse+density,spectral+logistic,lgc+cs")
	if err != nil {
		t.Fatal(err)
	}
	found := func(c *Choice) string {
		text, err := json.Marshal(c.Parameters)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%s: %v of %d, from %d", text, c.Accuracy, c.Tested, c.Settings)
	}
	stop := errors.New("stopped")
	for _, m := range methods {
		set := &Settings{Grid: tinyGrid, RNGSeed: 3, Tally: new(Tally)}
		whole, err := m.Tune(t.Context(), p, splits, set)
		if err != nil {
			t.Fatal(m.Name(), err)
		}
		units := 0
		for _, s := range set.Tally.Stages {
			units += s.Done
		}
		text := []byte(`{}`)
		var c *Choice
		done := 0
		for {
			tally := new(Tally)
			if err := json.Unmarshal(text, tally); err != nil {
				t.Fatal(err)
			}
			tally.Keep = func() error { done++; return stop }
			c, err = m.Tune(t.Context(), p, splits, &Settings{Grid: tinyGrid, RNGSeed: 3, Tally: tally})
			if err == nil {
				break
			}
			if !errors.Is(err, stop) {
				t.Fatal(m.Name(), err)
			}
			if text, err = json.Marshal(tally); err != nil {
				t.Fatal(err)
			}
		}
		if done != units || units < splits.Len {
			t.Errorf("%s: %d units of work, %d in one go", m.Name(), done, units)
		}
		if got, want := found(c), found(whole); got != want {
			t.Errorf("%s chooses %s, want %s", m.Name(), got, want)
		}
		before := counted.Count()
		tally := &Tally{Stages: set.Tally.Stages, Keep: func() error { return stop }}
		if _, err := m.Tune(t.Context(), p, splits, &Settings{Grid: tinyGrid, RNGSeed: 3, Tally: tally}); err != nil {
			t.Error(m.Name(), err)
		}
		if sweeps := counted.Count() - before; sweeps > 5 {
			t.Errorf("%s: %d sweeps to choose again from a whole tally", m.Name(), sweeps)
		}
		other := &Tally{Stages: []Stage{{Right: make([]int64, 1+len(set.Tally.Stages[0].Right))}}}
		if _, err := m.Tune(t.Context(), p, splits, &Settings{Grid: tinyGrid, RNGSeed: 3, Tally: other}); !errors.Is(err, validate.ErrUsage) {
			t.Errorf("%s: a tally of another choice: %v", m.Name(), err)
		}
	}
}
