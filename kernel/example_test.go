package kernel_test

import (
	"context"
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// The heat kernel between two nodes of a path and all four.
func Example() {
	ctx := context.Background()
	a, err := sparse.FromMat(mat.NewDense(4, 4, []float64{
		0, 1, 0, 0,
		1, 0, 1, 0,
		0, 1, 0, 1,
		0, 0, 1, 0,
	}))
	if err != nil {
		log.Fatal(err)
	}
	g, err := graph.New(ctx, a, nil)
	if err != nil {
		log.Fatal(err)
	}
	k, err := kernel.New(ctx, g, "diffusion", param.Values{"laplacian": param.Of("combinatorial"), "beta": param.Of(1.0)})
	if err != nil {
		log.Fatal(err)
	}
	block, report, err := kernel.Matrix(ctx, k, []int{0, 3}, []int{0, 1, 2, 3}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.4f\n", mat.Formatted(block))
	fmt.Println("good to 1e-10:", report.ErrorBound <= 1e-10)
	// Output:
	// ⎡0.5238  0.3088  0.1236  0.0439⎤
	// ⎣0.0439  0.1236  0.3088  0.5238⎦
	// good to 1e-10: true
}
