package evaluate

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/param"
)

// Of walks and a learner the axes are the absorption and the number of steps, and a cell is the best
// accuracy over the cost.
func TestSurface(t *testing.T) {
	svm := &classify.Learners().Named("svm").Spec
	trial := func(alpha float64, steps int, cost, accuracy float64) method.Trial {
		return method.Trial{Accuracy: accuracy, Parameters: onWalk(alpha, steps, &method.Setting{Spec: svm, Values: param.Values{"cost": param.Of(cost)}})}
	}
	parameters := func(t method.Trial) *method.Parameters { return &t.Parameters }
	got := newSurface([]method.Trial{
		trial(0.9, 10, 1, 0.5), trial(0.9, 10, 2, 0.6), trial(0.5, 10, 1, 0.7), trial(0.5, 40, 1, 0.65), trial(0.5, 40, 2, 0.64),
	}, parameters(trial(0.5, 40, 2, 0)))
	x := func(v float64) *float64 { return &v }
	want := &Surface{
		Method: "cwk", X: "alpha", Y: "steps", XValues: []float64{0.5, 0.9}, YValues: []float64{10, 40},
		Accuracy: [][]*float64{{x(0.7), x(0.6)}, {x(0.65), nil}}, XChosen: 0.5, YChosen: 40,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got = newSurface([]method.Trial{trial(0.5, 10, 1, 0.5), trial(0.5, 10, 4, 0.6)}, parameters(trial(0.5, 10, 4, 0)))
	if diff := cmp.Diff(&Surface{Method: "svm", X: "cost", XValues: []float64{1, 4}, Accuracy: [][]*float64{{x(0.5), x(0.6)}}, XChosen: 4}, got); diff != "" {
		t.Error(diff)
	}
	if got := newSurface([]method.Trial{trial(0.5, 10, 1, 0.5)}, new(method.Parameters)); got != nil {
		t.Errorf("%+v of one setting", got)
	}
}
