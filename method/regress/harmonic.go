package regress

import (
	"context"
	"errors"

	"github.com/heatwalk/heatwalk/internal/blocks"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// harmonic keeps the known values, and gives each other node the weighted mean of its neighbours.
// Nodes that are not connected with a known value have the mean of the known values.
var harmonic = Model{
	Spec: param.Spec{
		Name: harmonicName, Title: "harmonic function: every other node has the mean value of its neighbours", Works: param.Undirected,
		Source: "Zhu, Ghahramani and Lafferty, Semi-supervised learning using Gaussian fields and harmonic functions, 2003, equation 5",
	},
	compare: func(ctx context.Context, c *comparison, m *Method) (*evidence, error) {
		e := newEvidence([]Parameters{{}}, c.folds)
		for f := range c.folds {
			train, test := c.outside(f)
			training := c.Problem.At(train)
			values, err := c.harmonic(ctx, training, comparedTolerance)
			if err != nil {
				return nil, err
			}
			for _, i := range test {
				e.note(0, f, c.Value[i], values[c.Row[i]])
			}
			c.progress(m, f+1, c.folds)
		}
		return e, nil
	},
	predict: func(ctx context.Context, r *run, m *Method, _ Parameters) ([]float64, []float64, error) {
		values, err := r.harmonic(ctx, r.Problem, harmonicTolerance)
		return values, nil, err
	},
	bytes: func(p *Problem, _ []int, _ *Method, s *Settings) (int64, error) {
		n, entries := len(p.Degrees), p.A.NNZ()
		bytes := harmonicBytes(n)
		return bytes + iterative.FactorBytes(n, entries, 1, budget.Remaining(s.Memory, bytes)), nil
	},
}

// harmonicBytes returns the memory of a harmonic function of n nodes without a factor.
func harmonicBytes(n int) int64 {
	const graphVectors = 5 // degrees, loops, sums without them, centred values and the result
	return graphVectors*8*int64(n) + blocks.BlockBytes[float64](n, 1) + iterative.HarmonicBytes(n, 1)
}

const harmonicName = "harmonic"

// Residuals of the harmonic function, for predictions and for comparisons.
const (
	harmonicTolerance = 1e-11
	comparedTolerance = 1e-6
)

// harmonic returns the harmonic function with the values of p.
func (r *run) harmonic(ctx context.Context, p *Problem, tolerance float64) ([]float64, error) {
	h, err := iterative.Harmonic(ctx, p.Graph, p.Row)
	if err != nil {
		return nil, err
	}
	h.Memory = budget.Remaining(r.set.Memory, harmonicBytes(len(p.Degrees)))
	centered, mean := centered(p.Value)
	f := sparse.NewBlock[float64](len(p.Degrees), 1)
	for i, row := range p.Row {
		f.Row(row)[0] = centered[i]
	}
	_, err = h.SolveTo(ctx, f, nil, &iterative.Settings{Tolerance: tolerance})
	switch {
	case errors.Is(err, iterative.ErrStagnation): // the tolerance is at the limit of float64
	case errors.Is(err, iterative.ErrIterationLimit), errors.Is(err, iterative.ErrIndefinite):
		return nil, &problem.Error{Method: harmonicName, Err: err}
	case err != nil:
		return nil, err
	}
	values := make([]float64, len(p.Degrees))
	for i := range values {
		values[i] = f.Row(i)[0] + mean
	}
	return values, nil
}
