package graphs

import (
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func gramOf(t testing.TB, name string, c *graphfile.Collection, v param.Values, s *Settings) *sparse.Block[float64] {
	t.Helper()
	g, err := Kernels().Named(name).Prepare(t.Context(), c, v, s)
	if err != nil {
		t.Fatal(err)
	}
	k := sparse.NewBlock[float64](g.n, g.n)
	if err := g.RowsTo(t.Context(), k, 0); err != nil {
		t.Fatal(err)
	}
	return k
}

func TestGoldenWalks(t *testing.T) {
	for _, direction := range []string{"undirected", "directed"} {
		c := contract.GoldenCollection(t, direction+".json")
		decay := map[string]float64{"geometric": 0.186, "exponential": 0.6}
		if direction == "directed" {
			decay["geometric"] = 0.5
		}
		for weights, x := range decay {
			v := param.Values{"weights": param.Of(weights), "decay": param.Of(x)}
			for _, kind := range []string{"sequence", "pair"} {
				got := gramOf(t, "label-"+kind, c, v, nil)
				testgraph.Close(t, got, testgraph.Golden(t, "graphspace/"+direction+"_"+kind+"_"+weights+".npy"), 1e-10, 1e-9)
			}
		}
	}
}

func TestGoldenPatterns(t *testing.T) {
	c := contract.GoldenCollection(t, "undirected.json")
	want := testgraph.Golden(t, "graphspace/cyclic_pattern.npy")
	testgraph.Close(t, gramOf(t, "cyclic-patterns", c, nil, nil), want, 0, 0)
	testgraph.Close(t, gramOf(t, "intersection", c, param.Values{"parts": param.Of("patterns")}, nil), want, 0, 0)
	var list []struct {
		Cyclic []string `json:"cyclic_patterns"`
		Trees  []string `json:"tree_patterns"`
	}
	contract.GoldenJSON(t, "patterns.json", &list)
	for i, g := range list {
		got, err := patterns(t.Context(), c, i, 10)
		if err != nil {
			t.Fatal(err)
		}
		cyclic := got[:len(g.Cyclic)]
		slices.Sort(cyclic)
		if !slices.Equal(cyclic, g.Cyclic) || len(got) != len(g.Cyclic)+len(g.Trees) {
			t.Errorf("%s: %q, want %q and %d trees", c.IDs[i], got, g.Cyclic, len(g.Trees))
		}
	}
}

func TestGoldenSets(t *testing.T) {
	single, multi, measure, base := contract.GoldenSets(t)
	for _, of := range []string{"count", "measure"} {
		s := &Settings{}
		if of == "measure" {
			s.Measure = measure
		}
		for _, name := range []string{"intersection", "union", "tanimoto"} {
			testgraph.Close(t, gramOf(t, name, single, nil, s), testgraph.Golden(t, "graphspace/set_"+name+"_"+of+".npy"), 1e-10, 1e-9)
		}
		v := param.Values{"multiset": param.Of(true)}
		testgraph.Close(t, gramOf(t, "intersection", multi, v, s), testgraph.Golden(t, "graphspace/multiset_intersection_"+of+".npy"), 1e-10, 1e-9)
		s.Base = base
		testgraph.Close(t, gramOf(t, "cross", multi, v, s), testgraph.Golden(t, "graphspace/multiset_cross_"+of+".npy"), 1e-10, 1e-9)
	}
	if x := entriesOf(map[int32]float64{3: 3, 1: 1}); x.dot(&x, nil) != 10 {
		t.Error("⟨Γ, Γ⟩ of {1, 3, 3, 3} is not 10")
	}
}

func TestGoldenPairFeatures(t *testing.T) {
	cart := contract.GoldenCollection(t, "directed.json")
	want := testgraph.Golden(t, "graphspace/cart_pair_features_c0.1.npy") // rows and columns a c r t
	w := newPlainWalks(cart, new(Settings))
	list, err := w.alone(0, 0).labelPairs(&cart.Graphs[0], 0.1, false)
	if err != nil {
		t.Fatal(err)
	}
	got := sparse.NewBlock[float64](4, 4)
	for _, x := range list {
		got.Row(int(x.source))[x.target] = x.sum
	}
	testgraph.Close(t, got, want, 1e-10, 1e-9)
}
