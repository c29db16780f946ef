package auto

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/method/internal/problemtest"
)

// The scores of a mixture by a second walk are those of the columns of each node.
func TestWalkScores(t *testing.T) {
	p := problemtest.Planted(t, 9, 60, 40)
	f := featuresOf(t, p, &Settings{})
	held, err := predictHeldOut(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	m := &model{features: f, settings: held.settings, mixture: []component{{weight: 1, setting: -1}}}
	for i := range held.settings {
		if held.settings[i].candidate.free {
			m.mixture = append(m.mixture, component{weight: 1, setting: i})
			break
		}
	}
	if err := m.fit(t.Context()); err != nil {
		t.Fatal(err)
	}
	w, err := m.walkScores(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	k := len(p.Names)
	shared, free, want := make([]float64, f.in.sharedCount()*k), make([]float64, f.columns.freeCount()), make([]float64, k)
	predictor := m.newPredictor(w)
	for v := range p.Degrees {
		if !w.visited[v] {
			continue
		}
		f.columns.sharedTo(shared, f.walks.full.Row(v), f.columns.diffusionRow(predictor.scores, v))
		f.columns.freeTo(free, f.walks.full.Row(v), v)
		m.mixture[1].model.ScoresTo(want, free, shared)
		classify.Softmax(want, want)
		predictor.predictOne(m.mixture[1], v, w.scores[1])
		if !floats.EqualApprox(predictor.one, want, 1e-4) {
			t.Fatalf("node %d: %v, want %v", v, predictor.one, want)
		}
		poissonProbabilities(want, f.columns, f.walks.full.Row(v))
		got := doubled(w.scores[0].Row(v))
		classify.Softmax(got, got)
		if !floats.EqualApprox(got, want, 1e-4) {
			t.Fatalf("node %d: Poisson learning %v, want %v", v, got, want)
		}
	}
}

// Beliefs take part on a block model, and the estimate agrees with the accuracy.
func TestBeliefsOfABlockModel(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	p, class := problemtest.Blocks(t, 5, 1500, 150, 3, 5, 1)
	with := evident(t, p, &Settings{})
	if last := with.Choice.Mixture[len(with.Choice.Mixture)-1]; !last.Beliefs {
		t.Fatal("beliefs take no part")
	}
	accuracy := problemtest.Accuracy(p, with.Class, class)
	t.Logf("accuracy %.3f, estimate %.3f", accuracy, with.Estimate.Accuracy)
	if e := with.Estimate; accuracy < 0.75 || math.Abs(e.Accuracy-accuracy) > 3*e.Stderr {
		t.Errorf("accuracy %.3f, estimate %.3f ± %.3f", accuracy, e.Accuracy, e.Stderr)
	}
	if inputOf(t, p.At([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), &Settings{}).believes() {
		t.Error("beliefs may take part with ten labels")
	}
}
