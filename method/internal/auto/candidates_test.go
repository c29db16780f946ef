package auto

import (
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/test/contract"
)

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
	f := featuresOf(t, p, &settings{Settings: engine.Settings{Workers: 1, Effort: engine.LowEffort}})
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
