package lanczos

import (
	"context"
	"math"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// eigenproblem is the symmetric problem on the rows with edges.
type eigenproblem struct {
	Problem
	which    Which                   // part of the spectrum of the matrix
	rounding float64                 // bound on the error of computing a residual
	value    func(λ float64) float64 // eigenvalue of the matrix for an eigenvalue of A; nil: the same
	team     *sparse.Team
	edged    int     // rows with edges; the others are excluded
	isolated int     // rows without edges
	zero     float64 // eigenvalue of rows without edges
}

// of returns the eigenproblem of p on g. It solves S, T and L̃ = I − S as problems of S, so that equal parts of their
// spectra take equal work.
func (p *GraphProblem) of(ctx context.Context, g *graph.Graph) (*eigenproblem, error) {
	e := &eigenproblem{which: p.Which, team: sparse.TeamOf(g.A)}
	e.Problem = Problem{Which: p.Which, Beyond: p.Beyond, Positive: p.Positive}
	count := 0.0
	for i, d := range g.Degrees {
		if d == 0 && !e.team.IsPadding(i) {
			e.Excluded = append(e.Excluded, uint32(i))
			if e.team.Counts(i) {
				count++
			}
		}
	}
	e.isolated = int(blocks.SumOver(e.team, count))
	e.edged = e.team.TotalOf(len(g.Degrees)) - e.isolated
	largest := blocks.Largest(e.team, sparse.BlockOf(len(g.Degrees), 1, g.Degrees))
	norm := 1.0 // largest row sum of |A|, or of a similar matrix
	op := &sparse.Operator[float64]{A: g.A}
	switch p.Matrix {
	case sparse.Adjacency:
		norm = largest
	case sparse.NormalizedAdjacency, sparse.Transition, sparse.NormalizedLaplacian:
		op = sparse.NewOperator[float64](sparse.NormalizedAdjacency, g.A, g.Degrees)
		if err := e.stateNormalized(ctx, p, g); err != nil {
			return nil, err
		}
	case sparse.Laplacian:
		op = g.Laplacian()
		norm = 2 * blocks.Largest(e.team, sparse.BlockOf(len(op.Diag), 1, op.Diag))
		if p.Which == Smallest && !(p.Beyond && g.Signed) {
			e.deflateNullSpace(g, false, 0)
		}
	case sparse.Modularity:
		gamma := p.Resolution
		if gamma == 0 {
			gamma = 1
		}
		norm = largest
		if vol := blocks.Total(e.team, g.Degrees); vol > 0 {
			op.Gamma = -gamma / vol
			op.U = g.Degrees
			op.V = g.Degrees
			norm += gamma * blocks.Dot(e.team, g.Degrees, g.Degrees) / vol
		}
	default:
		panic(badMatrix)
	}
	op.Workers = g.Workers
	e.A, e.Entries = op, sparse.EntriesOf(g.A)
	const allowance = 10 * 0x1p-52
	e.rounding = allowance * norm
	return e, nil
}

func (e *eigenproblem) stateNormalized(ctx context.Context, p *GraphProblem,
	g *graph.Graph) error {
	switch p.Matrix {
	case sparse.NormalizedLaplacian:
		e.value = func(λ float64) float64 { return 1 - λ }
		e.Positive = false
		switch p.Which {
		case Largest:
			e.Which = Smallest
		case Smallest:
			e.Which = Largest
		}
	case sparse.Transition:
		e.zero = 1
		e.Scale = blocks.Roots(g.Degrees)
	}
	switch {
	case e.Which == Largest && !(p.Beyond && g.Signed):
		e.deflateNullSpace(g, true, 1)
	case e.Which == Smallest:
		weights, err := bipartite(ctx, g)
		if weights != nil {
			e.Known = &Known{Components: g.Components,
				Weights: weights, Value: -1}
		}
		return err
	}
	return nil
}

// bipartite returns a vector w with S·w = −w, or nil if no component is bipartite. w is d^½ on one side of each bipartite
// component, −d^½ on the other side, and 0 elsewhere. Cost: one sweep.
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
