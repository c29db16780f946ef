package graphs

import (
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/file/graphfile"
)

func patterns(ctx context.Context, c *graphfile.Collection, graph, most int) (found []string, err error) {
	err = eachPattern(ctx, c, graph, most, func(text string) { found = append(found, text) })
	return found, err
}

// oneTree returns a collection of a tree in which v > 0 is a child of parent[v].
func oneTree(label []int32, parent []int) *graphfile.Collection {
	var edges [][3]int32
	for v := 1; v < len(parent); v++ {
		edges = append(edges, [3]int32{int32(parent[v]), int32(v), int32(v % 2)})
	}
	return &graphfile.Collection{
		IDs: []string{"T"}, Labels: []string{"C", "Cl", "N"}, EdgeLabels: []string{"1", "12"},
		Graphs: []graphfile.Member{graphfile.NewMember(label, edges)},
	}
}

// The reference is the least pattern, written by recursion from every centre.
func TestTreeTexts(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("rng seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	name := func(text string) string {
		if len(text) > 1 {
			return `"` + text + `"`
		}
		return text
	}
	for range 50 {
		n := 2 + rng.IntN(12)
		label, parent := make([]int32, n), make([]int, n)
		for v := range n {
			label[v] = int32(rng.IntN(3))
			if v > 0 {
				parent[v] = rng.IntN(v)
			}
		}
		c := oneTree(label, parent)
		m := &c.Graphs[0]
		var text func(v, from int) (string, int)
		text = func(v, from int) (string, int) {
			var children []string
			depth := 0
			for a := m.Ptr[v]; a < m.Ptr[v+1]; a++ {
				if w := int(m.To[a]); w != from {
					own, below := text(w, v)
					children = append(children, "(-"+name(c.EdgeLabels[m.EdgeLabel[a]])+"-"+own+")")
					depth = max(depth, below+1)
				}
			}
			slices.Sort(children)
			return name(c.Labels[label[v]]) + strings.Join(children, ""), depth
		}
		want, least := "", n
		for v := range n {
			if own, depth := text(v, -1); depth < least || depth == least && own < want {
				want, least = own, depth
			}
		}
		got, err := patterns(t.Context(), c, 0, 1)
		if err != nil || len(got) != 1 || got[0] != want {
			t.Fatalf("parents %v, labels %v: %v, %v, want %s", parent, label, got, err, want)
		}
	}
}

// Memory must not grow with the square of the length.
func TestLongPath(t *testing.T) {
	const n = 20000
	parent := make([]int, n)
	for v := range n {
		parent[v] = max(0, v-1)
	}
	c := oneTree(make([]int32, n), parent)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := patterns(t.Context(), c, 0, 1)
	runtime.ReadMemStats(&after)
	if err != nil || len(got) != 1 || len(got[0]) < 3*n {
		t.Fatalf("%d patterns, %v", len(got), err)
	}
	if made := after.TotalAlloc - before.TotalAlloc; made > 2000*n {
		t.Errorf("%d bytes for %d vertices", made, n)
	}
}
