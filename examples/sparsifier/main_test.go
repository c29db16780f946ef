package main

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk"
)

// The quadratic form stays nearly the same. Weights times resistances add to n − 1.
func TestSparsify(t *testing.T) {
	const n = 300
	rng := rand.New(rand.NewPCG(7, 1))
	a := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i {
			a.SetSym(i, j, 1+rng.Float64())
		}
	}
	g, err := heatwalk.FromMat(t.Context(), a, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	edges, shares, err := resistances(t.Context(), g, rng)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, p := range shares {
		sum += p
	}
	if math.Abs(sum-(n-1)) > 0.05*n {
		t.Errorf("weights times resistances add to %v", sum)
	}
	const samples = 12_000
	smaller, err := sparsify(t.Context(), g, samples, rng)
	if err != nil || len(smaller) > samples || len(smaller) >= len(edges)/3 {
		t.Fatalf("%d edges of %d, %v", len(smaller), len(edges), err)
	}
	for range 20 {
		x := make([]float64, n)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		if ratio := form(smaller, x) / form(edges, x); math.Abs(ratio-1) > 0.2 {
			t.Errorf("the quadratic form is %.3f of that of the graph", ratio)
		}
	}
}

// form returns xᵀ·L·x = Σ w·(x_u − x_v)².
func form(edges []heatwalk.Edge, x []float64) (sum float64) {
	for _, e := range edges {
		d := x[e.Source] - x[e.Target]
		sum += e.Weight * d * d
	}
	return sum
}
