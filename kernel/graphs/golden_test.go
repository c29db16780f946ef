package graphs

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/graphfile"
	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/kernel/sets"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
)

// golden reads a JSON file of the reference outputs.
func golden(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testgraph.Root(t), "testdata", "golden", "graphspace", name))
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// goldenGraphs reads the graphs of undirected.json or directed.json.
func goldenGraphs(t *testing.T, name string) *graphfile.Collection {
	t.Helper()
	var list []struct {
		Name     string
		Labels   []string
		Edges    [][2]int32
		Directed bool
	}
	golden(t, name, &list)
	c := &graphfile.Collection{}
	for _, g := range list {
		c.Labels = append(c.Labels, g.Labels...)
	}
	slices.Sort(c.Labels)
	c.Labels = slices.Compact(c.Labels)
	for _, g := range list {
		m := graphfile.Member{Ptr: []int32{0}}
		c.IDs, c.Directed = append(c.IDs, g.Name), g.Directed
		for v, l := range g.Labels {
			at, _ := slices.BinarySearch(c.Labels, l)
			m.Label = append(m.Label, int32(at))
			var to []int32
			for _, e := range g.Edges {
				if int(e[0]) == v {
					to = append(to, e[1])
				}
				if int(e[1]) == v && !g.Directed {
					to = append(to, e[0])
				}
			}
			slices.Sort(to)
			m.To = append(m.To, to...)
			m.Ptr = append(m.Ptr, int32(len(m.To)))
		}
		c.Graphs = append(c.Graphs, m)
	}
	return c
}

// gramOf returns all values of a kernel.
func gramOf(t testing.TB, name string, c *graphfile.Collection, v spec.Values, s *Settings) *sparse.Block[float64] {
	t.Helper()
	g, err := Of(name).Prepare(t.Context(), c, v, s)
	if err != nil {
		t.Fatal(err)
	}
	k := sparse.NewBlock[float64](g.Len(), g.Len())
	if err := g.RowsTo(t.Context(), k, 0); err != nil {
		t.Fatal(err)
	}
	return k
}

func TestGoldenWalks(t *testing.T) {
	for _, direction := range []string{"undirected", "directed"} {
		c := goldenGraphs(t, direction+".json")
		decay := map[string]float64{"geometric": 0.186, "exponential": 0.6}
		if direction == "directed" {
			decay["geometric"] = 0.5
		}
		for weights, x := range decay {
			v := spec.Values{"weights": spec.Word(weights), "decay": spec.Number(x)}
			for _, kind := range []string{"sequence", "pair"} {
				got := gramOf(t, "label-"+kind, c, v, nil)
				testgraph.Close(t, got, testgraph.Golden(t, "graphspace/"+direction+"_"+kind+"_"+weights+".npy"), 1e-10, 1e-9)
			}
		}
	}
}

func TestGoldenPatterns(t *testing.T) {
	c := goldenGraphs(t, "undirected.json")
	want := testgraph.Golden(t, "graphspace/cyclic_pattern.npy")
	testgraph.Close(t, gramOf(t, "cyclic-patterns", c, nil, nil), want, 0, 0)
	testgraph.Close(t, gramOf(t, "intersection", c, spec.Values{"parts": spec.Word("patterns")}, nil), want, 0, 0)
	var list []struct {
		Cyclic []string `json:"cyclic_patterns"`
		Trees  []string `json:"tree_patterns"`
	}
	golden(t, "patterns.json", &list)
	for i, g := range list {
		got, err := Patterns(t.Context(), c, i, 10)
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

// goldenSets are the sets and multisets of sets.json as graphs without edges, whose
// vertices are labelled by the elements.
func goldenSets(t *testing.T) (single, multi *graphfile.Collection, measure []float64, base *sparse.Block[float64]) {
	t.Helper()
	var file struct {
		Sets      [][]int
		Measure   []float64
		Multisets [][]int
		Kernel    [][]float64 `json:"element_kernel"`
	}
	golden(t, "sets.json", &file)
	single, multi = &graphfile.Collection{}, &graphfile.Collection{}
	add := func(c *graphfile.Collection, label []int32) {
		c.Labels = []string{"0", "1", "2", "3", "4", "5", "6", "7", "8"}
		c.IDs = append(c.IDs, string(rune('A'+len(c.IDs))))
		c.Graphs = append(c.Graphs, graphfile.Member{Ptr: make([]int32, len(label)+1), Label: label})
	}
	for _, set := range file.Sets {
		var label []int32
		for _, x := range set {
			label = append(label, int32(x))
		}
		add(single, label)
	}
	for _, counts := range file.Multisets {
		var label []int32
		for x, n := range counts {
			for range n {
				label = append(label, int32(x))
			}
		}
		add(multi, label)
	}
	base = sparse.NewBlock[float64](9, 9)
	for i, row := range file.Kernel {
		copy(base.Row(i), row)
	}
	return single, multi, file.Measure, base
}

func TestGoldenSets(t *testing.T) {
	single, multi, measure, base := goldenSets(t)
	for _, of := range []string{"count", "measure"} {
		s := &Settings{}
		if of == "measure" {
			s.Measure = measure
		}
		for _, name := range []string{"intersection", "union", "tanimoto"} {
			testgraph.Close(t, gramOf(t, name, single, nil, s), testgraph.Golden(t, "graphspace/set_"+name+"_"+of+".npy"), 1e-10, 1e-9)
		}
		v := spec.Values{"multiset": spec.On(true)}
		testgraph.Close(t, gramOf(t, "intersection", multi, v, s), testgraph.Golden(t, "graphspace/multiset_intersection_"+of+".npy"), 1e-10, 1e-9)
		s.Base = base
		testgraph.Close(t, gramOf(t, "cross", multi, v, s), testgraph.Golden(t, "graphspace/multiset_cross_"+of+".npy"), 1e-10, 1e-9)
	}
	if x := sets.Of(3, 3, 3, 1); sets.Intersection(x, x, nil) != 10 {
		t.Error("⟨Γ, Γ⟩ of {1, 3, 3, 3} is not 10")
	}
}

// TestGoldenPairFeatures compares the factor of the graph of the text, before it becomes
// an inner product.
func TestGoldenPairFeatures(t *testing.T) {
	cart := goldenGraphs(t, "directed.json")
	want := testgraph.Golden(t, "graphspace/cart_pair_features_c0.1.npy") // rows and columns a c r t
	w := newPlainWalks(cart, new(Settings))
	list, err := w.alone(0, 0).labelPairs(&cart.Graphs[0], 0.1, 0.5, false)
	if err != nil {
		t.Fatal(err)
	}
	got := sparse.NewBlock[float64](4, 4)
	for _, x := range list {
		got.Row(int(x.from))[x.to] = x.sum
	}
	testgraph.Close(t, got, want, 1e-10, 1e-9)
}
