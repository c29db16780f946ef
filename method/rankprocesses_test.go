package method

import (
	"math"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestRankOnSeveralProcesses(t *testing.T) {
	a := testgraph.Random(1, 260, 400, true)
	p, _ := rankProblemOf(t, a, 1, 250, 1, 17, 3, 99)
	p.Nodes = slices.DeleteFunc(p.Nodes, func(v int) bool { return v%9 == 8 }) // seeds must stay
	p.Seeds = slices.DeleteFunc(p.Seeds, func(v int) bool { return v%9 == 8 })
	p.RNGSeed = 9
	want, err := Rank(t.Context(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	g, err := graph.New(t.Context(), a, nil)
	if err != nil {
		t.Fatal(err)
	}
	n := len(g.Degrees)
	for size := 2; size <= 3; size++ {
		var got *Ranking
		err := testgraph.Processes(size, func(network sparse.Network) error {
			bounds := []int{0, 40, n}
			if size == 3 {
				bounds = []int{0, 90, 100, n}
			}
			d := sparse.NewDivision(n, network, bounds, slices.Sorted(slices.Values(p.Seeds)))
			part, err := graph.Divide(t.Context(), g, d, 0)
			if err != nil {
				return err
			}
			k, err := kernel.New(t.Context(), part, "diffusion", param.Values{"beta": param.Of(2.0)})
			if err != nil {
				return err
			}
			r, err := Rank(t.Context(), &RankProblem{Kernel: k, Degrees: g.Degrees, Nodes: p.Nodes, Seeds: p.Seeds, RNGSeed: 9, Division: d}, nil)
			if network.Rank() == 0 {
				got = r
			} else if err == nil && r.Score != nil {
				t.Errorf("process %d has scores", network.Rank())
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Order) != len(want.Order) || math.Abs(got.AUC-want.AUC) > 1e-12 || math.Abs(got.Stderr-want.Stderr) > 1e-12 {
			t.Errorf("%d processes: %d nodes, AUC %v ± %v, want %d, %v ± %v", size, len(got.Order), got.AUC, got.Stderr, len(want.Order), want.AUC, want.Stderr)
		}
		for i, v := range got.Order {
			if w := want.Order[i]; v != w && math.Abs(want.Score[v]-want.Score[w]) > 1e-12 {
				t.Fatalf("%d processes: node %d is at %d, want node %d", size, v, i, w)
			}
		}
		for v := range n {
			if math.Abs(got.Score[v]-want.Score[v]) > 1e-10 {
				t.Fatalf("%d processes: node %d has %v, want %v", size, v, got.Score[v], want.Score[v])
			}
		}
	}
}
