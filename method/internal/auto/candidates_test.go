package auto

import (
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/method/internal/problemtest"
)

// The models of folds learn from the labels of a sample alone: their probabilities are those
// of models for which the other labels have no features.
func TestSampleTeaches(t *testing.T) {
	p, _ := problemtest.Blocks(t, 3, 120, 80, 3, 5, 1)
	f := featuresOf(t, p, &Settings{Workers: 1})
	all, half := make([]bool, 80), make([]bool, 80)
	for i := range all {
		all[i], half[i] = true, i%2 == 0
	}
	predict := func(sampled []bool) *foldProbabilities {
		fold, err := f.predictFold(t.Context(), 1, sampled, settingsOf(&f.in.design, p, len(p.Row)))
		if err != nil {
			t.Fatal(err)
		}
		return fold
	}
	full, got := predict(all), predict(half)
	known := f.hasOthers
	f.hasOthers = slices.Clone(known) // models do not learn from the only label of a class
	for i := range half {
		f.hasOthers[i] = known[i] && half[i]
	}
	want := predict(all)
	f.hasOthers = known
	for s := range want.rows {
		if !slices.Equal(got.rows[s], want.rows[s]) || slices.Equal(got.rows[s], full.rows[s]) {
			t.Errorf("setting %d: a model learns from labels outside the sample", s)
		}
	}
}

// The sample is about choiceLabels of the labels where there are many columns and classes,
// all classes among them, and all labels elsewhere.
func TestSampled(t *testing.T) {
	for _, of := range []struct{ classes, want int }{{3, 600}, {80, choiceLabels}} {
		p, _ := problemtest.Blocks(t, 3, 700, 600, of.classes, 5, 1)
		in := inputOf(t, p, &Settings{LowEffort: true})
		f := &features{in: in, columns: &columns{design: &in.design, classes: of.classes}, fold: p.Class}
		count, seen := 0, map[int]bool{}
		for i, in := range f.sampled() {
			if in {
				count++
				seen[p.Class[i]] = true
			}
		}
		if count < of.want || count > of.want+of.classes/2 || len(seen) != of.classes {
			t.Errorf("%d labels of %d of %d classes are sampled, want about %d", count, len(seen), of.classes, of.want)
		}
	}
}

// A fold ends the search of λ once its labels are much less likely. One of few labels tries all.
func TestIsFalling(t *testing.T) {
	truth := func(labels int, probabilities ...float64) (list [][]float64) {
		for _, q := range probabilities {
			list = append(list, slices.Repeat([]float64{q}, labels))
		}
		return list
	}
	for _, c := range []struct {
		truth [][]float64
		want  bool
	}{
		{truth(50, 0.5), false},
		{truth(50, 0.5, 0.6, 0.595), false},
		{truth(50, 0.5, 0.6, 0.58), true},
		{truth(raceLabels-1, 0.5, 0.6, 0.1), false},
	} {
		if got := isFalling(c.truth); got != c.want {
			t.Errorf("%d labels, %v: %v", len(c.truth[0]), c.truth[len(c.truth)-1][0], got)
		}
	}
}

// Settings that are much less likely in the first fold are dropped. With few labels all stay.
func TestRace(t *testing.T) {
	for _, labels := range []int{2 * raceLabels, 2*raceLabels - 2} {
		h := &heldOut{}
		for i := range labels {
			h.fold, h.hasOthers = append(h.fold, i%2), append(h.hasOthers, true)
		}
		for _, q := range []float64{0.5, 0.2, 0.44} {
			s := heldOutSetting{probabilities: newProbabilities(labels)}
			for i := range labels {
				s.rows[i], s.truth[i] = []float32{0}, q+0.1*float64(i/2%2)*float64(len(h.settings)-1)
			}
			h.settings = append(h.settings, s)
		}
		h.race()
		if want := 3 - labels/(2*raceLabels); len(h.settings) != want {
			t.Errorf("%d labels: %d settings are left, want %d", labels, len(h.settings), want)
		}
	}
}

// Many labels of some classes have fewer candidates, all λ of which have held-out probabilities in
// each fold.
func TestSlowCandidates(t *testing.T) {
	p, _ := problemtest.Blocks(t, 4, 700, choiceLabels+1, someClasses, 5, 1)
	f := featuresOf(t, p, &Settings{Workers: 1, LowEffort: true})
	if got := candidatesOf(&f.in.design, f.in.p); !slices.Equal(got, slowCandidates) {
		t.Errorf("candidates %v", got)
	}
	h, err := predictHeldOut(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	for _, trial := range h.settings {
		for i, row := range trial.rows {
			if len(row) != someClasses {
				t.Fatalf("λ = %g: label %d has %d probabilities", trial.lambda, i, len(row))
			}
		}
	}
}
