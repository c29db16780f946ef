package heatwalk

import (
	"context"

	"github.com/heatwalk/heatwalk/method/sides"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// weighEdges multiplies the weights of edges by the given weights of their kinds and times, and joins the edges of each
// pair of nodes.
func weighEdges(ctx context.Context, g *Graph) error {
	m := g.Store.Manifest
	if err := g.options.Edges.Check(m); err != nil || !m.HasCodes() {
		return err
	}
	g.edges = &sides.Edges{Store: g.Store.Store, Options: &g.options.Edges,
		Weighted: m.Weighted, Streamed: g.options.Stream}
	return shard.Weigh(ctx, g.Store, g.options.Edges.Book(m))
}
