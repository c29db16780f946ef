package kernel_test

import (
	"context"
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
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
	g, err := graph.New(ctx, a, 0)
	if err != nil {
		log.Fatal(err)
	}
	k, err := kernel.New(ctx, g, "diffusion", spec.Values{"laplacian": spec.Word("combinatorial"), "beta": spec.Number(1)})
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

// Kernels are made of kernels: the mean of two, with ones on its diagonal.
func ExampleCosineTo() {
	near := sparse.BlockOf(2, 2, []float64{
		2, 1,
		1, 2,
	})
	far := sparse.BlockOf(2, 2, []float64{
		6, 0,
		0, 6,
	})
	k := sparse.NewBlock[float64](2, 2)
	kernel.SumTo(k, near, far)
	kernel.ScaleTo(k, 0.5, k)
	diagonal := []float64{k.Row(0)[0], k.Row(1)[1]}
	if err := kernel.CosineTo(k, k, diagonal, diagonal); err != nil {
		log.Fatal(err)
	}
	fmt.Println(mat.Formatted(k))
	// Output:
	// ⎡    1  0.125⎤
	// ⎣0.125      1⎦
}

// Centring makes the rows of a kernel sum to 0; the positive part takes away what no
// features can give.
func ExamplePositivePartTo() {
	k := sparse.BlockOf(2, 2, []float64{
		2, 0,
		0, -1,
	})
	if err := kernel.PositivePartTo(context.Background(), k, k); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.1f\n", mat.Formatted(k))
	kernel.CentreTo(k, k)
	fmt.Printf("%.1f\n", mat.Formatted(k))
	// Output:
	// ⎡2.0  0.0⎤
	// ⎣0.0  0.0⎦
	// ⎡ 0.5  -0.5⎤
	// ⎣-0.5   0.5⎦
}
