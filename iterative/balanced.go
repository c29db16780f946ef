package iterative

import (
	"context"
	"fmt"
	"slices"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// VonNeumannAdjacency is the system I − αA. v must be positive with α·Av < v in every row, like Perron's eigenvector. bound
// must be a lower bound of the eigenvalues of the system. With the Laplacian L' of the graph with weights v_i·a_ij·v_j
//
//	diag(v)·(I − αA)·diag(v) = αL' + diag(v∘(v − αAv))
//
// so that Jacobi's steps and the factor are the same as for a graph. The system keeps v. If several processes share the rows,
// it also stores the weights. Cost: [graph.Sweeps].
func VonNeumannAdjacency(ctx context.Context, g *graph.Graph, alpha float64,
	v []float64, bound float64) (*System, error) {
	team := sparse.TeamOf(g.A)
	factor := sparse.GhostValues(g.A, v)
	balanced, err := sparse.MapValues(ctx, g.A,
		func(i, j int, w float64) float64 { return float64(factor[i]*factor[j]) * w })
	if err != nil {
		return nil, err
	}
	scaled, err := graph.New(ctx, balanced, &graph.Settings{
		Components: g.Components, Workers: g.Workers,
		KeepLoops: true, // the ground is a difference of numbers as large as the loops
	})
	if err != nil {
		return nil, err
	}
	s := &System{Graph: scaled, Edge: alpha, Ground: make([]float64, len(v)),
		Scale: v, Least: bound}
	indefinite := 0.0
	for i, d := range scaled.Degrees {
		s.Ground[i] = float64(v[i]*v[i]) - float64(alpha*d)
		switch {
		case team.IsPadding(i):
			s.Ground[i] = 1
			v[i] = 1
		case !(s.Ground[i] > 0):
			indefinite = 1
		}
	}
	if blocks.MaxOver(team, indefinite) != 0 {
		return nil, fmt.Errorf("%w: α = %g; I − αA is not shown to be definite",
			ErrParameter, alpha)
	}
	s.startNear(slices.Clone(v))
	return s, nil
}

// startNear makes solves without Start begin at Galerkin's approximation by vectors that are v ≥ 0 in one component and 0
// elsewhere. This is most of the solution if a parameter is near the end of its range, or if few rows are clamped.
// startNear keeps and changes v.
func (s *System) startNear(v []float64) {
	if s.Graph.Signed { // v is far from an eigenvector
		return
	}
	component := s.Graph.Components.Of
	components := len(s.Graph.Components.Sizes)
	team := sparse.TeamOf(s.Graph.A)
	energy := make([]float64, components)
	square := make([]float64, components)
	for lo, hi := range team.CountingRows(0, len(component)) {
		for i := lo; i < hi; i++ {
			if v[i] > 0 {
				energy[component[i]] += s.Ground[i]
				square[component[i]] += float64(v[i] * v[i])
			}
		}
	}
	team.Sum(energy)
	team.Sum(square)
	s.quotients = make([]float64, len(v))
	for i, c := range component {
		if v[i] > 0 {
			s.quotients[i] = energy[c] / square[c] * float64(v[i]*v[i])
		}
	}
	s.easy = blocks.NewDisjointOf(team, component, components, v)
}
