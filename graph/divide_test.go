package graph_test

import (
	"math"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestDivide(t *testing.T) {
	const n = 300
	for _, heavy := range []float64{0, 0.5, 1e4} {
		var entries []sparse.Triplet
		random := testgraph.Random(3, n, 900, true)
		for i := range n {
			col, val := random.Row(i)
			for e, j := range col {
				entries = append(entries, sparse.Triplet{Row: uint32(i), Col: j, Val: val[e]})
			}
		}
		if heavy > 0 {
			entries = append(entries, sparse.Triplet{Row: 7, Col: 7, Val: heavy}, sparse.Triplet{Row: 290, Col: 290, Val: heavy})
		}
		a, err := sparse.FromTriplets(n, n, entries)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := graph.New(t.Context(), a, nil)
		if err != nil {
			t.Fatal(err)
		}
		x := sparse.NewBlock[float64](n, 1)
		for i := range n {
			x.Row(i)[0] = math.Sin(float64(i))
		}
		// L·x, the degrees, the diagonal of L, and loops
		results := func(g *graph.Graph, x *sparse.Block[float64]) (*sparse.Block[float64], error) {
			y, lx := sparse.NewBlock[float64](x.Rows, 4), sparse.NewBlock[float64](x.Rows, 1)
			if err := g.Laplacian().ApplyTo(t.Context(), lx, x); err != nil {
				return nil, err
			}
			diag := graph.LaplacianDiagonal(g)
			for i := range y.Rows {
				loop := 0.0
				if g.Loops != nil {
					loop = g.Loops[i]
				}
				copy(y.Row(i), []float64{lx.Row(i)[0], g.Degrees[i], diag[i], loop})
			}
			return y, nil
		}
		want, err := results(whole, x)
		if err != nil {
			t.Fatal(err)
		}
		got := contract.OnProcesses(t, 3, whole, []int{290, 5}, func(g *graph.Graph, local func(row int) int) (*sparse.Block[float64], error) {
			part := sparse.NewBlock[float64](len(g.Degrees), 1)
			for i := range part.Rows {
				if team := sparse.TeamOf(g.A); !team.IsPadding(i) {
					part.Row(i)[0] = math.Sin(float64(g.A.(*sparse.Divided).Team().Rows[i]))
				}
			}
			return results(g, part)
		})
		for i := range n {
			for j, v := range want.Row(i) {
				if j > 0 && got.Row(i)[j] != v || math.Abs(got.Row(i)[j]-v) > 1e-12*(1+whole.Degrees[i]) {
					t.Fatalf("loops of %v: row %d is %v, want %v", heavy, i, got.Row(i), want.Row(i))
				}
			}
		}
	}
}
