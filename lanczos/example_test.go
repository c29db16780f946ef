package lanczos_test

import (
	"context"
	"fmt"
	"log"

	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/sparse"
)

func cycle(ctx context.Context, n int) (*sparse.Operator[float64], *sparse.Components) {
	var edges []sparse.Triplet
	for i := range n {
		j := (i + 1) % n
		edges = append(edges, sparse.Triplet{Row: uint32(i), Col: uint32(j), Val: 1}, sparse.Triplet{Row: uint32(j), Col: uint32(i), Val: 1})
	}
	a, err := sparse.FromTriplets(n, n, edges)
	if err != nil {
		log.Fatal(err)
	}
	deg, err := sparse.Degrees(ctx, a, 0)
	if err != nil {
		log.Fatal(err)
	}
	c, err := sparse.FindComponents(ctx, a, 0)
	if err != nil {
		log.Fatal(err)
	}
	return sparse.NewOperator[float64](sparse.Laplacian, a, deg), c
}

// The smallest eigenvalues of a cycle are 0 and, twice each, 2 − 2cos(2πj/n).
func ExampleProblem_Solve() {
	ctx := context.Background()
	l, c := cycle(ctx, 1000)
	p := lanczos.Problem{A: l, Which: lanczos.Smallest, Known: &lanczos.Known{Components: c}}
	pairs, err := p.Solve(ctx, 5, nil)
	if err != nil {
		log.Fatal(err)
	}
	for i, v := range pairs.Values {
		fmt.Printf("%.4e, residual below 1e-7: %v\n", v, pairs.Residuals[i] < 1e-7)
	}
	// Output:
	// 0.0000e+00, residual below 1e-7: true
	// 3.9478e-05, residual below 1e-7: true
	// 3.9478e-05, residual below 1e-7: true
	// 1.5791e-04, residual below 1e-7: true
	// 1.5791e-04, residual below 1e-7: true
}
