package iterative

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/sparse"
)

// A forest is eliminated within the memory that NeededBytes declares, for any weights, clamped rows and numbers of workers.
// Every other row has the weighted mean of its neighbours, in a forest with some more edges too.
func TestHarmonicOfForest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(ExactFirst+1, 3*ExactFirst).Draw(t, "nodes")
		width := rapid.SampledFrom([]int{1, 5, n}).Draw(t, "width") // 1: a path
		decades := rapid.SampledFrom([]float64{0, 3, 20}).Draw(t, "decades of weights")
		weight := func() float64 {
			return math.Pow(10, decades*(rapid.Float64Range(-0.5, 0.5).Draw(t, "weight")))
		}
		var entries []sparse.Triplet
		edge := func(i, j int, w float64) {
			entries = append(entries, sparse.Triplet{Row: uint32(i), Col: uint32(j), Val: w},
				sparse.Triplet{Row: uint32(j), Col: uint32(i), Val: w})
		}
		repeated := weight()
		gap := rapid.IntRange(2, n).Draw(t, "gap between trees")
		for i := 1; i < n; i++ {
			if i%gap != 0 {
				edge(i, i-1-i*7919%min(width, i), repeated)
			}
		}
		more := rapid.IntRange(0, min(n/gap, 20)).Draw(t, "edges more")
		for range more {
			i := rapid.IntRange(0, n-1).Draw(t, "end")
			j := rapid.IntRange(0, n-1).Draw(t, "other end")
			if i != j {
				edge(i, j, weight())
			}
		}
		a, err := sparse.FromTriplets(n, n, entries)
		if err != nil {
			t.Fatal(err)
		}
		clamped := rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 1, 40, rapid.ID[int]).Draw(t, "clamped")
		slices.Sort(clamped)
		var first *sparse.Block[float64]
		for _, workers := range []int{1, 2, 7} {
			g, err := graph.New(ctx, a, &graph.Settings{Symmetric: true, Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			if more == 0 {
				g.Memory = NeededBytes(n, a.NNZ())
			}
			h, err := Harmonic(ctx, g, clamped)
			if err != nil {
				t.Fatal(err)
			}
			f := sparse.NewBlock[float64](n, 1)
			for i, v := range clamped {
				f.Row(v)[0] = float64(i%7) - 3
			}
			res, err := h.SolveTo(ctx, f, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			if more == 0 && res.ErrorBound == nil {
				t.Fatal("iterates on a forest")
			}
			if first != nil && !slices.Equal(first.Data, f.Data) {
				t.Fatalf("%d workers: other bits", workers)
			}
			first = f
		}
		isClamped := make([]bool, n)
		for i, v := range clamped {
			isClamped[v] = true
			if got := first.Row(v)[0]; got != float64(i%7)-3 {
				t.Fatalf("clamped row %d becomes %v", v, got)
			}
		}
		mean := make([]float64, n)
		total := make([]float64, n)
		for _, e := range entries {
			mean[e.Row] += e.Val * first.Row(int(e.Col))[0]
			total[e.Row] += e.Val
		}
		for i := range n {
			if got := first.Row(i)[0]; !isClamped[i] && total[i] > 0 && math.Abs(got-mean[i]/total[i]) > 1e-8 {
				t.Fatalf("row %d: %v, the mean of the neighbours is %v", i, got, mean[i]/total[i])
			}
		}
	})
}
