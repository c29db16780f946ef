package heatwalk_test

import (
	"context"
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/expm"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/spectral"
)

// The karate club of Zachary: 34 members and, for two of each side, which side they took.
const (
	club   = "testdata/golden/karate/edges.tsv"
	sides  = "testdata/golden/karate/train.tsv"
	answer = "testdata/golden/karate/labels.tsv"
)

var ctx = context.Background()

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func open() *graph.Graph {
	g, err := heatwalk.Open(ctx, club, nil)
	check(err)
	return g
}

// Any graph file, or a store, becomes a graph in memory.
func ExampleOpen() {
	g, err := heatwalk.Open(ctx, club, nil)
	check(err)
	defer g.Close()
	fmt.Println(g.Nodes.Len(), "nodes,", g.A.NNZ()/2, "edges,", len(g.Components.Sizes), "component")
	// Output: 34 nodes, 78 edges, 1 component
}

// A product with the adjacency matrix, of as many columns as there are.
func Example_product() {
	g := open()
	defer g.Close()
	ones := sparse.NewBlock[float64](g.Nodes.Len(), 1)
	for i := range ones.Data {
		ones.Data[i] = 1
	}
	y := sparse.NewBlock[float64](ones.Rows, 1)
	check((&sparse.Operator[float64]{A: g.A}).ApplyTo(ctx, y, ones))
	fmt.Println(g.Nodes.ID(0), "has", y.At(0, 0), "friends")
	// Output: 1 has 16 friends
}

// The heat that is left, and where it has gone, after a time of 0.1.
func Example_exponential() {
	g := open()
	defer g.Close()
	l, err := expm.New(ctx, g, sparse.Laplacian)
	check(err)
	start := sparse.NewBlock[float64](g.Nodes.Len(), 1)
	start.Row(0)[0] = 1
	heat := sparse.NewBlock[float64](start.Rows, 1)
	_, err = l.ApplyTo(ctx, []*sparse.Block[float64]{heat}, start, []expm.Function{expm.Exp(-0.1)}, nil)
	check(err)
	fmt.Printf("%.4f %.4f\n", heat.At(0, 0), heat.At(1, 0))
	// Output: 0.2296 0.0455
}

// The block of a kernel between some nodes, with a bound on its error.
func Example_kernel() {
	g := open()
	defer g.Close()
	k, err := kernel.New(ctx, g, "diffusion", spec.Values{"beta": spec.Of(2.0)})
	check(err)
	block, report, err := kernel.Matrix(ctx, k, []int{0, 33}, []int{0, 1, 33}, nil)
	check(err)
	fmt.Printf("%.4f\nwithin 1e-10: %v\n", mat.Formatted(block), report.ErrorBound < 1e-10)
	// Output:
	// ⎡0.2666  0.1008  0.0288⎤
	// ⎣0.0288  0.0308  0.2673⎦
	// within 1e-10: true
}

// Eigenpairs of a matrix of the graph: a spectral embedding.
func Example_eigenpairs() {
	g := open()
	defer g.Close()
	p := &spectral.Problem{Matrix: spectral.LaplacianNormalized, Which: lanczos.Smallest}
	pairs, err := p.Solve(ctx, g, 3, nil)
	check(err)
	fmt.Printf("%.4f\n", pairs.Values)
	// Output: [0.0000 0.1323 0.2870]
}

// A system of the graph: the regularised Laplacian (I + L)X = B.
func Example_solve() {
	g := open()
	defer g.Close()
	s, err := iterative.ShiftedLaplacian(g, false, 1, 1)
	check(err)
	b := sparse.NewBlock[float64](g.Nodes.Len(), 1)
	b.Row(0)[0] = 1
	x := sparse.NewBlock[float64](b.Rows, 1)
	_, err = s.SolveTo(ctx, x, b, nil)
	check(err)
	fmt.Printf("%.4f\n", x.At(0, 0))
	// Output: 0.0976
}

// Features of walks from some nodes, whose inner products are the coinciding walk kernel.
func Example_features() {
	g := open()
	defer g.Close()
	l, err := nodefile.ReadLabels(ctx, sides, g.Nodes, nil)
	check(err)
	walk := cwk.Walk[float64]{
		A: g.A, Degrees: g.Degrees, Steps: 10,
		Seeds:    cwk.Seeds{Row: l.Row, Class: l.Class, Classes: len(l.Names)},
		Variants: []cwk.Variant{{Absorb: 0.5}},
	}
	f, err := walk.Features(ctx, 0, cwk.Picks([]int{1, 2, 3}, walk.Seeds, nil), nil)
	check(err)
	rows, cols := f.Dims()
	fmt.Println(rows, "rows of", cols, "features")
	// Output: 3 rows of 22 features
}

// A label for every member from those of a few.
func Example_classify() {
	g := open()
	defer g.Close()
	l, err := nodefile.ReadLabels(ctx, sides, g.Nodes, nil)
	check(err)
	p := &method.Problem{Graph: g, Row: l.Row, Class: l.Class, Names: l.Names}
	methods, err := method.Parse("lgc")
	check(err)
	out, err := methods[0].Method.Predict(ctx, p, nil, nil)
	check(err)
	truth, err := nodefile.ReadLabels(ctx, answer, g.Nodes, nil)
	check(err)
	right := 0
	for i, row := range truth.Row {
		if truth.Names[truth.Class[i]] == l.Names[out.Class[row]] {
			right++
		}
	}
	fmt.Println(right, "of", len(truth.Row))
	// Output: 34 of 34
}

// The accuracy of parameters that were chosen by cross-validation on all labels.
func Example_crossValidate() {
	g := open()
	defer g.Close()
	l, err := nodefile.ReadLabels(ctx, answer, g.Nodes, nil)
	check(err)
	p := &method.Problem{Graph: g, Row: l.Row, Class: l.Class, Names: l.Names}
	choice, err := method.CrossValidate(ctx, p, nil)
	check(err)
	fmt.Printf("%.2f of %d\n", choice.Accuracy, choice.Tested)
	// Output: 0.97 of 34
}

// From gonum and back, without a copy of what is dense.
func Example_gonum() {
	triangle := mat.NewSymDense(3, []float64{
		0, 1, 1,
		1, 0, 2,
		1, 2, 0,
	})
	g, err := graph.FromMat(ctx, triangle, nil)
	check(err)
	x := mat.NewDense(3, 1, []float64{1, 0, 0})
	y := mat.NewDense(3, 1, nil)
	check(g.Laplacian().ApplyTo(ctx, sparse.BlockOfDense(y), sparse.BlockOfDense(x)))
	fmt.Println(mat.Formatted(y.T()))
	// Output: [ 2  -1  -1]
}
