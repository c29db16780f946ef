package expm

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/sparsetest"
)

// TestFunctionsOnSeveralProcesses compares functions on rows that processes share with those of one process,
// within the bounds of both, and the bits of two runs.
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
		{"A", testgraph.Random(11, 90, 70, true), Automatic, mapBy(sparse.Adjacency), []Function{Exp(0.2), Smooth(math.Cos)}},
		{"S", testgraph.Random(11, 90, 70, true), Automatic, mapBy(sparse.NormalizedAdjacency), []Function{Exp(2), Inverse(1, -0.9)}},
		{"bounded", testgraph.Random(11, 90, 70, true), Automatic, func(g *graph.Graph) (*Map, error) {
			return NewBounded(&sparse.Operator[float64]{A: g.A}, -40, 40, 2)
		}, []Function{Exp(0.1)}},
	}
	for _, test := range tests {
		g := graphOf(t, test.a, 2)
		n := len(g.Degrees)
		b := randomBlock(5, n, 3)
		set := &Settings{Method: test.method}
		want := blocks(n, 3, len(test.fs))
		whole, err := must[*Map](t)(test.made(g)).ApplyTo(ctx, want, b, test.fs, set)
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		for _, size := range []int{2, 3} {
			last := make([][]*sparse.Block[float64], size) // results of the last run
			for run := range 2 {
				err := sparsetest.Processes(size, func(network sparse.Network) error {
					d := sparse.NewDivision(n, network, append([]int{0, 20, 50}[:size:size], n), []int{2, 19, 20, 77})
					part, err := graph.Divide(ctx, g, d)
					if err != nil {
						return err
					}
					m, err := test.made(part)
					if err != nil {
						return err
					}
					rows := len(d.Rows)
					x, y := sparse.NewBlock[float64](rows, 3), blocks(rows, 3, len(test.fs))
					for i, row := range d.Rows {
						if !d.IsPadding(i) {
							copy(x.Row(i), b.Row(int(row)))
						}
					}
					r, err := m.ApplyTo(ctx, y, x, test.fs, set)
					if err != nil {
						return err
					}
					for q := range test.fs {
						bound := r.Functions[q].ErrorBound + whole.Functions[q].ErrorBound
						if !(r.Functions[q].Relative <= defaultTolerance) || r.Functions[q].Method != whole.Functions[q].Method {
							return fmt.Errorf("function %d: relative bound %.3g by %s, of one process by %s", q, r.Functions[q].Relative, r.Functions[q].Method, whole.Functions[q].Method)
						}
						for i, row := range d.Rows {
							for j, v := range y[q].Row(i) {
								if d.IsPadding(i) && v != 0 || !d.IsPadding(i) && math.Abs(v-want[q].Row(int(row))[j]) > bound {
									return fmt.Errorf("process %d, function %d: (%d, %d) is %v, want %v within %.3g", network.Rank(), q, row, j, v, want[q].Row(int(row))[j], bound)
								}
							}
						}
						if before := last[network.Rank()]; run > 0 && !slices.Equal(before[q].Data, y[q].Data) {
							return fmt.Errorf("process %d, function %d: another run has other bits", network.Rank(), q)
						}
					}
					last[network.Rank()] = y
					return nil
				})
				if err != nil {
					t.Fatalf("%s, %d processes: %v", test.name, size, err)
				}
			}
		}
	}
}

// mapBy returns a constructor of the map of a matrix.
func mapBy(kind sparse.Kind) func(g *graph.Graph) (*Map, error) {
	return func(g *graph.Graph) (*Map, error) { return New(ctx, g, kind) }
}
