package graph

import (
	"context"

	"github.com/heatwalk/heatwalk/sparse"
)

// Divide returns the part of a graph that this process has in a division. Every process must call it. Blocks and vectors
// have the rows of the process, see [sparse.Team]; sizes of components are for the whole graph. The entries may take the
// given bytes of memory, see [sparse.Divide]. Cost: [sparse.Divide] for each direction, and one sweep. It returns the errors
// of [New].
func Divide(ctx context.Context, g *Graph, d *sparse.Division,
	memory int64) (*Graph, error) {
	a, err := sparse.Divide(ctx, g.A, d, memory, g.Workers)
	if err != nil {
		return nil, err
	}
	components, err := (&Graph{A: a, Nodes: g.Nodes, Workers: g.Workers}).FindComponents(ctx)
	if err != nil {
		return nil, err
	}
	local, err := New(ctx, a, &Settings{Components: components, Symmetric: g.Symmetric, Workers: g.Workers})
	if err != nil {
		return nil, err
	}
	local.Hyperedges = g.Hyperedges
	local.Memory = g.Memory
	if g.In != nil {
		local.In, err = sparse.Divide(ctx, g.In, d, memory, g.Workers)
	}
	return local, err
}
