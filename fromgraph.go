package heatwalk

import (
	"context"
	"slices"
	"strconv"

	gonum "gonum.org/v1/gonum/graph"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// FromGraph returns the graph of a gonum graph, as [FromMat] does of its adjacency matrix. The ids of the nodes are
// their numbers, in increasing order. A [gonum.Directed] graph is directed, a [gonum.Undirected] one is not; any other
// is directed unless its matrix is symmetric.
//
// The weight of an edge is that of a [gonum.Weighted] graph, else 1. In a multigraph the weights of the lines between two
// nodes add, and a line without weight counts 1; a function for the weights of edges, as in package multi, is not used.
// A self loop counts once.
func FromGraph(ctx context.Context, g gonum.Graph, o *Options) (*Graph, error) {
	if g == nil {
		return nil, refuse("g", "it is nil; give a graph")
	}
	var ids []int64
	for nodes := g.Nodes(); nodes.Next(); {
		ids = append(ids, nodes.Node().ID())
	}
	slices.Sort(ids)
	var entries []sparse.Triplet
	for row, id := range ids {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		for nodes := g.From(id); nodes.Next(); {
			neighbour := nodes.Node().ID()
			column, isNode := slices.BinarySearch(ids, neighbour)
			if !isNode {
				return nil, &IDError{strconv.FormatInt(neighbour, 10)}
			}
			if w := weightBetween(g, id, neighbour); w != 0 {
				entries = append(entries,
					sparse.Triplet{Row: uint32(row), Col: uint32(column), Val: w})
			}
		}
	}
	a, err := sparse.FromTriplets(len(ids), len(ids), entries)
	if err != nil {
		return nil, err
	}
	nodes, err := numberedNodes(ids)
	if err != nil {
		return nil, err
	}
	_, isDirected := g.(gonum.Directed)
	return fromMatrix(ctx, a, nodes, isDirected, o)
}

// weightBetween returns the weight of the edge from one node to another.
func weightBetween(g gonum.Graph, source, target int64) (weight float64) {
	switch g := g.(type) {
	case gonum.WeightedMultigraph:
		var weights []float64
		for lines := g.WeightedLines(source, target); lines.Next(); {
			weights = append(weights, lines.WeightedLine().Weight())
		}
		slices.Sort(weights) // because gonum keeps lines in no order, and sums are rounded
		for _, w := range weights {
			weight += w
		}
		return weight
	case gonum.Multigraph:
		for lines := g.Lines(source, target); lines.Next(); {
			weight++
		}
		return weight
	case gonum.Weighted:
		return g.WeightedEdge(source, target).Weight()
	}
	return 1
}

// numberedNodes returns the nodes with the given numbers in increasing order.
func numberedNodes(ids []int64) (*shard.Nodes, error) {
	if len(ids) > 0 && ids[0] < 0 {
		return shard.StringNodes(func(yield func(id string) bool) {
			for _, id := range ids {
				if !yield(strconv.FormatInt(id, 10)) {
					return
				}
			}
		})
	}
	numbers := make([]uint64, len(ids))
	for i, id := range ids {
		numbers[i] = uint64(id)
	}
	return shard.NumericNodes(numbers), nil
}
