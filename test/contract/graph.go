package contract

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// GraphOf returns the graph of a matrix.
func GraphOf(t testing.TB, a sparse.Matrix, workers int) *graph.Graph {
	t.Helper()
	g, err := graph.New(context.Background(), a, &graph.Settings{Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// OnProcesses runs compute in size processes that share the rows of g, and returns the rows of the results in the order
// of the rows of g. Each process gets its part of g. local returns the row of blocks for a row of g that this process
// has; all processes have the named rows. The test fails if named rows differ among processes, or if a second run has
// other bits.
func OnProcesses(t testing.TB, size int, g *graph.Graph, named []int, compute func(share *graph.Graph, local func(row int) int) (*sparse.Block[float64], error)) *sparse.Block[float64] {
	t.Helper()
	n := len(g.Degrees)
	ranges := 2 * size // two for each process
	bounds := make([]int, ranges+1)
	for k := range bounds {
		bounds[k] = n * k * (k + 1) / (ranges * (ranges + 1)) // ranges of different sizes
	}
	sorted := slices.Compact(slices.Sorted(slices.Values(named)))
	run := func() *sparse.Block[float64] {
		results, divisions := make([]*sparse.Block[float64], size), make([]*sparse.Division, size)
		err := testgraph.Processes(size, func(network sparse.Network) error {
			d := sparse.NewDivision(n, network, bounds, sorted)
			share, err := graph.Divide(t.Context(), g, d, 0)
			if err != nil {
				return err
			}
			defer share.A.(*sparse.Divided).Close()
			share.Workers = 1 + network.Rank()%2
			result, err := compute(share, func(row int) int {
				i, has := d.Local(row)
				if !has {
					panic(fmt.Sprintf("contract: only another process has row %d", row))
				}
				return i
			})
			results[network.Rank()], divisions[network.Rank()] = result, d
			return err
		})
		if err != nil {
			t.Fatalf("%d processes: %v", size, err)
		}
		joined := sparse.NewBlock[float64](n, results[0].Cols)
		for rank, d := range divisions {
			for i, row := range d.Team.Rows {
				if d.Team.IsPadding(i) {
					continue
				}
				if i >= d.Team.First && rank > 0 && !slices.Equal(joined.Row(int(row)), results[rank].Row(i)) {
					t.Errorf("%d processes: row %d is %v in process 0 and %v in process %d", size, row, joined.Row(int(row)), results[rank].Row(i), rank)
				}
				copy(joined.Row(int(row)), results[rank].Row(i))
			}
		}
		return joined
	}
	first := run()
	if second := run(); !slices.Equal(first.Data, second.Data) {
		t.Errorf("%d processes: a second run has other bits", size)
	}
	return first
}
