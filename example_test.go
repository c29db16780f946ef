package heatwalk_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/graph/multi"
	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/sparse"
)

// The karate club of Zachary: 34 members, and the side that each of them took.
const (
	club   = "testdata/golden/karate/edges.tsv"
	answer = "testdata/golden/karate/labels.tsv"
)

var ctx = context.Background()

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func open() *heatwalk.Graph {
	g, err := heatwalk.Open(ctx, club, nil)
	check(err)
	return g
}

type entry struct {
	i, j int
	v    float64
}

// entries is a sparse matrix as its list of entries, in place of a type of another module.
type entries struct {
	n    int
	list []entry
}

func (e entries) Dims() (r, c int)    { return e.n, e.n }
func (e entries) At(i, j int) float64 { panic("read element by element") }
func (e entries) T() mat.Matrix       { return mat.Transpose{Matrix: e} }
func (e entries) DoNonZero(f func(i, j int, v float64)) {
	for _, x := range e.list {
		f(x.i, x.j, x.v)
	}
}

// Open a graph file, a store or a LINQS folder, directed or undirected.
func ExampleOpen() {
	g, err := heatwalk.Open(ctx, club, nil)
	check(err)
	defer g.Close()
	fmt.Println(len(g.IDs()), "nodes, directed:", g.Directed)
	// Output:
	// 34 nodes, directed: false
}

// Convert any gonum matrix. Row i becomes the node with the id i, counted from 0.
func ExampleFromMat() {
	triangle := mat.NewSymDense(3, []float64{
		0, 1, 1,
		1, 0, 2,
		1, 2, 0,
	})
	g, err := heatwalk.FromMat(ctx, triangle, nil)
	check(err)
	defer g.Close()
	fmt.Println(g.IDs(), g.Degrees)
	// Output:
	// [0 1 2] [2 3 3]
}

// Convert a sparse matrix of another module in time proportional to its entries. The type entries
// has the method DoNonZero of gonum's mat.NonZeroDoer, like the types of
// github.com/james-bowman/sparse.
func ExampleFromMat_sparse() {
	a := entries{n: 4, list: []entry{{0, 1, 1}, {1, 2, 1}, {2, 3, 1}, {3, 0, 1}}}
	g, err := heatwalk.FromMat(ctx, a, nil)
	check(err)
	defer g.Close()
	fmt.Println("directed:", g.Directed, "entries:", g.A.NNZ())
	// Output:
	// directed: true entries: 4
}

// Convert a graph of package gonum.org/v1/gonum/graph. The numbers of its nodes become the ids.
func ExampleFromGraph() {
	friends := multi.NewWeightedUndirectedGraph()
	for _, weight := range []float64{2, 0.5} {
		friends.SetWeightedLine(friends.NewWeightedLine(multi.Node(7), multi.Node(3), weight))
	}
	friends.SetWeightedLine(friends.NewWeightedLine(multi.Node(7), multi.Node(11), 1))
	g, err := heatwalk.FromGraph(ctx, friends, nil)
	check(err)
	defer g.Close()
	fmt.Println(g.IDs(), g.Degrees)
	// Output:
	// [3 7 11] [2.5 3.5 1]
}

