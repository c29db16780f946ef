package auto

import (
	"reflect"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/test/contract"
)

func TestSampleTeaches(t *testing.T) {
	p, _ := contract.Blocks(t, 3, 120, 80, 3, 5, 1)
	f := featuresOf(t, p, &settings{Settings: engine.Settings{Workers: 1}})
	all, half := make([]bool, 80), make([]bool, 80)
	for i := range all {
		all[i], half[i] = true, i%2 == 0
	}
	predict := func(sampled []bool) []component {
		h := &heldOut{class: p.Class, components: componentsOf(f)}
		if err := h.predictFold(t.Context(), f, 1, sampled); err != nil {
			t.Fatal(err)
		}
		return h.components
	}
	full, got := predict(all), predict(half)
	for i, isSampled := range half {
		if !isSampled {
			clear(f.walks.honest.Row(i))
		}
	}
	want := predict(all)
	for i := range want {
		if !reflect.DeepEqual(got[i].rows, want[i].rows) || reflect.DeepEqual(got[i].rows, full[i].rows) {
			t.Errorf("component %d: a model learns from labels outside the sample", i)
		}
	}
}

func TestSampled(t *testing.T) {
	for _, of := range []struct{ classes, want int }{{3, 600}, {80, choiceLabels}} {
		p, _ := contract.Blocks(t, 3, 700, 600, of.classes, 5, 1)
		in := inputOf(t, p, &settings{Settings: engine.Settings{LowEffort: true}})
		f := &features{in: in, columns: &columns{design: &in.design, classes: of.classes}, fold: p.Class}
		count, seen := 0, map[int]bool{}
		for i, in := range f.sampleTraining() {
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

func TestRace(t *testing.T) {
	for _, labels := range []int{2 * raceLabels, 2*raceLabels - 2} {
		h := &heldOut{class: make([]int, labels)}
		for i := range labels {
			h.fold, h.hasOthers = append(h.fold, i%2), append(h.hasOthers, true)
		}
		for _, q := range []float64{0.5, 0.2, 0.44} {
			c := newComponent(candidate{}, 0, labels)
			for i := range labels {
				c.rows[i] = []float32{float32(q + 0.1*float64(i/2%2)*float64(len(h.components)-1))}
			}
			h.components = append(h.components, c)
		}
		h.race()
		if want := 3 - labels/(2*raceLabels); len(h.components) != want {
			t.Errorf("%d labels: %d components are left, want %d", labels, len(h.components), want)
		}
	}
}

func TestSlowCandidates(t *testing.T) {
	p, _ := contract.Blocks(t, 4, 700, choiceLabels+1, someClasses, 5, 1)
	f := featuresOf(t, p, &settings{Settings: engine.Settings{Workers: 1, LowEffort: true}})
	if got := candidatesOf(&f.in.design, f.in.p); !slices.Equal(got, slowCandidates) {
		t.Errorf("candidates %v", got)
	}
	h, err := predictHeldOut(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	for _, trial := range h.components {
		for i, row := range trial.rows {
			if len(row) != someClasses {
				t.Fatalf("λ = %g: label %d has %d probabilities", trial.Lambda, i, len(row))
			}
		}
	}
}
