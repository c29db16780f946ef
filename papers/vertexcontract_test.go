package papers

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestVertexContract(t *testing.T) {
	g, err := graph.New(t.Context(), testgraph.Random(5, 90, 80, true), &graph.Settings{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	k, err := kernel.New(t.Context(), g, "vertex", param.Values{"beta": param.Of(0.05)})
	if err != nil {
		t.Fatal(err)
	}
	few := []int{7, 3, 80, 3, 0}
	for _, nodes := range [][]int{sched.UpTo(90), few} {
		b, r, err := kernel.Matrix(t.Context(), k, nodes, nodes, nil)
		if err != nil {
			t.Fatal(err)
		}
		testgraph.Semidefinite(t, b, float64(len(nodes))*(r.ErrorBound+0x1p-50*r.Largest))
	}
	whole, _, err := kernel.Matrix(t.Context(), k, sched.UpTo(90), few, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := kernel.Families().Named("vertex")
	v, err := f.Resolve(param.Values{"beta": param.Of(0.05)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	least := f.BlockWorkspace(v, g.Degrees, g.A.NNZ(), false, sched.UpTo(90), few, nil).Required(1)
	_, err = kernel.Block(t.Context(), k, sched.UpTo(90), few, func(lo, left int, piece *sparse.Block[float64]) error {
		for i := range piece.Rows {
			if !slices.Equal(piece.Row(i), whole.Row(lo + i)[left:left+piece.Cols]) {
				t.Errorf("another value in row %d", lo+i)
			}
		}
		return nil
	}, &kernel.Settings{Memory: least})
	if err != nil {
		t.Error(err)
	}
	if _, _, err := kernel.Matrix(t.Context(), k, few, few, &kernel.Settings{Memory: 100}); !errors.Is(err, sparse.ErrMemory) {
		t.Errorf("%v within 100 bytes", err)
	}
	if _, _, err := kernel.Matrix(t.Context(), k, few, few, &kernel.Settings{Tolerance: 1e-17}); !errors.Is(err, kernel.ErrTolerance) {
		t.Errorf("%v with a tolerance beyond float64", err)
	}
}

func TestVertexOnSeveralProcesses(t *testing.T) {
	g, err := graph.New(t.Context(), testgraph.Random(11, 90, 70, true), nil)
	if err != nil {
		t.Fatal(err)
	}
	named := []int{2, 19, 20, 41, 77}
	for i, weights := range []string{exponentialWeights, geometricWeights} {
		compute := func(g *graph.Graph, local func(row int) int) (*sparse.Block[float64], error) {
			k, err := kernel.New(t.Context(), g, "vertex", param.Values{"weights": param.Of(weights)})
			if err != nil {
				return nil, err
			}
			team := sparse.TeamOf(g.A)
			nodes := make([]int, len(named))
			for i, row := range named {
				nodes[i] = local(row)
			}
			b, _, err := kernel.Matrix(t.Context(), k, nodes, nodes, nil)
			if err != nil {
				return nil, err
			}
			out := sparse.NewBlock[float64](k.Len(), len(named)+1)
			ones := sparse.NewBlock[float64](k.Len(), 1)
			sums := sparse.NewBlock[float64](k.Len(), 1)
			for i := range k.Len() {
				if !team.IsPadding(i) {
					ones.Row(i)[0] = 1
				}
			}
			if _, err := k.ApplyTo(context.Background(), sums, ones, nil); err != nil {
				return nil, err
			}
			for i := range k.Len() {
				out.Row(i)[len(named)] = sums.Row(i)[0]
			}
			for i, row := range nodes {
				copy(out.Row(row), b.Row(i))
			}
			return out, nil
		}
		want, err := compute(g, func(row int) int { return row })
		if err != nil {
			t.Fatal(err)
		}
		got := contract.OnProcesses(t, 2+i, g, named, compute)
		for i := range want.Rows {
			for j, w := range want.Row(i) {
				if v := got.Row(i)[j]; !(math.Abs(v-w) <= 1e-12*(1+math.Abs(w))) {
					t.Fatalf("%s: (%d, %d) is %v, want %v", weights, i, j, v, w)
				}
			}
		}
	}
}
