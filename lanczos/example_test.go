package lanczos_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/sparse"
)

// cycle returns the Laplacian of a cycle of n nodes.
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
	return sparse.NewLaplacian[float64](a, deg), c
}

// The smallest eigenvalues of a cycle are 0 and, twice each, 2 − 2cos(2πj/n).
func ExampleProblem_Lanczos() {
	ctx := context.Background()
	l, c := cycle(ctx, 1000)
	p := lanczos.Problem{A: l, Which: lanczos.Smallest, Known: lanczos.NewKnown(c, nil, 0)}
	pairs, err := p.Lanczos(ctx, 5, nil)
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

// The trace of exp(−L), the sum of exp(−λ) over all eigenvalues, and the logarithm of
// det(I + L), from a few random vectors, each within three standard errors.
func Example_traces() {
	ctx := context.Background()
	const n = 1000
	l, _ := cycle(ctx, n)
	traces, err := lanczos.Trace(ctx, l, []func(float64) float64{func(x float64) float64 { return math.Exp(-x) }}, nil)
	if err != nil {
		log.Fatal(err)
	}
	shifted := sparse.Operator[float64]{A: l.A, Scale: l.Scale, Diag: make([]float64, n)} // I + L
	for i, d := range l.Diag {
		shifted.Diag[i] = 1 + d
	}
	det, err := lanczos.LogDet(ctx, &shifted, nil, &lanczos.TraceSettings{Bounds: &lanczos.Bounds{Lo: 1, Hi: 5}})
	if err != nil {
		log.Fatal(err)
	}
	var trace, logDet float64
	for j := range n {
		v := 2 - 2*math.Cos(2*math.Pi*float64(j)/n)
		trace += math.Exp(-v)
		logDet += math.Log(1 + v)
	}
	for _, e := range []struct {
		lanczos.Estimate
		exact float64
	}{{traces[0], trace}, {det, logDet}} {
		fmt.Printf("%.0f, %v\n", e.exact, math.Abs(e.Value-e.exact) < 3*e.StdErr)
	}
	// Output:
	// 309, true
	// 962, true
}
