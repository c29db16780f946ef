package iterative

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/sparse"
)

// With weights over many decades an error is bounded row by row, by little beside
// the column: the solution is compared with that of the scaled system, which is
// well conditioned.
func TestErrorBoundOfUnevenWeights(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	const n, alpha = 40, 0.99
	var entries []sparse.Triplet
	join := func(i, j int, w float64) {
		entries = append(entries, sparse.Triplet{Row: uint32(i), Col: uint32(j), Val: w}, sparse.Triplet{Row: uint32(j), Col: uint32(i), Val: w})
	}
	for i := 1; i < n-1; i++ { // the last node has no edges
		join(i, i-1, math.Pow(10, 12*rng.Float64()-6))
		if i > 2 {
			join(i, rng.IntN(i-1), math.Pow(10, 12*rng.Float64()-6))
		}
	}
	a, err := sparse.FromTriplets(n, n, entries)
	if err != nil {
		t.Fatal(err)
	}
	g := graphOf(t, a)
	s, err := VonNeumann(g, false, alpha)
	if err != nil {
		t.Fatal(err)
	}
	b, x := sparse.NewBlock[float64](n, n), sparse.NewBlock[float64](n, n)
	scaled := mat.NewDense(n, n, nil)
	root := make([]float64, n)
	for i := range n {
		b.Row(i)[i] = 1
		scaled.Set(i, i, 1)
		root[i] = math.Sqrt(max(g.Degrees[i], 1e-300))
	}
	a.DoNonZero(func(i, j int, w float64) { scaled.Set(i, j, -alpha*w/root[i]/root[j]) })
	var want mat.Dense
	if err := want.Inverse(scaled); err != nil {
		t.Fatal(err)
	}
	res, err := s.SolveTo(ctx, x, b, &Settings{Tolerance: 1e-15})
	if err != nil && !errors.Is(err, ErrStagnation) {
		t.Fatal(err)
	}
	for j := range n - 1 {
		var square, size float64
		for i := range n - 1 {
			exact := want.At(i, j) / root[i] / root[j]
			square += (x.Row(i)[j] - exact) * (x.Row(i)[j] - exact)
			size += exact * exact
		}
		if bound := res.ErrorBound[j]; !(math.Sqrt(square) <= bound+1e-13*math.Sqrt(size)) || !(bound <= 1e-9*math.Sqrt(size)) {
			t.Errorf("column %d: error %g, bound %g, norm %g", j, math.Sqrt(square), bound, math.Sqrt(size))
		}
	}
}
