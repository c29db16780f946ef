package iterative

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/sparse"
)

func TestVonNeumannAdjacency(t *testing.T) {
	const n, rest = 100, 1e-6
	var edges []sparse.Triplet
	dense := mat.NewSymDense(n, nil)
	edge := func(i, j int, w float64) {
		edges = append(edges, sparse.Triplet{Row: uint32(i), Col: uint32(j), Val: w}, sparse.Triplet{Row: uint32(j), Col: uint32(i), Val: w})
		dense.SetSym(i, j, w)
	}
	for i := range n {
		edge(i, (i+1)%n, 1+float64(i%7)/4)
		if i < n/2 && i%10 == 0 {
			edge(i, i+n/2-3, 0.5)
		}
	}
	a, err := sparse.FromTriplets(n, n, edges)
	if err != nil {
		t.Fatal(err)
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(dense, true) {
		t.Fatal("no eigenpairs")
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	values, v := eigen.Values(nil), make([]float64, n)
	for i := range v {
		v[i] = math.Abs(vectors.At(i, n-1))
	}
	alpha := (1 - rest) / values[n-1]

	g, err := graph.New(ctx, a, &graph.Settings{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	s, err := VonNeumannAdjacency(ctx, g, alpha, v, rest/2)
	if err != nil {
		t.Fatal(err)
	}
	b, x := sparse.NewBlock[float64](n, 2), sparse.NewBlock[float64](n, 2)
	b.Row(3)[0], b.Row(n / 2)[1] = 1, 1
	res, err := s.SolveTo(ctx, x, b, &Settings{Tolerance: 1e-8})
	if err != nil {
		t.Fatal(err)
	}
	worst, largest := 0.0, 0.0
	for i := range n {
		for c, j := range []int{3, n / 2} {
			want := 0.0
			for e, value := range values {
				want += vectors.At(i, e) * vectors.At(j, e) / (1 - alpha*value)
			}
			worst, largest = max(worst, math.Abs(x.Row(i)[c]-want)), max(largest, math.Abs(want))
		}
	}
	t.Logf("%d steps, error %.3g of %.3g", res.Steps, worst, largest)
	if worst > 1e-8*largest {
		t.Errorf("error %.3g of %.3g", worst, largest)
	}

	v[n/3] /= 2 // α·Av < v no longer holds next to it
	if _, err := VonNeumannAdjacency(ctx, g, alpha, v, rest/2); err == nil {
		t.Error("a vector that shows nothing was accepted")
	}
}