// Predict the labels of accounts from known ones, their relations and their attributes, keep the model, and apply it. The model
// and the predictions equal the predictions of heatwalk classify and predict.
func ExampleGraph_Classify_attributes() {
	before, err := os.Getwd()
	check(err)
	check(os.Chdir("cmd/heatwalk/internal/learn/example"))
	defer func() { check(os.Chdir(before)) }()
	model := filepath.Join(os.TempDir(), "frauds.model")
	defer os.Remove(model)

	g, err := heatwalk.Open(ctx, "relations.csv", &heatwalk.Options{
		Reading: &ingest.Config{Kind: "relation", Time: "date"}})
	check(err)
	defer g.Close()
	known, err := g.ReadLabels(ctx, "known.csv", nil) // a map of ids to labels
	check(err)
	p, err := g.Classify(ctx, known, &heatwalk.ClassifyOptions{Attributes: "accounts.csv"})
	check(err)
	fmt.Printf("%s: accuracy %.1f ± %.1f %%\n", p.Method, 100*p.Accuracy, 100*p.Stderr)
	check(p.Save(model))

	m, err := heatwalk.LoadModel(model)
	check(err)
	q, err := m.Predict(ctx, g, &heatwalk.ClassifyOptions{
		Attributes: "accounts.csv", Targets: []string{"a216", "a391"}})
	check(err)
	check(q.WriteTo(ctx, os.Stdout, ".csv"))

	reasons, err := g.Explain(ctx, known, []string{"a216"}, &heatwalk.ClassifyOptions{Attributes: "accounts.csv"})
	check(err)
	for _, a := range reasons[0].Attributes[:2] {
		fmt.Printf("%s: %+.1f\n", a.Name, a.Share)
	}
	// Output:
	// auto: accuracy 88.7 ± 2.7 %
	// node,label,reached,known,probability,fraud,honest
	// a216,honest,true,false,0.509014,0.490986,0.509014
	// a391,fraud,true,false,0.643716,0.643716,0.356284
	// months = 8: -1.8
	// country = FR: +0.4
}

// Predict the side of every member from the sides of four.
func ExampleGraph_Classify() {
	g := open()
	defer g.Close()
	p, err := g.Classify(ctx, map[string]string{"1": "hi", "2": "hi", "33": "officer", "34": "officer"},
		&heatwalk.ClassifyOptions{Method: "lgc:alpha=0.99"})
	check(err)
	fmt.Println("member 8 follows", p.Label("8"), "and member 31", p.Label("31"))
	// Output:
	// member 8 follows hi and member 31 officer
}

// Train methods on the same random shares of the labels, and test them on the other labels.
func ExampleGraph_Evaluate() {
	g := open()
	defer g.Close()
	known, err := g.ReadLabels(ctx, answer, nil) // the sides of all members
	check(err)
	comparison, err := g.Evaluate(ctx, known, &heatwalk.ClassifyOptions{
		Method: "lgc:alpha=0.99,lp", Train: []float64{0.2}, Splits: 5,
	})
	check(err)
	for _, r := range comparison.Results {
		fmt.Printf("%s %.2f  ", r.Method, r.AccuracyMean) // of 5 splits
	}
	// Output:
	// lgc:alpha=0.99 0.44  lp 0.83  majority 0.44
}

// Predict a number for every member from the numbers of four.
func ExampleGraph_Regress() {
	g := open()
	defer g.Close()
	p, err := g.Regress(ctx, map[string]float64{"1": 10, "2": 8, "33": 1, "34": 2}, "harmonic")
	check(err)
	row, _ := g.Nodes.Lookup("9")
	fmt.Printf("%.2f\n", p.Value[row])
	// Output:
	// 4.52
}

// Rank all members by their similarity to three of them.
func ExampleGraph_Rank() {
	g := open()
	defer g.Close()
	r, err := g.Rank(ctx, []string{"5", "7", "17"}, "diffusion:beta=2", 0)
	check(err)
	for _, row := range r.Order[:5] {
		fmt.Print(g.Nodes.ID(row), " ")
	}
	fmt.Printf("AUC %.2f\n", r.AUC)
	// Output:
	// 7 6 17 5 11 AUC 0.98
}

// Compute kernel values between the nodes 1, 34 and the nodes 1, 2, 34.
func ExampleGraph_Kernel() {
	g := open()
	defer g.Close()
	k, _, err := g.Kernel(ctx, "diffusion:beta=2", []string{"1", "34"}, []string{"1", "2", "34"}, 0)
	check(err)
	fmt.Printf("%.4f\n", mat.Formatted(k))
	// Output:
	// ⎡0.2666  0.1008  0.0288⎤
	// ⎣0.0288  0.0308  0.2673⎦
}

