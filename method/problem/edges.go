package problem

import (
	"context"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method/sides"
	"github.com/heatwalk/heatwalk/sparse"
)

// Copies of edges take at most 1/copyShare of the memory limit.
const copyShare = 8

func isCopied(e *sides.Edges, limit int64) bool {
	return !e.Streamed && (limit == 0 || copyBytes(e) <= limit/copyShare)
}

func copyBytes(e *sides.Edges) int64 {
	return sparse.LoadBytes(e.Store.Manifest.Rows, e.Store.NNZ(), true)
}

// WithFactors returns a graph of the nodes of g and the edges of e with the factors c. If its entries take at most an
// eighth of limit, they are in memory; otherwise sweeps read the store. The graph has A and the degrees, and Aᵀ if g has
// Aᵀ. If several processes share the rows, it has everything that [graph.Divide] computes. Cost: three sweeps for each
// direction.
func WithFactors(ctx context.Context, g *graph.Graph, e *sides.Edges,
	c *sides.Choice, limit int64, workers int) (*graph.Graph, error) {
	along, against, err := e.Matrices(ctx, c.Book, workers)
	if err != nil {
		return nil, err
	}
	out := &graph.Graph{A: along, Nodes: g.Nodes, Signed: g.Signed,
		Hyperedges: g.Hyperedges, Workers: workers, Memory: g.Memory,
		TempDir: g.TempDir}
	if g.In != nil {
		out.In = against
	}
	if e.Division != nil {
		return graph.Divide(ctx, out, e.Division, limit)
	}
	if isCopied(e, limit) {
		if out.A, err = sparse.Load(ctx, along, workers); err != nil {
			return nil, err
		}
	}
	out.Degrees, err = sparse.Degrees(ctx, out.A, workers)
	return out, err
}

// FactorBytes returns the bytes of the graph that [WithFactors] returns.
func FactorBytes(g *graph.Graph, e *sides.Edges, limit int64, workers int) int64 {
	if d, ok := g.A.(*sparse.Divided); ok {
		return 2 * d.Bytes()
	}
	bytes := 8*e.Store.Manifest.Rows +
		sparse.JoinedBytes(e.Store, sched.Workers(workers))
	if isCopied(e, limit) {
		bytes += copyBytes(e)
	}
	return bytes
}
