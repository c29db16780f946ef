package kernel

import (
	"math"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestFunctionsOnSeveralProcesses(t *testing.T) {
	undirected, err := graph.New(t.Context(), testgraph.Random(11, 90, 70, true), nil)
	if err != nil {
		t.Fatal(err)
	}
	arcs := testgraph.RandomDirected(5, 90, 150, true)
	directed, err := graph.New(t.Context(), arcs, nil)
	if err != nil {
		t.Fatal(err)
	}
	directed.In = arcs.Transpose()
	laplacian := param.Values{"matrix": param.Of("laplacian")}
	tests := []struct {
		g  *graph.Graph
		of NamedFunction
	}{
		{undirected, NamedFunction{Name: "normalized-laplacian"}},
		{undirected, NamedFunction{Name: "transition"}},
		{directed, NamedFunction{Name: "adjacency"}},
		{undirected, NamedFunction{Name: ExpFunction, Given: laplacian, Times: []float64{-1, -0.25}}},
		{undirected, NamedFunction{Name: SolveFunction, Given: param.Values{"matrix": param.Of("laplacian"), "shift": param.Of(0.5)}}},
		{undirected, NamedFunction{Name: SolveFunction, Given: laplacian}},
		{undirected, NamedFunction{Name: "matern"}},
		{undirected, NamedFunction{Name: PersonalizedPageRank.Name, Given: param.Values{"sinks": param.Of("all")}}},
		{directed, NamedFunction{Name: PersonalizedPageRank.Name}},
		{directed, NamedFunction{Name: PersonalizedPageRank.Name, Given: param.Values{"sinks": param.Of("all")}}},
	}
	b := sparse.NewBlock[float64](90, 2)
	for i := range b.Rows {
		b.Row(i)[0], b.Row(i)[1] = 1+math.Sin(float64(i)), 1+math.Cos(float64(i*i))
	}
	for at, test := range tests {
		apply := func(g *graph.Graph, b *sparse.Block[float64]) (*sparse.Block[float64], *Report, error) {
			f, err := NewFunction(t.Context(), g, &test.of)
			if err != nil {
				return nil, nil, err
			}
			y := sparse.NewBlock[float64](b.Rows, b.Cols*test.of.Results())
			r, err := f.ApplyTo(t.Context(), y, b, &Settings{Tolerance: 1e-9})
			return y, r, err
		}
		want, whole, err := apply(test.g, b)
		if err != nil {
			t.Fatalf("%s: %v", test.of.Name, err)
		}
		var report *Report // report of process 0
		got := contract.OnProcesses(t, 2+at%2, test.g, []int{2, 19, 20, 77}, func(part *graph.Graph, _ func(row int) int) (*sparse.Block[float64], error) {
			team, own := sparse.TeamOf(part.A), sparse.NewBlock[float64](len(part.Degrees), b.Cols)
			for i := range own.Rows {
				if !team.IsPadding(i) {
					copy(own.Row(i), b.Row(team.Row(i)))
				}
			}
			y, r, err := apply(part, own)
			if team.Rank() == 0 {
				report = r
			}
			return y, err
		})
		if report.Sweeps > whole.Sweeps+100 { // iterations replace a factor
			t.Errorf("%s: %d sweeps, of one process %d", test.of.Name, report.Sweeps, whole.Sweeps)
		}
		if math.Abs(report.Largest-whole.Largest) > report.ErrorBound+whole.ErrorBound {
			t.Errorf("%s: largest value %v, want %v", test.of.Name, report.Largest, whole.Largest)
		}
		for i := range want.Rows {
			for j, v := range got.Row(i) {
				if bound := report.ColumnBound[j] + whole.ColumnBound[j]; !(math.Abs(v-want.Row(i)[j]) <= bound) {
					t.Fatalf("%s: (%d, %d) is %v, want %v within %.3g", test.of.Name, i, j, v, want.Row(i)[j], bound)
				}
			}
		}
	}
}
