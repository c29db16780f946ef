package classify_test

import (
	"testing"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/test/contract"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestLearnersGolden(t *testing.T) {
	for _, graph := range contract.GoldenGraphs {
		l := contract.NewLesson(t, graph)
		for _, c := range []float64{1, 10} {
			got := l.Scores(t, "svm", param.Values{"cost": param.Of(c)})
			testgraph.Close(t, got, l.Golden(t, "svm_diffusion_C%.1f_decision.npy", c), 1e-6, 1e-6)
		}
		for _, c := range []float64{1, 100} {
			got := l.Scores(t, "rls", param.Values{"cost": param.Of(c)})
			testgraph.Close(t, got, l.Golden(t, "rls_C%.1f_scores.npy", c), 1e-10, 1e-9)
		}
	}
}

func TestLearners(t *testing.T) {
	names := map[string]bool{}
	for _, d := range classify.Learners() {
		if names[d.Name] {
			t.Errorf("two learners are called %s", d.Name)
		}
		names[d.Name] = true
		contract.Check(t, d)
		contract.CheckBalanced(t, d)
	}
}

func TestLearnersAgree(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	for _, d := range classify.Learners() {
		contract.CheckBits(t, d)
	}
}

func TestCalibrate(t *testing.T) {
	for _, name := range []string{"svm", "rls", "density"} {
		contract.CheckCalibrated(t, classify.Learners().Named(name))
	}
}
