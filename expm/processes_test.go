package expm

import (
	"math"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestFunctionsOnSeveralProcesses(t *testing.T) {
	tests := []struct {
		name   string
		a      *sparse.CSR
		method Method
		made   func(g *graph.Graph) (*Map, error)
		fs     []Function
	}{
		{"L", testgraph.Random(11, 90, 70, true), Chebyshev, mapBy(sparse.Laplacian), []Function{Exp(-2), Exp(-0.25), Inverse(1, 2), Power(30, 5)}},
		{"L̃", testgraph.Random(3, 120, 100, false), Chebyshev, mapBy(sparse.NormalizedLaplacian), []Function{Exp(-1), Matern(0.5, 1.5), Power(2, 8)}},
		{"A", testgraph.Random(11, 90, 70, true), "", mapBy(sparse.Adjacency), []Function{Exp(0.2), Smooth(math.Cos)}},
		{"S", testgraph.Random(11, 90, 70, true), "", mapBy(sparse.NormalizedAdjacency), []Function{Exp(2), Inverse(1, -0.9)}},
		{"L by solves", hubs(300), Resolvent, mapBy(sparse.Laplacian), []Function{Exp(-40), Exp(-3), Matern(0.5, 1.5)}},
		{"L̃ by solves", testgraph.Random(3, 120, 100, false), Resolvent, mapBy(sparse.NormalizedLaplacian), []Function{Exp(-50), Matern(1e-3, 2)}},
		{"bounded", testgraph.Random(11, 90, 70, true), "", func(g *graph.Graph) (*Map, error) {
			return NewBounded(&sparse.Operator[float64]{A: g.A}, -40, 40, 2)
		}, []Function{Exp(0.1)}},
	}
	const cols = 3
	for at, test := range tests {
		results := func(g *graph.Graph, b *sparse.Block[float64]) (*sparse.Block[float64], *Result, error) {
			m, err := test.made(g)
			if err != nil {
				return nil, nil, err
			}
			all, y := sparse.NewBlock[float64](b.Rows, cols*len(test.fs)), newBlocks(b.Rows, cols, len(test.fs))
			r, err := m.ApplyTo(t.Context(), y, b, test.fs, &Settings{method: test.method})
			for i := range all.Rows {
				for q := range y {
					copy(all.Row(i)[q*cols:], y[q].Row(i))
				}
			}
			return all, r, err
		}
		g := graphOf(t, test.a, 2)
		b := randomBlock(5, len(g.Degrees), cols)
		want, whole, err := results(g, b)
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		var report *Result // report of process 0
		got := contract.OnProcesses(t, 2+at%2, g, []int{2, 19, 20, 77}, func(part *graph.Graph, _ func(row int) int) (*sparse.Block[float64], error) {
			team, own := sparse.TeamOf(part.A), sparse.NewBlock[float64](len(part.Degrees), cols)
			for i := range own.Rows {
				if !team.IsPadding(i) {
					copy(own.Row(i), b.Row(team.Row(i)))
				}
			}
			all, r, err := results(part, own)
			if team.Rank() == 0 {
				report = r
			}
			return all, err
		})
		for q, of := range report.Functions {
			if one := whole.Functions[q]; !(of.Relative <= defaultTolerance) || of.Method != one.Method {
				t.Errorf("%s, function %d: relative bound %.3g by %s, of one process by %s", test.name, q, of.Relative, of.Method, one.Method)
			}
		}
		for i := range want.Rows {
			for j, v := range got.Row(i) {
				bound := report.Functions[j/cols].ErrorBound + whole.Functions[j/cols].ErrorBound
				if !(math.Abs(v-want.Row(i)[j]) <= bound) {
					t.Fatalf("%s: (%d, %d) is %v, want %v within %.3g", test.name, i, j, v, want.Row(i)[j], bound)
				}
			}
		}
	}
}

func mapBy(kind sparse.Kind) func(g *graph.Graph) (*Map, error) {
	return func(g *graph.Graph) (*Map, error) { return New(ctx, g, kind) }
}
