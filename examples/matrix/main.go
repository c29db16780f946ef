// Command matrix works on a graph that is never stored: a torus of SIDE × SIDE nodes, whose rows are computed in each sweep.
//
//	go run ./examples/matrix SIDE
//
// It prints the smallest eigenvalues of the Laplacian with bounds of their errors, the heat around a node after a time with a bound
// of its error, and the sum of all entries, which one sweep adds up row by row.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"slices"
	"strconv"

	"github.com/heatwalk/heatwalk/expm"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/sparse"
)

// torus returns the adjacency matrix of a torus. Node x + side·y has four neighbours; side must be 3 or more.
func torus(side int) *sparse.Computed {
	neighbours := func(i int, col []uint32, val []float64) {
		x := i % side
		y := i / side
		for e, node := range []int{(x+1)%side + side*y, (x+side-1)%side + side*y, x + (y+1)%side*side, x + (y+side-1)%side*side} {
			col[e] = uint32(node)
			val[e] = 1
		}
		slices.Sort(col)
	}
	return sparse.NewComputed(side*side, side*side, func(int) int { return 4 }, neighbours)
}

// heat returns exp(−t·L)·e for the unit vector e of node 0, and a bound of its error.
func heat(ctx context.Context, g *graph.Graph, t float64) (*sparse.Block[float64], float64, error) {
	l, err := expm.New(ctx, g, sparse.Laplacian)
	if err != nil {
		return nil, 0, err
	}
	start := sparse.NewBlock[float64](len(g.Degrees), 1)
	start.Row(0)[0] = 1
	y := sparse.NewBlock[float64](start.Rows, 1)
	r, err := l.ApplyTo(ctx, []*sparse.Block[float64]{y}, start, []expm.Function{expm.Exp(-t)}, nil)
	if err != nil {
		return nil, 0, err
	}
	return y, r.Functions[0].ErrorBound, nil
}

// sum returns the sum of all entries, in one sweep by as many goroutines as there are processors.
func sum(ctx context.Context, a sparse.Matrix) (total float64, err error) {
	sums, err := sparse.RowSums(ctx, a, 0, func(col []uint32, val []float64) (s float64) {
		for e := range col {
			s += val[e]
		}
		return s
	})
	for _, s := range sums {
		total += s
	}
	return total, err
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: matrix SIDE")
	}
	side, err := strconv.Atoi(os.Args[1])
	if err != nil || side < 3 {
		log.Fatal("SIDE must be a number of 3 or more")
	}
	ctx := context.Background()
	a := torus(side)
	g, err := graph.New(ctx, a, nil)
	if err != nil {
		log.Fatal(err)
	}
	const count = 5
	smallest := &lanczos.GraphProblem{Matrix: sparse.Laplacian, Which: lanczos.Smallest}
	pairs, err := smallest.Solve(ctx, g, count, nil)
	if err != nil {
		log.Fatal(err)
	}
	for j, v := range pairs.Values {
		fmt.Printf("eigenvalue %.10f ± %.1e\n", v, pairs.ErrorBounds[j])
	}
	y, bound, err := heat(ctx, g, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("heat %.10f ± %.1e\n", y.Row(0)[0], bound)
	total, err := sum(ctx, a)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("sum of entries %v\n", total)
}
