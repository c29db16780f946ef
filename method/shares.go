package method

import (
	"context"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/internal/chunks"
	"github.com/heatwalk/heatwalk/method/split"
)

// AdaptToShares adjusts the probabilities of out, see [Reweigh], and its cross-validated accuracy to
// p.Shares. Except for auto, whose accuracy is adjusted already, it repeats the cross-validation with the
// parameters of out. Cost: a prediction for each fold.
func AdaptToShares(ctx context.Context, m Method, p *Problem, out *Prediction, s *Settings) error {
	err := Reweigh(ctx, p, out, s.Workers)
	if err != nil || p.Shares == nil || out.Tested == 0 || m == (automatic{}) {
		return err
	}
	var par *Parameters
	if out.Settings > 0 {
		par = &out.Parameters
	}
	folds := s.folds(len(p.Row))
	e, err := apart(ctx, m, p, par, s, split.Folds(p.Class, folds, s.RNGSeed, 0), folds)
	if err == nil {
		out.Estimate = *e
	}
	return err
}

// Reweigh adapts a prediction from the labels of p to the known shares of classes, see
// [problem.Problem.Reweigher]: the scores of all nodes, and the classes of nodes without a label. Nodes
// that no label reaches have the shares as scores. It does nothing if the shares are not known.
func Reweigh(ctx context.Context, p *Problem, out *Prediction, workers int) error {
	return reweighBy(ctx, p, out, p.Reweigher(false), workers)
}

// reweighBy is Reweigh by a function, nil for none. Without known shares nodes that no label reaches keep
// their scores.
func reweighBy(ctx context.Context, p *Problem, out *Prediction, reweigh func([]float64), workers int) error {
	if reweigh == nil {
		return nil
	}
	err := chunks.Run(ctx, workers, len(p.Degrees), func(_, lo, hi int) {
		row := make([]float64, len(p.Names))
		for v := lo; v < hi; v++ {
			if simd.ConvertTo(row, out.Scores.Row(v)); out.Reached.Contains(uint32(v)) {
				reweigh(row)
			} else if copy(row, p.Shares); p.Shares == nil {
				continue
			}
			simd.ConvertTo(out.Scores.Row(v), row)
			out.Class[v] = classify.ArgMax(row)
		}
	})
	for i, row := range p.Row {
		out.Class[row] = p.Class[i]
	}
	return err
}
