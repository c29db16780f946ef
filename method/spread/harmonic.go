package spread

import (
	"context"
	"errors"

	"gonum.org/v1/gonum/stat"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// Harmonic keeps the known values, and gives each other node the weighted mean of its neighbours. A node not connected with
// a known value gets the mean of the known values. Along an edge of negative weight the difference from this mean changes
// its sign.
var Harmonic = engine.Numeric(&param.Spec{
	Name: "harmonic", Title: "harmonic function: every other node has the mean value of its neighbours", Works: param.Undirected | param.Signed,
	Source: "Zhu, Ghahramani and Lafferty, Semi-supervised learning using Gaussian fields and harmonic functions, 2003, equation 5",
}, engine.OneByOne(predictHarmonic), harmonicWorkspace)

func harmonicWorkspace(p *engine.Problem) budget.Workspace {
	n, entries, cover := iterative.SolvedSize(p.Graph)
	return iterative.FactorWorkspace(n, entries, false).AndHeld(cover, 24*8*int64(n))
}

func predictHarmonic(ctx context.Context, p *engine.Problem, _ param.Values,
	s *engine.Settings) ([]float64, error) {
	h, err := iterative.Harmonic(ctx, p.Graph, p.Row)
	if err != nil {
		return nil, err
	}
	n, entries, _ := iterative.SolvedSize(p.Graph)
	h.Memory = budget.Subtract(s.Memory, harmonicWorkspace(p).Fixed-iterative.NeededBytes(n, entries))
	mean := stat.Mean(p.Value, nil)
	f := sparse.NewBlock[float64](len(p.Degrees), 1)
	for i, row := range p.Row {
		f.Row(row)[0] = p.Value[i] - mean
	}
	tolerance := 1e-11
	if s.Rough {
		tolerance = 1e-6
	}
	_, err = h.SolveTo(ctx, f, nil, &iterative.Settings{Tolerance: tolerance})
	switch {
	case errors.Is(err, iterative.ErrStagnation): // the tolerance is at the limit of float64
	case errors.Is(err, iterative.ErrIterationLimit),
		errors.Is(err, iterative.ErrIndefinite):
		return nil, &problem.Error{Method: "harmonic", Err: err}
	case err != nil:
		return nil, err
	}
	values := make([]float64, len(p.Degrees))
	for i := range values {
		values[i] = f.Row(i)[0] + mean
	}
	return values, nil
}
