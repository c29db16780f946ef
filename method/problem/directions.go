package problem

import (
	"context"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/sparse"
)

// WithoutDirections returns the problem on A + Aᵀ, the graph without directions, and Aᵀ. The weight of an edge is the sum of
// the weights of its two arcs, or 1 if the graph has no weights. Aᵀ is the field In of the graph; if In is nil, it is
// computed from A. If several processes share the rows, In must not be nil, and A + Aᵀ is a [sparse.Divided] matrix, which
// the caller must close. Cost: a sweep, counted in work.
func (p *Problem) WithoutDirections(ctx context.Context, workers int,
	work *graph.Work) (q *Problem, against sparse.Matrix, err error) {
	along := p.A
	against = p.In
	if against == nil {
		loaded, err := sparse.Load(ctx, p.A, workers)
		if err != nil {
			return nil, nil, err
		}
		along = loaded
		against = loaded.Transpose()
	}
	work.Sweeps++
	both, err := sparse.Sum(ctx, along, against, workers)
	if err != nil {
		return nil, nil, err
	}
	degrees, err := sparse.Degrees(ctx, both, workers)
	undirected := *p
	undirected.Graph = &graph.Graph{A: both, Signed: p.Signed, Degrees: degrees,
		Components: p.Components}
	undirected.Directed = false
	return &undirected, against, err
}

// ArcsBytes returns the memory of the matrices of [Problem.WithoutDirections], 0 for a problem without directions.
func (p *Problem) ArcsBytes() int64 {
	if !p.Directed {
		return 0
	}
	against := p.In
	if against == nil {
		against = p.A // Aᵀ has as many entries
	}
	return sparse.SumBytes(p.A, against, p.Weighted) + (8+3*16)*int64(len(p.Degrees))
}
