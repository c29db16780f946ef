package graph_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/sparse"
)

// Rows of more than one piece are summed exactly.
func TestDegreesAreRoundedOnce(t *testing.T) {
	const n = 40_000 // more than two pieces
	var list []sparse.Triplet
	hub, loopless := new(big.Float).SetPrec(200), new(big.Float).SetPrec(200)
	for i := range uint32(n) {
		w := 0.1 + float64(i%7)*1e-9
		if i == 0 {
			w = 1e9
		} else {
			loopless.Add(loopless, big.NewFloat(w))
			list = append(list, sparse.Triplet{Row: i, Col: 0, Val: w})
		}
		hub.Add(hub, big.NewFloat(w))
		list = append(list, sparse.Triplet{Row: 0, Col: i, Val: w})
	}
	a, err := sparse.FromTriplets(n, n, list)
	if err != nil {
		t.Fatal(err)
	}
	g, err := graph.New(t.Context(), a, &graph.Settings{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	want, _ := hub.Float64()
	wantBeside, _ := loopless.Float64()
	l := g.Laplacian()
	if g.Degrees[0] != want || l.Diag[0] != wantBeside || l.Diag[1] != g.Degrees[1] || g.Loops[0] != 1e9 {
		t.Errorf("degree %v and %v without the loop, want %v and %v", g.Degrees[0], l.Diag[0], want, wantBeside)
	}
	// L·1 is next to nothing, though the loop is not.
	x, y := sparse.NewBlock[float64](n, 1), sparse.NewBlock[float64](n, 1)
	for i := range n {
		x.Row(i)[0] = 1
	}
	if err := l.ApplyTo(t.Context(), y, x); err != nil {
		t.Fatal(err)
	}
	if v := math.Abs(y.Row(0)[0]); v > 1e-8 {
		t.Errorf("L·1 is %v at the hub", v)
	}
}
