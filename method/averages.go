package method

import (
	"context"
	"errors"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/propagate"
	"github.com/heatwalk/heatwalk/sparse"
)

// averages returns the engine of numbers of a learner that spreads labels: means of the known values, see
// [propagate.Learner.MeansTo].
func averages(l *propagate.Learner) *Regression {
	r := &Regression{Spec: l.Spec, Widens: true}
	r.Works &^= param.Signed
	r.Predict = func(ctx context.Context, samples []*Problem, v param.Values, s *Settings) ([][]float64, error) {
		p := samples[0]
		var known []propagate.Sample
		for _, q := range samples {
			known = append(known, propagate.Sample{Row: q.Row, Value: q.Value})
		}
		set := propagate.Settings{Memory: budget.Subtract(s.Memory, 8*int64((8+5*len(samples))*len(p.Degrees)))}
		if s.Rough {
			set.Tolerance = 1e-7
		}
		dst := sparse.NewBlock[float64](len(p.Degrees), len(samples))
		err := l.MeansTo(ctx, dst, p.Graph, known, v, &set)
		if errors.Is(err, iterative.ErrIterationLimit) {
			err = &problem.Error{Method: l.Name, Err: err}
		}
		if err != nil {
			return nil, err
		}
		list := make([][]float64, len(samples))
		for i := range list {
			list[i] = mat.Col(nil, i, sparse.DenseOf(dst))
		}
		return list, nil
	}
	r.Workspace = func(p *Problem, _ *Settings) budget.Workspace {
		n := len(p.Degrees)
		return budget.Slabs[float64](5, n, 2*samplesAtOnce).And(budget.Held((20 + 5*samplesAtOnce) * 8 * int64(n)))
	}
	return r
}