// Compute the three smallest eigenvalues of the normalized Laplacian and their eigenvectors.
func ExampleGraph_Eigen() {
	g := open()
	defer g.Close()
	vectors, pairs, err := g.Eigen(ctx, heatwalk.NormalizedLaplacian, lanczos.Smallest, 3, 0)
	check(err)
	rows, cols := vectors.Dims()
	fmt.Printf("%.4f, vectors %d×%d\n", pairs.Values, rows, cols)
	// Output:
	// [0.0000 0.1323 0.2870], vectors 34×3
}

// Solve (I + L)x = b for the first unit vector b.
func ExampleGraph_Solve() {
	g := open()
	defer g.Close()
	b := mat.NewDense(34, 1, nil)
	b.Set(0, 0, 1)
	x, r, err := g.Solve(ctx, heatwalk.Laplacian, 1, 1, b, 0)
	check(err)
	fmt.Printf("%.4f, within %t\n", x.At(0, 0), r.ErrorBound < 1e-8)
	// Output:
	// 0.0976, within true
}

// Compute the heat at the nodes 1 and 2 at time 0.1, if all heat is at node 1 at time 0.
func ExampleGraph_Expm() {
	g := open()
	defer g.Close()
	b := mat.NewDense(34, 1, nil)
	b.Set(0, 0, 1)
	heat, _, err := g.Expm(ctx, -0.1, heatwalk.Laplacian, b, 1e-4)
	check(err)
	fmt.Printf("%.4f %.4f\n", heat.At(0, 0), heat.At(1, 0))
	// Output:
	// 0.2296 0.0455
}

// Use the same graph with the packages below, here for the product of its Laplacian with a block
// of columns, without a copy of the matrix.
func Example_product() {
	g := open()
	defer g.Close()
	ones := sparse.NewBlock[float64](g.Nodes.Len(), 1)
	for i := range ones.Data {
		ones.Data[i] = 1
	}
	y := sparse.NewBlock[float64](ones.Rows, 1)
	check(g.Laplacian().ApplyTo(ctx, y, ones))
	fmt.Println(g.Nodes.ID(0), y.At(0, 0))
	// Output:
	// 1 0
}

// Many graphs share one limit of memory.
func ExampleOptions_planned() {
	known := map[string]string{"1": "instructor", "34": "administrator"}
	pool := budget.NewPool(1<<30, 0) // 1 GiB
	classify := func(path string) (p *heatwalk.Prediction, err error) {
		var bytes int64
		defer func() { pool.Leave(bytes) }()
		g, err := heatwalk.Open(ctx, path, &heatwalk.Options{Planned: func(plan *heatwalk.Plan) (err error) {
			if err = pool.Enter(ctx, 0, plan.Most()); err == nil {
				bytes += plan.Most()
			}
			return err
		}})
		if err != nil {
			return nil, err
		}
		defer g.Close()
		return g.Classify(ctx, known, nil)
	}
	p, err := classify(club)
	check(err)
	fmt.Println(p.Label("9"))
	// Output: administrator
}

// The program of docs/tour.md, in the folder of heatwalk demo --save.
func Example_tour() {
	before, err := os.Getwd()
	check(err)
	check(os.Chdir("cmd/heatwalk/internal/learn/example"))
	defer func() { check(os.Chdir(before)) }()

	ctx := context.Background()
	g, err := heatwalk.Open(ctx, "relations.csv", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	known := map[string]string{"a0": "honest", "a2": "honest", "a19": "fraud", "a49": "fraud"}
	p, err := g.Classify(ctx, known, &heatwalk.ClassifyOptions{Method: "lp"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("a391 is predicted to be", p.Label("a391"))
	// Output: a391 is predicted to be fraud
}
