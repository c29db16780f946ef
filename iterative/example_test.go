package iterative_test

import (
	"context"
	"fmt"
	"log"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/sparse"
)

// Two columns of the regularised Laplacian kernel (I + L)⁻¹ of a path.
func ExampleSystem_SolveTo() {
	ctx := context.Background()
	path, err := sparse.FromTriplets(4, 4, []sparse.Triplet{
		{Row: 0, Col: 1, Val: 1}, {Row: 1, Col: 0, Val: 1},
		{Row: 1, Col: 2, Val: 1}, {Row: 2, Col: 1, Val: 1},
		{Row: 2, Col: 3, Val: 1}, {Row: 3, Col: 2, Val: 1},
	})
	if err != nil {
		log.Fatal(err)
	}
	g, err := graph.New(ctx, path, nil)
	if err != nil {
		log.Fatal(err)
	}
	s, err := iterative.ShiftedLaplacian(g, false, 1, 1)
	if err != nil {
		log.Fatal(err)
	}
	columns := sparse.BlockOf(4, 2, []float64{
		1, 0,
		0, 0,
		0, 0,
		0, 1,
	})
	kernel := sparse.NewBlock[float64](4, 2)
	res, err := s.SolveTo(ctx, kernel, columns, nil)
	if err != nil {
		log.Fatal(err)
	}
	for i := range 4 {
		fmt.Printf("%.4f\n", kernel.Row(i))
	}
	fmt.Println(res.Steps, "steps, error below 1e-7:", res.ErrorBound[0] < 1e-7)
	// Output:
	// [0.6190 0.0476]
	// [0.2381 0.0952]
	// [0.0952 0.2381]
	// [0.0476 0.6190]
	// 4 steps, error below 1e-7: true
}
