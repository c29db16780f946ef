package classify_test

import (
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func withInverse(t *testing.T, graph string) *contract.Lesson {
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
	return contract.LessonOf(g, graph, sparse.BlockOf(n, n, k.RawMatrix().Data))
}

func TestGaussianProcessGolden(t *testing.T) {
	learner := classify.Learners().Named("gp")
	for _, graph := range contract.GoldenGraphs {
		l := withInverse(t, graph)
		latent := l.Scores(t, "gp", param.Values{"variance": param.Of(4.0)})
		testgraph.Close(t, latent, l.Golden(t, "gp_induction_latent.npy"), 1e-8, 1e-8)
		m, err := learner.Fit(t.Context(), l.Gram(), l.Y, len(l.Graph.Classes), param.Values{"variance": param.Of(4.0), "class-weights": param.Of("equal")})
		if err != nil {
			t.Fatal(err)
		}
		alpha := sparse.NewBlock[float64](len(l.Graph.Train), latent.Cols)
		for c, machine := range m.Machines {
			for a, v := range machine.Coef {
				alpha.Row(a)[c] = v
			}
		}
		testgraph.Close(t, alpha, l.Golden(t, "gp_induction_alpha.npy"), 1e-8, 1e-8)
		for i := range latent.Rows {
			learner.Probabilities(latent.Row(i), latent.Row(i))
		}
		testgraph.Close(t, latent, l.Golden(t, "gp_induction_prob.npy"), 1e-8, 1e-8)
	}
}
