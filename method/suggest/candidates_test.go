package suggest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// On a graph with hubs that has more nodes than are looked at, the first suggestion is
// the best of all nodes.
func TestCandidatesHaveTheBest(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	const n = 1300
	for seed := range uint64(2) {
		rng := rand.New(rand.NewPCG(seed, 7))
		var e []sparse.Triplet
		ends := []uint32{0}
		for i := uint32(1); i < n; i++ {
			for range 3 {
				to := ends[rng.IntN(len(ends))]
				if to != i {
					e = append(e, sparse.Triplet{Row: i, Col: to, Val: 1}, sparse.Triplet{Row: to, Col: i, Val: 1})
					ends = append(ends, i, to)
				}
			}
		}
		a, err := sparse.FromTriplets(n, n, e)
		if err != nil {
			t.Fatal(err)
		}
		p := &problem.Problem{Graph: &graph.Graph{A: a, Degrees: testgraph.Degrees(t, a)}, Names: []string{"a", "b"}}
		for i, row := range rng.Perm(n)[:40] {
			p.Row, p.Class = append(p.Row, row), append(p.Class, i%2)
		}
		methods, err := method.Parse("lp")
		if err != nil {
			t.Fatal(err)
		}
		out, err := methods[0].Method.Predict(t.Context(), p, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		list, err := Nodes(t.Context(), p, out, 1, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		doubt, cov, all := sparse.NewBlock[float64](n, 1), sparse.NewBlock[float64](n, 1), make([]int, n)
		for i := range all {
			all[i] = i
			_, _, doubt.Row(i)[0] = likeliest(out.Scores.Row(i))
		}
		for _, row := range p.Row {
			doubt.Row(row)[0] = 0
		}
		c, err := given(t.Context(), p, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := timesTo(t.Context(), c, cov, doubt); err != nil {
			t.Fatal(err)
		}
		gram, err := between(t.Context(), c, all, 32)
		if err != nil {
			t.Fatal(err)
		}
		total, most := 0.0, 0.0
		for i := range all {
			total += doubt.Row(i)[0] * cov.Row(i)[0]
			if doubt.Row(i)[0] > 0 {
				most = max(most, cov.Row(i)[0]*cov.Row(i)[0]/(gram.At(i, i)+noise))
			}
		}
		if math.Abs(list[0].Teaches-most/total) > 1e-6*most/total {
			t.Errorf("rng seed %d: %v teaches %v, the best of all nodes %v", seed, list[0].Row, list[0].Teaches, most/total)
		}
	}
}
