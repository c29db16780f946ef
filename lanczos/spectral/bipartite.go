package spectral

import (
	"context"
	"math"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// bipartite returns ±d^½ on the components whose nodes have two colours, neighbours never
// the same, and 0 on the others: S·w = −w. It returns nil if there are none.
// Cost: one sweep.
func bipartite(ctx context.Context, g *graph.Graph) ([]float64, error) {
	colours, err := sparse.FindSides(ctx, g.A, -1, g.Workers)
	if err != nil {
		return nil, err
	}
	nonzero := 0.0
	for i, d := range g.Degrees {
		colours[i] *= math.Sqrt(d)
		if colours[i] != 0 {
			nonzero = 1
		}
	}
	if blocks.MaxOver(sparse.TeamOf(g.A), nonzero) == 0 {
		return nil, nil
	}
	return colours, nil
}
