package kernel

import (
	"context"
	"errors"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/expm"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/sparse"
)

// radius returns the largest eigenvalue of A ≥ 0, rounded up, or of |a_ij| for a signed graph. Cost, once for a
// graph: some tens of sweeps of one column, or hundreds and one or two sampled factors if many eigenvalues are near
// the largest. If [graph.Graph].Memory is too small for a factor, the error is a [*budget.Error].
func radius(ctx context.Context, g *graph.Graph) (float64, error) {
	return g.Radius.Get(func() (float64, error) {
		g, err := graph.AbsoluteWeights(ctx, g)
		if err != nil {
			return 0, err
		}
		m, err := expm.New(ctx, g, sparse.Adjacency)
		if err != nil {
			return 0, err
		}
		w := newPerron(g, m.Hi)
		err = w.search(ctx, func() bool { return false })
		if !errors.Is(err, errPerron) {
			return w.upper, err
		}
		return radiusByLanczos(ctx, g)
	})
}

// radiusByLanczos computes the radius if rounding stops perron.
func radiusByLanczos(ctx context.Context, g *graph.Graph) (float64, error) {
	pairs, err := largest(ctx, g, 1e-10)
	if err != nil {
		return 0, err
	}
	return pairs.Values[0] + pairs.Residuals[0] + 1e-14*pairs.Values[0], nil
}

// roughRadius returns a lower bound of the largest eigenvalue of A ≥ 0 within about 1 %, which is enough to choose α
// and β. Cost: some tens of sweeps, once for a graph.
func roughRadius(ctx context.Context, g *graph.Graph) (float64, error) {
	return g.RoughRadius.Get(func() (float64, error) {
		g, err := graph.AbsoluteWeights(ctx, g)
		if err != nil {
			return 0, err
		}
		pairs, err := largest(ctx, g, 1e-2)
		if err != nil {
			return 0, err
		}
		return pairs.Values[0], nil
	})
}

func largest(ctx context.Context, g *graph.Graph,
	tolerance float64) (*lanczos.Pairs, error) {
	problem := lanczos.Problem{A: &sparse.Operator[float64]{A: g.A,
		Workers: g.Workers}}
	settings := &lanczos.Settings{Tolerance: tolerance, Basis: radiusBasis,
		Workers: g.Workers}
	settings.Memory = sparse.TeamOf(g.A).LeastLimit(budget.Subtract(g.Memory,
		budget.Times(graphVectors, budget.Vector[float64](len(g.Degrees)))))
	return problem.Solve(ctx, 1, settings)
}

// radiusBasis is half the default basis, so that the search needs little more memory than the series that follows.
const radiusBasis = 32
