package expm_test

import (
	"context"
	"fmt"
	"log"

	"github.com/heatwalk/heatwalk/expm"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/sparse"
)

// The heat that starts on one node of a triangle.
func Example() {
	var edges []sparse.Triplet
	for i := range uint32(3) {
		for j := range uint32(3) {
			if i != j {
				edges = append(edges, sparse.Triplet{Row: i, Col: j, Val: 1})
			}
		}
	}
	a, err := sparse.FromTriplets(3, 3, edges)
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	g, err := graph.New(ctx, a, nil)
	if err != nil {
		log.Fatal(err)
	}
	l, err := expm.New(ctx, g, sparse.Laplacian)
	if err != nil {
		log.Fatal(err)
	}
	b := sparse.BlockOf(3, 1, []float64{1, 0, 0})
	y := []*sparse.Block[float64]{sparse.NewBlock[float64](3, 1), sparse.NewBlock[float64](3, 1)}
	r, err := l.ApplyTo(ctx, y, b, []expm.Function{expm.Exp(-0.1), expm.Exp(-1)}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for i, beta := range []float64{0.1, 1} {
		fmt.Printf("β = %g: %.4f %.4f %.4f, good to 1e-8: %v\n", beta, y[i].At(0, 0), y[i].At(1, 0), y[i].At(2, 0), r.Functions[i].Relative <= 1e-8)
	}
	// Output:
	// β = 0.1: 0.8272 0.0864 0.0864, good to 1e-8: true
	// β = 1: 0.3665 0.3167 0.3167, good to 1e-8: true
}
