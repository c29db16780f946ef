package method

import (
	"context"
	"errors"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/propagate"
)

// averages returns the engine of numbers of a learner that spreads labels: means of the known values, see
// [propagate.Learner.MeansTo].
func averages(l *propagate.Learner) *Regression {
	r := &Regression{Spec: l.Spec}
	r.Works &^= param.Signed
	r.Predict = func(ctx context.Context, p *Problem, settings []param.Values, s *Settings) (list [][]float64, err error) {
		set := propagate.Settings{Memory: budget.Subtract(s.Memory, vectorBytes(p))}
		if s.Rough {
			set.Tolerance = 1e-10
		}
		for _, v := range settings {
			values := make([]float64, len(p.Degrees))
			err := l.MeansTo(ctx, values, p.Graph, p.Row, p.Value, v, &set)
			if errors.Is(err, iterative.ErrIterationLimit) {
				err = &problem.Error{Method: l.Name, Err: err}
			}
			if err != nil {
				return nil, err
			}
			list = append(list, values)
		}
		return list, nil
	}
	r.Bytes = func(p *Problem, settings []param.Values, s *Settings) (int64, error) {
		n := len(p.Degrees)
		return vectorBytes(p) + budget.Block[float64](n, 2) +
			l.ScoresBytes(n, p.A.NNZ(), 2, 2, settings[0], budget.Subtract(s.Memory, vectorBytes(p))), nil
	}
	return r
}
