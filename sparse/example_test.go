package sparse_test

import (
	"context"
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/sparse"
)

// How likely does a lazy walk of three steps end at either end of the path 0 – 1 – 2 – 3?
func Example() {
	ctx := context.Background()
	a, err := sparse.FromTriplets(4, 4, []sparse.Triplet{
		{Row: 0, Col: 1, Val: 1},
		{Row: 1, Col: 0, Val: 1}, {Row: 1, Col: 2, Val: 1},
		{Row: 2, Col: 1, Val: 1}, {Row: 2, Col: 3, Val: 1},
		{Row: 3, Col: 2, Val: 1},
	})
	if err != nil {
		log.Fatal(err)
	}
	degrees, err := sparse.Degrees(ctx, a, 0)
	if err != nil {
		log.Fatal(err)
	}
	walk := sparse.NewOperator[float64](sparse.Transition, a, degrees)
	p, q := sparse.NewBlock[float64](4, 2), sparse.NewBlock[float64](4, 2)
	p.Row(0)[0], p.Row(3)[1] = 1, 1
	for range 3 {
		if err := walk.StepTo(ctx, q, p, sparse.Step[float64]{Alpha: 0.5, Beta: 0.5}); err != nil {
			log.Fatal(err)
		}
		p, q = q, p
	}
	fmt.Printf("%.4f\n", mat.Formatted(p))
	// Output:
	// ⎡0.3125  0.0312⎤
	// ⎢0.2344  0.0938⎥
	// ⎢0.0938  0.2344⎥
	// ⎣0.0312  0.3125⎦
}

// A three-term recurrence needs two blocks, because each step overwrites the block before the last. The example
// computes T₄ of the normalised adjacency of an edge by Tⱼ₊₁ = 2·S·Tⱼ − Tⱼ₋₁.
func ExampleOperator_StepTo() {
	ctx := context.Background()
	a, err := sparse.FromMat(mat.NewSymDense(2, []float64{0, 1, 1, 0}))
	if err != nil {
		log.Fatal(err)
	}
	s := sparse.NewOperator[float64](sparse.NormalizedAdjacency, a, []float64{1, 1})
	t0, t1 := sparse.BlockOf(2, 1, []float64{1, 0}), sparse.NewBlock[float64](2, 1)
	if err := s.ApplyTo(ctx, t1, t0); err != nil {
		log.Fatal(err)
	}
	for j := 1; j < 4; j++ {
		if err := s.StepTo(ctx, t0, t1, sparse.Step[float64]{Alpha: 2, Delta: -1, Prev: t0}); err != nil {
			log.Fatal(err)
		}
		t0, t1 = t1, t0
		fmt.Println("T", j+1, t1.Row(0), t1.Row(1))
	}
	// Output:
	// T 2 [1] [0]
	// T 3 [0] [1]
	// T 4 [1] [0]
}
