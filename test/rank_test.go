package test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// The reference is power iterations, as in networkx.pagerank(G, alpha, personalization).
func TestRankByWalksFromTheSeeds(t *testing.T) {
	club := testgraph.LoadUnlabelled(t, "karate")
	a := mat.DenseCopyOf(club.A)
	g, err := heatwalk.FromMat(t.Context(), a, nil)
	if err != nil {
		t.Fatal(err)
	}
	restart := make([]float64, len(club.Nodes))
	restart[5], restart[16] = 0.5, 0.5
	step := func(x []float64) []float64 { // Tᵀx
		y := make([]float64, len(x))
		for v, mass := range x {
			for w := range y {
				y[w] += mass * a.At(v, w) / club.Degrees[v]
			}
		}
		return y
	}
	for name, weights := range map[string]func(k int) float64{ // weight of (Tᵀ)ᵏ
		"pagerank:alpha=0.85": func(k int) float64 { return 0.15 * math.Pow(0.85, float64(k)) },
		"heat-pagerank:beta=2": func(k int) float64 {
			logarithm, _ := math.Lgamma(float64(k + 1))
			return math.Exp(float64(k)*math.Ln2 - 2 - logarithm)
		},
	} {
		want, power := make([]float64, len(restart)), restart
		for k := range 300 {
			for v, x := range power {
				want[v] += weights(k) * x
			}
			power = step(power)
		}
		r, err := g.Rank(t.Context(), []string{"5", "16"}, name, 0)
		if err != nil {
			t.Fatal(err)
		}
		for v, x := range r.Score {
			if restart[v] == 0 && math.Abs(x-want[v]) > 1e-9 {
				t.Errorf("%s: node %d has %v, want %v", name, v, x, want[v])
			}
		}
	}
}
