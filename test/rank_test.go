package test

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method"
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
		"":                    func(k int) float64 { return math.Pow(0.95, float64(k)) }, // divided by the degrees
		"pagerank:alpha=0.85": func(k int) float64 { return 0.15 * math.Pow(0.85, float64(k)) },
		"heat-pagerank:beta=2": func(k int) float64 {
			logarithm, _ := math.Lgamma(float64(k + 1))
			return math.Exp(float64(k)*math.Ln2 - 2 - logarithm)
		},
	} {
		want, power := make([]float64, len(restart)), restart
		for k := range 900 {
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
			if name == "" {
				want[v] /= club.Degrees[v]
			}
			if restart[v] == 0 && math.Abs(x-want[v]) > 1e-9 {
				t.Errorf("%s: node %d has %v, want %v", name, v, x, want[v])
			}
		}
	}
}

// With fewer than five seeds there is no choice. With five, the kernel has a higher AUC than the usual kernel, or it is the
// usual kernel; the choice does not depend on the order of the seeds.
func TestRankChoosesAKernel(t *testing.T) {
	club := testgraph.LoadUnlabelled(t, "karate")
	g, err := heatwalk.FromMat(t.Context(), mat.DenseCopyOf(club.A), nil)
	if err != nil {
		t.Fatal(err)
	}
	hubs := []int{0, 1, 2, 31, 32, 33, 13, 8}
	rank := func(name string, seeds ...int) (*method.Ranking, *kernel.NamedFunction) {
		r, chosen, err := heatwalk.RankNodes(t.Context(), g, &method.RankProblem{Seeds: seeds, RNGSeed: 1}, name, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r, chosen
	}
	if _, chosen := rank("", hubs[:4]...); chosen.Name != "regularized-commute-time" {
		t.Errorf("four seeds choose %s", chosen.Name)
	}
	r, chosen := rank("", hubs...)
	if chosen.Name != "pagerank" {
		t.Errorf("nodes with the highest degrees choose %s", chosen.Name)
	}
	if usual, _ := rank("regularized-commute-time", hubs...); !r.IsBetter(usual) {
		t.Errorf("AUC %v by choice, %v without", r.AUC, usual.AUC)
	}
	slices.Reverse(hubs)
	if again, other := rank("", hubs...); other.Name != chosen.Name || !slices.Equal(again.Score, r.Score) {
		t.Error("another order of the seeds has another ranking")
	}
}
