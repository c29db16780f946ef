package cwk_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func near[T sparse.Float](t *testing.T, got *sparse.Block[T], want *sparse.Block[float64]) {
	t.Helper()
	if epsilon[T]() > 1e-10 {
		testgraph.Close(t, got, want, 1e-5, 0)
		return
	}
	testgraph.Close(t, got, want, 1e-10, 1e-9)
}

var priors = map[string]cwk.Prior{"uniform": {}, "empirical": {Empirical: true, Pseudo: 1}}

func TestGolden(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	t.Run("float64", testGolden[float64])
	t.Run("float32", testGolden[float32])
}

func testGolden[T sparse.Float](t *testing.T) {
	for graph, alphas := range map[string][]string{
		"karate":  {"0.0", "0.3", "0.5", "0.9", "1.0"},
		"wrand60": {"0.0", "0.3", "0.5", "0.9", "1.0"},
		"sbm300":  {"0.0", "0.5", "1.0"},
	} {
		g := testgraph.Load(t, graph)
		all := plainPicks(everyRow(g.A))
		for _, a := range alphas {
			alpha, err := strconv.ParseFloat(a, 64)
			if err != nil {
				t.Fatal(err)
			}
			for prior, p := range priors {
				t.Run(fmt.Sprintf("%s/%s/%s", graph, a, prior), func(t *testing.T) {
					golden := func(format string) *sparse.Block[float64] {
						return testgraph.Golden(t, fmt.Sprintf("%s/"+format, graph, a, prior))
					}
					w := walkOn[T](g, alpha, p, 20)
					if graph == "sbm300" {
						near(t, stepsOf(stack(t, w), len(g.Nodes), 0, 1, 2, 5, 10, 20), golden("cwk_P_a%s_%s.npy"))
						k, _ := gram(t, w, 0, plainPicks(g.Train), all)
						near(t, k, golden("cwk_Ktrain_a%s_%s_t20.npy"))
						return
					}
					near(t, stack(t, w), golden("cwk_P_a%s_%s.npy"))
					k, _ := gram(t, w, 0, all, all)
					near(t, k, golden("cwk_K_a%s_%s_t20.npy"))
					w.Steps = 5
					k, _ = gram(t, w, 0, all, all)
					near(t, k, golden("cwk_K_a%s_%s_t5.npy"))
				})
			}
		}
	}
}

func stepsOf[T sparse.Float](all *sparse.Block[T], n int, steps ...int) *sparse.Block[T] {
	out := sparse.NewBlock[T](len(steps)*n, all.Cols)
	for s, t := range steps {
		for i := range n {
			copy(out.Row(s*n+i), all.Row(t*n+i))
		}
	}
	return out
}

func TestGoldenFeatures(t *testing.T) {
	t.Run("float64", testGoldenFeatures[float64])
	t.Run("float32", testGoldenFeatures[float32])
}

func testGoldenFeatures[T sparse.Float](t *testing.T) {
	for _, graph := range []string{"karate", "wrand60"} {
		g := testgraph.Load(t, graph)
		w := walkOn[T](g, 0.5, cwk.Prior{}, 10)
		all := everyRow(g.A)
		f, err := w.Features(background, 0, plainPicks(all), nil)
		if err != nil {
			t.Fatal(err)
		}
		near(t, f, testgraph.Golden(t, graph+"/cwk_F_a0.5_uniform_t10.npy"))

		k, _ := gram(t, w, 1, plainPicks(all), plainPicks(all))
		near(t, k, testgraph.Golden(t, graph+"/cwk_K_a0.5_uniform_tmin1_t10.npy"))

		var folds, single []int
		for i, f := range testgraph.Golden(t, graph+"/cwk_folds.npy").Data {
			folds, single = append(folds, int(f)), append(single, i)
		}
		for name, fold := range map[string][]int{"honest": folds, "loo": single} {
			w.Variants = cwk.FoldVariants(0.5, fold)
			p, err := w.Collect(background, 0, cwk.Picks(all, w.Seeds, fold))
			if err != nil {
				t.Fatal(err)
			}
			near(t, unfold(p, w.Seeds.Classes), testgraph.Golden(t, graph+"/cwk_P_"+name+"_a0.5_uniform.npy"))
		}
	}
}

func unfold[T sparse.Float](f *sparse.Block[T], classes int) *sparse.Block[T] {
	steps := f.Cols / classes
	all := sparse.NewBlock[T](steps*f.Rows, classes)
	for i := range f.Rows {
		for t := range steps {
			copy(all.Row(t*f.Rows+i), f.Row(i)[t*classes:(t+1)*classes])
		}
	}
	return all
}

func TestGoldenLabelPropagation(t *testing.T) {
	for graph, steps := range map[string][]int{"karate": {5, 50}, "wrand60": {5, 50}, "sbm300": {10}} {
		g := testgraph.Load(t, graph)
		for _, s := range steps {
			p := stack(t, walkOn[float64](g, 1, cwk.Prior{}, s))
			want := testgraph.Golden(t, fmt.Sprintf("%s/lp_steps%d.npy", graph, s))
			testgraph.Close(t, stepsOf(p, len(g.Nodes), s), want, 1e-10, 1e-9)
		}
		// The slowest of the three graphs converges by 3 % a step.
		p := stack(t, walkOn[float64](g, 1, cwk.Prior{}, 2000))
		testgraph.Close(t, stepsOf(p, len(g.Nodes), 2000), testgraph.Golden(t, graph+"/lp_harmonic.npy"), 1e-9, 0)
	}
}
