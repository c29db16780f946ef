package engine

import (
	"context"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/choose"
)

// With mostHeldOut held-out labels, the coverage of prediction sets deviates by less than a point from the coverage with all
// labels.
const mostHeldOut = 1000

// HoldOut returns a [choose.Place] for each held-out label, for prediction sets of out, which m has predicted for p. An
// engine other than auto predicts each fold from the other labels, with the parameters of out. If there are too few labels,
// see [choose.TooFew], there are no places. Cost: a prediction for each fold, or for as many folds as have 1,000 labels.
func (m *Engine) HoldOut(ctx context.Context, p *Problem, out *Prediction, s *Settings) ([]choose.Place, error) {
	if out.Places != nil {
		return out.Places, nil
	}
	set := m.weighingSettings(s)
	if choose.TooFew(p.Class) {
		return nil, nil
	}
	_, memory := m.within(p, &set)
	set.Memory = budget.Subtract(set.Memory, 2*memory) // memory of both predictions
	set.Raw = false
	set.Explain = false
	set.Top = 0
	set.Unmeasured = true
	places := choose.NewPlaces(p)
	probabilities := make([]float64, len(p.Names))
	folds := choose.ToMeasure(p, mostHeldOut, set.RNGSeed)
	for f := range folds.Measured {
		labels := folds.Split(f)
		visible := p.At(labels.Train)
		var held *Prediction
		var err error
		if m.Model != nil {
			held, err = m.Fit(ctx, visible, nil, &set)
		} else {
			var kept *Model
			if kept, err = m.keep(out, s); err == nil {
				held, err = kept.predict(ctx, m, visible, &set)
			}
		}
		if err != nil {
			return nil, err
		}
		for _, i := range labels.Test {
			if row := p.Row[i]; held.Reached.Contains(uint32(row)) {
				simd.ConvertTo(probabilities, held.Scores.Row(row))
				places.Note(i, probabilities)
			}
		}
	}
	return places.List, nil
}
