package main

import (
	"math"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestTorus(t *testing.T) {
	const side = 30
	a := torus(side)
	want, err := sparse.Load(t.Context(), a, 1)
	if err != nil {
		t.Fatal(err)
	}
	testgraph.TestMatrix(t, func() sparse.Matrix { return a }, want)
	var exact []float64
	wantHeat := 0.0
	for i := range side * side {
		v := 4 - 2*math.Cos(2*math.Pi*float64(i%side)/side) - 2*math.Cos(2*math.Pi*float64(i/side)/side)
		exact = append(exact, v)
		wantHeat += math.Exp(-v) / (side * side)
	}
	slices.Sort(exact)
	g, err := graph.New(t.Context(), a, nil)
	if err != nil {
		t.Fatal(err)
	}
	smallest := &lanczos.GraphProblem{Matrix: sparse.Laplacian, Which: lanczos.Smallest}
	pairs, err := smallest.Solve(t.Context(), g, 5, nil)
	if err != nil {
		t.Fatal(err)
	}
	for j, v := range pairs.Values {
		if math.Abs(v-exact[j]) > pairs.ErrorBounds[j] || pairs.ErrorBounds[j] > 1e-6 {
			t.Errorf("eigenvalue %v ± %v, want %v", v, pairs.ErrorBounds[j], exact[j])
		}
	}
	y, bound, err := heat(t.Context(), g, 1)
	if err != nil || math.Abs(y.Row(0)[0]-wantHeat) > bound || bound > 1e-6 {
		t.Errorf("heat %v ± %v, want %v (%v)", y.Row(0), bound, wantHeat, err)
	}
	if total, err := sum(t.Context(), a); err != nil || total != 4*side*side {
		t.Errorf("sum of entries %v, %v", total, err)
	}
}
