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
	g, err := graph.New(ctx, path, 0)
	if err != nil {
		log.Fatal(err)
	}
	s, err := iterative.ShiftedLaplacian(g, 1, 1)
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
	// 6 steps, error below 1e-7: true
}

// Label propagation and the consistency method of Zhou and others on a path of five
// nodes, of which the first has class 0 and the last class 1.
func Example_sweeps() {
	ctx := context.Background()
	var edges []sparse.Triplet
	for i := range uint32(4) {
		edges = append(edges, sparse.Triplet{Row: i, Col: i + 1, Val: 1}, sparse.Triplet{Row: i + 1, Col: i, Val: 1})
	}
	a, err := sparse.FromTriplets(5, 5, edges)
	if err != nil {
		log.Fatal(err)
	}
	deg, err := sparse.Degrees(ctx, a, 0)
	if err != nil {
		log.Fatal(err)
	}
	labels := func() *sparse.Block[float64] {
		y := sparse.NewBlock[float64](5, 2)
		y.Row(0)[0], y.Row(4)[1] = 1, 1
		return y
	}

	f := labels()
	t := sparse.NewTransition[float64](a, deg)
	if _, err := iterative.Propagate(ctx, t, f, []int{0, 4}, nil); err != nil {
		log.Fatal(err)
	}
	g := labels()
	s := sparse.NewNormalizedAdjacency[float64](a, deg)
	res, err := iterative.Spread(ctx, s, g, labels(), 0.5, nil)
	if err != nil {
		log.Fatal(err)
	}
	for i := range 5 {
		fmt.Printf("%.3f %.3f\n", f.Row(i), g.Row(i))
	}
	fmt.Println("error of the second below 1e-7:", res.ErrorBound[0] < 1e-7)
	// Output:
	// [1.000 0.000] [0.577 0.006]
	// [0.750 0.250] [0.219 0.017]
	// [0.500 0.500] [0.059 0.059]
	// [0.250 0.750] [0.017 0.219]
	// [0.000 1.000] [0.006 0.577]
	// error of the second below 1e-7: true
}
