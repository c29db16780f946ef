package classify

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// withInverse returns the lesson of (I + L)⁻¹.
func withInverse(t *testing.T, graph string) *lesson {
	t.Helper()
	g := testgraph.Load(t, graph)
	n := len(g.Nodes)
	a := mat.NewDense(n, n, nil)
	for i, d := range g.Degrees {
		a.Set(i, i, 1+d)
	}
	g.A.DoNonZero(func(i, j int, v float64) { a.Set(i, j, a.At(i, j)-v) })
	var k mat.Dense
	if err := k.Inverse(a); err != nil {
		t.Fatal(err)
	}
	return lessonOf(g, graph, sparse.BlockOf(n, n, k.RawMatrix().Data))
}

func TestGaussianProcessGolden(t *testing.T) {
	for _, graph := range goldenGraphs {
		l := withInverse(t, graph)
		latent := l.scores(t, "gp", param.Values{"variance": param.Of(4.0)})
		testgraph.Close(t, latent, l.golden(t, "gp_induction_latent.npy"), 1e-8, 1e-8)
		m, err := gpLearner.Fit(t.Context(), l.k, l.y, len(l.g.Classes), param.Values{"variance": param.Of(4.0), "class-weights": param.Of("equal")})
		if err != nil {
			t.Fatal(err)
		}
		alpha := sparse.NewBlock[float64](len(l.g.Train), latent.Cols)
		for c, machine := range m.Machines {
			for a, v := range machine.Coef {
				alpha.Row(a)[c] = v
			}
		}
		testgraph.Close(t, alpha, l.golden(t, "gp_induction_alpha.npy"), 1e-8, 1e-8)
		for i := range latent.Rows {
			gpLearner.Probabilities(latent.Row(i), latent.Row(i))
		}
		testgraph.Close(t, latent, l.golden(t, "gp_induction_prob.npy"), 1e-8, 1e-8)
	}
}

// TestGaussianProcessStationary checks that α = σ²V(Y − π) at the mode, with weights V of classes, for
// variances far from 1 too.
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
