package classify

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/param"
)

// The mode is α = σ²V(Y − π), for variances far from 1 too.
func TestGaussianProcessStationary(t *testing.T) {
	p := clouds(8, 60, 3, 4, 1)
	for i := range p.y {
		if i%5 == 4 {
			p.y[i] = -1
		}
	}
	for i, variance := range []float64{1e-3, 1, 1e3} {
		k, words, weights := p.radial(), []string{"equal", "balanced"}[i%2], slices.Repeat([]float64{1}, p.classes)
		if words == "balanced" {
			weights = BalancedWeights(p.y, p.classes)
		}
		m, err := gpLearner.Fit(t.Context(), k, p.y, p.classes, param.Values{"variance": param.Of(variance), "class-weights": param.Of(words)})
		if err != nil {
			t.Fatal(err)
		}
		model := m
		for a, i := range model.Machines[0].Index {
			share := Softmax(nil, m.ScoresTo(nil, k.row(i), k.row(i)[i]))
			for c := range share {
				want := -variance * share[c]
				if p.y[i] == c {
					want += variance
				}
				want *= weights[p.y[i]]
				within(t, fmt.Sprintf("σ² = %g: coefficient %d of class %d", variance, i, c), model.Machines[c].Coef[a], want, 1e-7*variance)
			}
		}
	}
}

func TestSoftmax(t *testing.T) {
	got := Softmax(nil, []float64{1000, 1000 + math.Log(3), -1000})
	for c, want := range []float64{0.25, 0.75, 0} {
		within(t, "a probability", got[c], want, 1e-12)
	}
}
