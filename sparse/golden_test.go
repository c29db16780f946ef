package sparse_test

import (
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestGoldenOperators(t *testing.T) {
	g := testgraph.Load(t, "wrand60")
	n := len(g.Nodes)
	testgraph.Close(t, sparse.BlockOf(n, 1, g.Degrees), testgraph.Golden(t, "wrand60/degree.npy"), 1e-10, 1e-9)
	identity := sparse.NewBlock[float64](n, n)
	for i := range n {
		identity.Row(i)[i] = 1
	}
	for file, op := range map[string]*sparse.Operator[float64]{
		"A":     {A: g.A},
		"T":     sparse.NewOperator[float64](sparse.Transition, g.A, g.Degrees),
		"S":     sparse.NewOperator[float64](sparse.NormalizedAdjacency, g.A, g.Degrees),
		"L":     sparse.NewOperator[float64](sparse.Laplacian, g.A, g.Degrees),
		"Lnorm": sparse.NewOperator[float64](sparse.NormalizedLaplacian, g.A, g.Degrees),
		"M":     modularity(g.A, g.Degrees),
	} {
		t.Run(file, func(t *testing.T) { checkProduct(t, op, identity, "wrand60/"+file+".npy") })
	}

	g = testgraph.Load(t, "sbm300")
	checkProduct(t, modularity(g.A, g.Degrees), testgraph.Golden(t, "sbm300/B.npy"), "sbm300/M_B.npy")
}

func modularity(a sparse.Matrix, deg []float64) *sparse.Operator[float64] {
	var vol float64
	for _, d := range deg {
		vol += d
	}
	return &sparse.Operator[float64]{A: a, Gamma: -1 / vol, U: deg, V: deg}
}

func checkProduct(t *testing.T, op *sparse.Operator[float64], x *sparse.Block[float64], file string) {
	t.Helper()
	y := sparse.NewBlock[float64](x.Rows, x.Cols)
	if err := op.ApplyTo(t.Context(), y, x); err != nil {
		t.Fatal(err)
	}
	testgraph.Close(t, y, testgraph.Golden(t, file), 1e-10, 1e-9)
}

func TestGoldenIteration(t *testing.T) {
	for _, name := range []string{"karate", "wrand60", "sbm300"} {
		g := testgraph.Load(t, name)
		y := sparse.NewBlock[float64](len(g.Nodes), len(g.Classes))
		for i, row := range g.Train {
			y.Row(row)[g.TrainClass[i]] = 1
		}
		s := sparse.NewOperator[float64](sparse.NormalizedAdjacency, g.A, g.Degrees)
		f, next := sparse.NewBlock[float64](y.Rows, y.Cols), sparse.NewBlock[float64](y.Rows, y.Cols)
		copy(f.Data, y.Data)
		for range 10 {
			if err := s.StepTo(t.Context(), next, f, sparse.Step[float64]{Alpha: 0.5, Delta: 0.5, Prev: y}); err != nil {
				t.Fatal(err)
			}
			f, next = next, f
		}
		testgraph.Close(t, f, testgraph.Golden(t, name+"/lgc_iter_a0.5_s10.npy"), 1e-10, 1e-9)
	}
}
