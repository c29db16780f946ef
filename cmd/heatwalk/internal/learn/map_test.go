package learn

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
)

// twoSides returns a graph of n nodes with two classes and few links between them. The first 20 nodes are
// labels, and node 20 has the class of no neighbour.
func twoSides(t *testing.T, n, workers int) *mapGraph {
	rng := rand.New(rand.NewPCG(1, 2))
	var entries []sparse.Triplet
	isDrawn := map[[2]int]bool{}
	for len(isDrawn) < 5*n {
		u, v := rng.IntN(n), rng.IntN(n)
		if u >= v || isDrawn[[2]int{u, v}] || u%2 != v%2 && (u == 20 || v == 20 || rng.Float64() > 0.02) {
			continue
		}
		isDrawn[[2]int{u, v}] = true
		entries = append(entries, sparse.Triplet{Row: uint32(u), Col: uint32(v), Val: 1}, sparse.Triplet{Row: uint32(v), Col: uint32(u), Val: 1})
	}
	a, err := sparse.FromTriplets(n, n, entries)
	if err != nil {
		t.Fatal(err)
	}
	class, scores := make([]int, n), sparse.NewBlock[float32](n, 2)
	for v := range n {
		class[v] = v % 2
		scores.Row(v)[v%2], scores.Row(v)[1-v%2] = 0.75, 0.25
	}
	class[20] = 1
	known := make([]bool, n)
	for v := range 20 {
		known[v] = true
	}
	return &mapGraph{
		A: a, Classes: []string{"a", "</script><script>alert(1)</script>"}, Class: class, Workers: workers,
		ID:     func(row int) string { return fmt.Sprintf("n\"%d<b>\u202e", row) },
		Scores: scores.Row, Known: known,
	}
}

func TestSection(t *testing.T) {
	for _, n := range []int{500, 6000} {
		var first string
		for _, workers := range []int{1, 2, 7} {
			g := twoSides(t, n, workers)
			g.Colors, g.Reasons, g.File = []int{0, 1}, map[int]any{3: map[string]string{"label": "<i>"}}, "out.tsv"
			sections, err := g.sections(t.Context(), []int{3, 5})
			if err != nil {
				t.Fatal(err)
			}
			s := sections[0]
			if first == "" {
				first = s.Markup
			} else if s.Markup != first {
				t.Fatalf("%d nodes: another section with %d goroutines", n, workers)
			}
			if row := sections[1].Tables[0].Rows[0]; !strings.HasPrefix(row[0].Text, `n"20<`) {
				t.Errorf("%d nodes: the first node that contradicts its neighbours is %v", n, row)
			}
		}
		for _, markup := range []string{"alert(1)</script>", "<b>", "<i>"} {
			if strings.Contains(first, markup) {
				t.Errorf("%d nodes: %s of a name is markup", n, markup)
			}
		}
		_, data, _ := strings.Cut(first, `id="graph-data">`)
		data, _, _ = strings.Cut(data, "</script>")
		var doc document
		if err := json.Unmarshal([]byte(data), &doc); err != nil {
			t.Fatal(err)
		}
		if index := slices.IndexFunc(doc.Nodes, func(v node) bool { return strings.HasPrefix(v.ID, `n"3<`) }); doc.Reasons[index] == nil || doc.Nodes[index].Class != 1 || doc.First != index {
			t.Errorf("%d nodes: node 3 is at %d, the first one is at %d, reasons %v", n, index, doc.First, doc.Reasons)
		}
		if len(doc.List.IDs) != n || len(doc.List.Known) != 20 {
			t.Errorf("%d nodes: %d are listed, %d of them labels", n, len(doc.List.IDs), len(doc.List.Known))
		}
	}
	g := twoSides(t, 6000, 2)
	groups, groupOf, err := g.groupsOf(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, q := range groups {
		total += q.nodes
	}
	if total != 6000 || len(groups) > mostGroups+2 || len(groups) < 20 {
		t.Errorf("%d groups of %d nodes", len(groups), total)
	}
	for row, k := range groupOf {
		if groups[k].class != g.Class[row] {
			t.Fatalf("row %d of class %d is in a group of class %d", row, g.Class[row], groups[k].class)
		}
	}
}

func TestLayout(t *testing.T) {
	var links []link
	for i := range 20 {
		for j := range i {
			if i/10 == j/10 {
				links = append(links, link{j, i, 1})
			}
		}
	}
	x := layout(20, append(links, link{9, 10, 1}))
	within, between := 0.0, 0.0
	for i := range 20 {
		for j := range i {
			d := (x[i][0]-x[j][0])*(x[i][0]-x[j][0]) + (x[i][1]-x[j][1])*(x[i][1]-x[j][1])
			if i/10 == j/10 {
				within += d / 90
			} else {
				between += d / 100
			}
		}
	}
	if between < 3*within {
		t.Errorf("mean squared distance %g within cliques, %g between them", within, between)
	}
}

func TestFit(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	const n = 200
	x := make([][2]float64, n)
	groups := make([]group, n)
	isLinked := make([]bool, n)
	for i := range n {
		x[i] = [2]float64{rng.Float64(), rng.Float64()}
		groups[i].nodes = 1 + rng.IntN(100)
		isLinked[i] = true
	}
	x[0] = [2]float64{1000, 1000}
	x[2] = x[1]
	groups[0].nodes = 1
	position, radius := fit(x, groups, isLinked)
	left, right := width, 0.0
	for i := range n {
		for j := range i {
			if d := math.Hypot(position[i][0]-position[j][0], position[i][1]-position[j][1]); d < max(radius[i], radius[j]) {
				t.Errorf("discs %d and %d of radius %.1f and %.1f are %.1f apart", i, j, radius[i], radius[j], d)
			}
		}
		if p := position[i]; p[0] < margin || p[0] > width-margin || p[1] < margin || p[1] > height-margin {
			t.Errorf("disc %d is at %v", i, p)
		}
		if i > 0 {
			left = min(left, position[i][0])
			right = max(right, position[i][0])
		}
	}
	if right-left < 0.9*(width-2*margin) {
		t.Errorf("all discs but the far one are between %.0f and %.0f", left, right)
	}
}

// Edges of kinds whose learned weight is 0 must not pull nodes together.
func TestMapFollowsLearnedWeights(t *testing.T) {
	for _, n := range []int{500, 6000} {
		g := twoSides(t, n, 1)
		g.Weighted = true
		draw := func(a sparse.Matrix) []link {
			g.A = a
			groups, groupOf, err := g.groupsOf(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			links, err := g.linksOf(t.Context(), groups, groupOf)
			if err != nil {
				t.Fatal(err)
			}
			return links
		}
		entries := func(across float64) (list []sparse.Triplet) {
			for u := range uint32(n) {
				for _, step := range []uint32{1, 2, 4} {
					v := (u + step) % uint32(n)
					w := 1.0
					if step == 1 {
						w = across
					}
					if step > 1 || across >= 0 {
						list = append(list, sparse.Triplet{Row: u, Col: v, Val: w}, sparse.Triplet{Row: v, Col: u, Val: w})
					}
				}
			}
			return list
		}
		matrix := func(across float64) sparse.Matrix {
			a, err := sparse.FromTriplets(n, n, entries(across))
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		if got, want := draw(matrix(0)), draw(matrix(-1)); !slices.Equal(got, want) {
			t.Errorf("%d nodes: %d links with edges of weight 0, %d without", n, len(got), len(want))
		}
	}
}
