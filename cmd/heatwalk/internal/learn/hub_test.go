package learn

import (
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
)

// The hub has more entries than a piece of a row.
func TestHub(t *testing.T) {
	const n = 2*sparse.MaxRange + 10
	var entries []sparse.Triplet
	class, none := make([]int, n), make([]float32, 3)
	for v := uint32(1); v < n; v++ {
		w := 1.0
		if class[v] = 1; v <= sparse.MaxRange {
			class[v], w = 2, 0.75 // the first piece has one class
		}
		if v%5000 == 0 {
			w = float64(v)
		}
		entries = append(entries, sparse.Triplet{Row: 0, Col: v, Val: w}, sparse.Triplet{Row: v, Col: 0, Val: w})
	}
	a, err := sparse.FromTriplets(n, n, entries)
	if err != nil {
		t.Fatal(err)
	}
	sums := make([]float64, 3)
	_, val := a.Row(0)
	for e, w := range val {
		sums[class[e+1]] += w
	}
	var want []int32
	for _, workers := range []int{1, 2, 7} {
		g := &mapGraph{
			A: a, Classes: []string{"a", "b", "c"}, Class: class, Workers: workers,
			Scores: func(int) []float32 { return none }, Known: make([]bool, n),
		}
		list, err := g.rivals(t.Context())
		if err != nil || len(list) != 1 || list[0].links != n-1 || list[0].class != 1 || list[0].share != sums[1]/(sums[1]+sums[2]) {
			t.Errorf("%d goroutines: %+v, %v", workers, list, err)
		}
		g.Links = map[int][]int{0: {11, 12}}
		near, err := g.nearest(t.Context(), []int{0, 7}, 4, nil)
		if err != nil || !slices.Equal(near[0].drawn, []int{11, 12, 30000, 25000}) || near[0].counts[1]+near[0].counts[2] != n-5 || !slices.Equal(near[7].drawn, []int{0}) {
			t.Errorf("%d goroutines: %v, %v", workers, near[0].drawn, err)
		}
		region, err := g.regionsOf(t.Context())
		if want == nil {
			want = region
		}
		if err != nil || !slices.Equal(region, want) {
			t.Errorf("%d goroutines: other regions, %v", workers, err)
		}
		groups, groupOf, err := g.groupsOf(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		links, err := g.linksOf(t.Context(), groups, groupOf)
		total := 0.0
		for _, l := range links {
			total += l.weight
		}
		if err != nil || total != 2*(n-1) {
			t.Errorf("%d goroutines: links of %v entries, %v", workers, total, err)
		}
	}
}
