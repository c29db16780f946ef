package contract

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// GoldenJSON reads a JSON file of the reference outputs.
func GoldenJSON(t testgraph.TB, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testgraph.Root(t), "testdata", "golden", "graphspace", name))
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// GoldenCollection reads the graphs of undirected.json or directed.json.
func GoldenCollection(t testgraph.TB, name string) *graphfile.Collection {
	t.Helper()
	var list []struct {
		Name     string
		Labels   []string
		Edges    [][2]int32
		Directed bool
	}
	GoldenJSON(t, name, &list)
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

// GoldenSets returns the sets and multisets of sets.json as graphs without edges, whose vertices are labelled by the
// elements.
func GoldenSets(t testgraph.TB) (single, multi *graphfile.Collection, measure []float64, base *sparse.Block[float64]) {
	t.Helper()
	var file struct {
		Sets      [][]int
		Measure   []float64
		Multisets [][]int
		Kernel    [][]float64 `json:"element_kernel"`
	}
	GoldenJSON(t, "sets.json", &file)
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
