package method

import (
	"context"
	"errors"
	"slices"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/propagate"
	"github.com/heatwalk/heatwalk/sparse"
)

// meansAtOnce is the number of folds whose models are fitted in one solve: their columns, two for each, fill a line of the cache.
const meansAtOnce = 4

// averages returns the engine of numbers of a learner that spreads labels: means of the known values, see
// [propagate.Learner.MeansTo].
func averages(l *propagate.Learner) *Regression {
	r := &Regression{Spec: l.Spec, Widens: true}
	r.Works &^= param.Signed
	meansTo := func(ctx context.Context, dst *sparse.Block[float64], p *Problem, samples []propagate.Sample, v param.Values, s *Settings) error {
		set := propagate.Settings{Memory: budget.Subtract(s.Memory, meansBytes(p, len(samples)))}
		if s.Rough {
			set.Tolerance = 1e-10
		}
		err := l.MeansTo(ctx, dst, p.Graph, samples, v, &set)
		if errors.Is(err, iterative.ErrIterationLimit) {
			err = &problem.Error{Method: l.Name, Err: err}
		}
		return err
	}
	r.Predict = func(ctx context.Context, p *Problem, settings []param.Values, s *Settings) (list [][]float64, err error) {
		for _, v := range settings {
			list = append(list, make([]float64, len(p.Degrees)))
			dst := &sparse.Block[float64]{Rows: len(p.Degrees), Cols: 1, Stride: 1, Data: list[len(list)-1]}
			if err := meansTo(ctx, dst, p, []propagate.Sample{{Row: p.Row, Value: p.Value}}, v, s); err != nil {
				return nil, err
			}
		}
		return list, nil
	}
	r.HeldOut = func(ctx context.Context, p *Problem, fold []int, settings []param.Values, s *Settings) ([][]float64, error) {
		miss := make([][]float64, len(settings))
		folds := 1 + slices.Max(fold)
		dst := sparse.NewBlock[float64](len(p.Degrees), min(folds, meansAtOnce))
		for i, v := range settings {
			miss[i] = make([]float64, len(fold))
			for lo := 0; lo < folds; lo += meansAtOnce {
				var samples []propagate.Sample
				for f := lo; f < min(folds, lo+meansAtOnce); f++ {
					train := p.At(choose.OfFold(fold, f).Train)
					samples = append(samples, propagate.Sample{Row: train.Row, Value: train.Value})
				}
				if err := meansTo(ctx, dst, p, samples, v, s); err != nil {
					return nil, err
				}
				for a, f := range fold {
					if lo <= f && f < lo+len(samples) {
						miss[i][a] = p.Value[a] - dst.Row(p.Row[a])[f-lo]
					}
				}
			}
			s.Progress(l.Name, int64(i+1), int64(len(settings)))
		}
		return miss, nil
	}
	r.Bytes = func(p *Problem, settings []param.Values, s *Settings) (int64, error) {
		n := len(p.Degrees)
		folds := min(choose.FoldCount(len(p.Row)), meansAtOnce)
		held := meansBytes(p, folds)
		return held + l.ScoresBytes(n, p.A.NNZ(), 2*folds, 2, settings[0], budget.Subtract(s.Memory, held)), nil
	}
	return r
}

// meansBytes returns the memory of the means of some samples without their solve.
func meansBytes(p *Problem, samples int) int64 {
	return 8*8*int64(len(p.Degrees)) + budget.Block[float64](len(p.Degrees), 3*samples)
}
