package auto

import (
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/method/internal/problemtest"
	"github.com/heatwalk/heatwalk/method/problem"
)

// Of many labels a sample teaches the models that are tried, and no other label does: what
// these models say of a fold is what they say where only the sample's rows are known.
func TestSampleTeaches(t *testing.T) {
	p, _ := problemtest.Blocks(t, 3, 120, 80, 3, 5, 1)
	r := &weigher{p: p, set: &Settings{Workers: 1}, out: &Prediction{}}
	if err := r.walk(t.Context()); err != nil {
		t.Fatal(err)
	}
	all, half := make([]bool, 80), make([]bool, 80)
	for i := range all {
		all[i], half[i] = true, i%2 == 0
	}
	said := func(sampled []bool) *heldOutFold {
		fold, err := r.tryFold(t.Context(), 1, sampled)
		if err != nil {
			t.Fatal(err)
		}
		return fold
	}
	full, got := said(all), said(half)
	known := r.several
	r.several = slices.Clone(known) // labels that are alone in their class teach nothing
	for i := range half {
		r.several[i] = known[i] && half[i]
	}
	want := said(all)
	r.several = known
	for s := range want.Rows {
		if !slices.Equal(got.Rows[s], want.Rows[s]) || slices.Equal(got.Rows[s], full.Rows[s]) {
			t.Errorf("setting %d: labels beside the sample teach", s)
		}
	}
}

// The sample is about choiceLabels of the labels where there are many columns and classes,
// all classes among them, and all labels elsewhere.
func TestSampled(t *testing.T) {
	for _, of := range []struct{ classes, want int }{{3, 600}, {80, choiceLabels}} {
		p, _ := problemtest.Blocks(t, 3, 700, 600, of.classes, 5, 1)
		r := &weigher{p: p, set: &Settings{LowEffort: true}, columns: &columns{classes: of.classes, free: freeFilters}}
		count, seen := 0, map[int]bool{}
		for i, in := range r.sampled() {
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

// A fold of many classes tries no smaller λ once its labels are much less likely: what it says
// of the others is what it said last. One of few classes tries all.
func TestFalls(t *testing.T) {
	const labels = 50
	truth := func(probabilities ...float64) (list [][]float64) {
		for _, q := range probabilities {
			list = append(list, slices.Repeat([]float64{q}, labels))
		}
		return list
	}
	of := func(classes int) *weigher { return &weigher{p: &problem.Problem{Names: make([]string, classes)}} }
	for _, c := range []struct {
		classes int
		truth   [][]float64
		want    bool
	}{
		{manyClasses, truth(0.5), false},
		{manyClasses, truth(0.5, 0.6, 0.595), false},
		{manyClasses, truth(0.5, 0.6, 0.58), true},
		{manyClasses - 1, truth(0.5, 0.6, 0.1), false},
	} {
		if got := of(c.classes).falls(c.truth); got != c.want {
			t.Errorf("%d classes, %v: %v", c.classes, c.truth[len(c.truth)-1][0], got)
		}
	}
}

// Many labels of many classes are learned from by fewer candidates, all λ of which have answers
// from each fold.
func TestLengthyCandidates(t *testing.T) {
	p, _ := problemtest.Blocks(t, 4, 700, choiceLabels+1, manyClasses, 5, 1)
	r := &weigher{p: p, set: &Settings{Workers: 1, LowEffort: true}, out: &Prediction{}}
	if err := r.walk(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := r.candidates(); !slices.Equal(got, lengthyCandidates) {
		t.Errorf("candidates %v", got)
	}
	if err := r.tryModels(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, trial := range r.trials {
		for i, row := range trial.rows {
			if len(row) != manyClasses {
				t.Fatalf("λ = %g: label %d has %d probabilities", trial.lambda, i, len(row))
			}
		}
	}
}
