package heatwalk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	gonum "gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// FromMat returns the graph of a square gonum matrix. Weights must be ≥ 0 unless o.Reading.Signed is set. A matrix with the
// methods of [mat.RowNonZeroDoer] or [mat.NonZeroDoer], for example of github.com/james-bowman/sparse, is not converted to
// dense form. The id of node i is i, from 0. If the matrix is not symmetric up to rounding, the graph is directed: m[i][j] is
// the weight of the edge from i to j.
func FromMat(ctx context.Context, m mat.Matrix, o *Options) (*Graph, error) {
	if m == nil {
		return nil, refuse("m", "it is nil; give a square matrix")
	}
	n, _ := m.Dims()
	return fromMatrix(ctx, m, shard.NewNumericNodes(n), false, o)
}

// FromGraph returns the graph of a gonum graph, whose adjacency matrix it treats as [FromMat] does. The ids of the nodes are
// their numbers, in increasing order. A [gonum.Directed] graph is directed, a [gonum.Undirected] graph is undirected. Any
// other graph is undirected if its matrix is symmetric, and otherwise directed.
//
// The weights of a [gonum.Weighted] graph are used; otherwise weights are 1. In a multigraph the weight of an edge is the sum
// of the weights of its lines; a line without weight counts 1. A function for the weights of edges, as in package multi, is
// not used. A self loop counts once.
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
			return nil, sched.Cause(ctx)
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

func fromMatrix(ctx context.Context, m mat.Matrix, nodes *shard.Nodes,
	directed bool, o *Options) (*Graph, error) {
	g := newGraph(o)
	if nodes.Len() == 0 {
		return nil, refuse("graph", "it has no nodes; give a graph with nodes")
	}
	if err := g.options.Edges.Check(new(shard.Manifest)); err != nil {
		return nil, err
	}
	set := &graph.Settings{Nodes: nodes, Workers: g.options.Workers, Signed: true}
	rows, cols := m.Dims()
	var err error
	if !directed {
		g.Graph, err = graph.FromMat(ctx, m, set)
	}
	if directed || errors.Is(err, sparse.ErrStructure) && rows == cols {
		err = g.fromDirected(ctx, m, set)
	}
	if err != nil {
		return nil, err
	}
	if r := g.options.Reading; g.Signed && (r == nil || !r.Signed) {
		return nil, fmt.Errorf("%w; Options.Reading = &ingest.Config{Signed: true} accepts negative weights", graph.ErrWeight)
	}
	if g.options.LargestComponent && len(g.Components.Sizes) > 1 {
		return g.fromComponent(ctx)
	}
	g.resources.structured = g.Graph
	g.Weighted = g.Signed || blocks.Total(nil, g.Degrees) != float64(g.A.NNZ())
	return g, nil
}

// fromComponent returns the graph of the largest component of g, whose matrix must be in memory.
func (g *Graph) fromComponent(ctx context.Context) (*Graph, error) {
	place, count := placeLargest(g.Components, g.Nodes)
	var entries []sparse.Triplet
	err := shard.EachCodedRow(ctx, g.A, func(row int, col []uint32, val []float64, _ []uint32) error {
		for k, c := range col {
			if place[row] != shard.Outside {
				entries = append(entries, sparse.Triplet{Row: place[row], Col: place[c], Val: val[k]})
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	a, err := sparse.FromTriplets(count, count, entries)
	if err != nil {
		return nil, err
	}
	nodes, err := g.Nodes.Select(place, count)
	if err != nil {
		return nil, err
	}
	out, err := fromMatrix(ctx, a, nodes, g.Directed, &g.options)
	if err == nil {
		out.OmittedNodes = g.Nodes.Len() - count
		out.OmittedComponents = len(g.Components.Sizes) - 1
	}
	return out, err
}

func (g *Graph) fromDirected(ctx context.Context, m mat.Matrix,
	set *graph.Settings) error {
	a, err := sparse.FromMat(m)
	if err != nil {
		return err
	}
	in, err := sparse.FromMat(a.T())
	if err != nil {
		return err
	}
	if g.Graph, err = graph.New(ctx, a, set); err == nil {
		g.Directed = true
		g.In = in
	}
	return err
}

func weightBetween(g gonum.Graph, source, target int64) (weight float64) {
	switch g := g.(type) {
	case gonum.WeightedMultigraph:
		var weights []float64
		for lines := g.WeightedLines(source, target); lines.Next(); {
			weights = append(weights, lines.WeightedLine().Weight())
		}
		slices.Sort(weights) // gonum keeps lines in no order, and sums are rounded
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
