package method

import (
	"context"
	"math"
	"testing"

	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/validate"
)

// TestTuneOnSplits compares what tuning says of the chosen parameters with predictions
// that are made with them on each split: the same answers, but for tolerances.
func TestTuneOnSplits(t *testing.T) {
	g := testgraph.Planted(t, 5, 100, 80)
	p := &Problem{A: g.A, Degrees: g.Degrees, Row: g.Row, Class: g.Class, Names: g.Names}
	splits, err := validate.RandomSplits(p.Class, 0.4, 2, 1, validate.ForTuning)
	if err != nil {
		t.Fatal(err)
	}
	methods, err := ParseMethods("diffusion,von-neumann+rls,pseudo-inverse,modularity,regularized-laplacian+logistic,pseudo-inverse+dkm,lgc,spectral+logistic")
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	for _, m := range methods {
		c, err := m.Tune(ctx, p, splits, nil)
		if err != nil {
			t.Fatal(m.Name(), err)
		}
		if c == nil {
			t.Fatalf("%s chooses nothing on splits", m.Name())
		}
		right, tested := 0, 0
		for i := range splits.Len() {
			out, err := m.Predict(ctx, p.At(splits.At(i).Train), &c.Parameters, nil)
			if err != nil {
				t.Fatal(m.Name(), err)
			}
			for _, at := range splits.At(i).Test {
				tested++
				if out.Class[p.Row[at]] == p.Class[at] {
					right++
				}
			}
		}
		if share := float64(right) / float64(tested); c.Tested != tested || math.Abs(c.Accuracy-share) > 0.03 {
			t.Errorf("%s, %v: %v of %d by tuning, %v of %d by predictions", m.Name(), c.Parameters, c.Accuracy, c.Tested, share, tested)
		}
	}
}

// A walk of no step tells nothing of a node without a label, whatever the cost: it is
// given the largest class, by tuning and by predictions alike.
func TestTuneWithoutSteps(t *testing.T) {
	g := testgraph.Planted(t, 5, 100, 80)
	p := &Problem{A: g.A, Degrees: g.Degrees, Row: g.Row, Names: []string{"few", "most", "some"}}
	for i := range p.Row {
		p.Class = append(p.Class, []int{1, 0, 1, 2, 1, 2}[i%6])
	}
	splits, err := validate.RandomSplits(p.Class, 0.3, 4, 1, validate.ForTuning)
	if err != nil {
		t.Fatal(err)
	}
	methods, err := ParseMethods("cwk")
	if err != nil {
		t.Fatal(err)
	}
	for _, cost := range []float64{1, 128} {
		set := &Settings{Grid: &Grid{Alpha: []float64{0.5}, Steps: []int{0}, Cost: []float64{cost}, Features: []Features{Plain}}}
		c, err := methods[0].Tune(t.Context(), p, splits, set)
		if err != nil {
			t.Fatal(err)
		}
		right, largest := 0, 0
		for i := range splits.Len() {
			train := p.At(splits.At(i).Train)
			out, err := methods[0].Predict(t.Context(), train, &c.Parameters, set)
			if err != nil {
				t.Fatal(err)
			}
			for _, at := range splits.At(i).Test {
				if out.Class[p.Row[at]] == p.Class[at] {
					right++
				}
				if validate.Majority(train.Class) == p.Class[at] {
					largest++
				}
			}
		}
		if tuned := int(math.Round(c.Accuracy * float64(c.Tested))); right != largest || tuned != largest {
			t.Errorf("C = %v: %d right by tuning and %d by predictions, want %d, those of the largest class", cost, tuned, right, largest)
		}
	}
}
