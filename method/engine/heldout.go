package engine

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/problem"
)

// With mostHeldOut held-out labels, the coverage of prediction sets deviates by less than a point from the coverage with all
// labels.
const mostHeldOut = 1000

// hold returns the predictions of the measured folds of p. fit must return a prediction from the given labels alone. Folds
// without other labels to learn from are left out. Cost: a prediction for each fold.
func hold(ctx context.Context, p *Problem, folds *choose.Folds,
	fit func(ctx context.Context, visible *Problem) (*Prediction, error)) (*choose.Held, error) {
	held := new(choose.Held)
	scores := make([]float64, len(p.Names))
	for f := range folds.Measured {
		s := folds.Split(f)
		if len(s.Train) == 0 || len(s.Test) == 0 {
			continue
		}
		out, err := fit(ctx, p.At(s.Train))
		if err != nil {
			return nil, err
		}
		for _, i := range s.Test {
			row := p.Row[i]
			var own []float64
			if out.Scores != nil { // see [Settings.Top]
				simd.ConvertTo(scores, out.Scores.Row(row))
				own = scores
			}
			held.Add(i, out.Class[row], out.Reached.Contains(uint32(row)), own)
		}
	}
	return held, nil
}

// HoldOut returns predictions of held-out labels for out, which m has predicted for p. If out has none with probabilities, m
// predicts each fold from the other labels with the parameters of out, for as many folds as have 1,000 labels, and HoldOut
// stores them in out. If there are too few labels, see [choose.TooFew], there are no predictions.
func (m *Engine) HoldOut(ctx context.Context, p *Problem, out *Prediction, s *Settings) (held *choose.Held, err error) {
	switch {
	case out.Held != nil && out.Held.HasScores():
		return out.Held, nil
	case choose.TooFew(p.Class):
		return new(choose.Held), nil
	}
	set := m.weighingSettings(s)
	set.Fixed = true // what was not given and not chosen stays
	_, memory := m.within(p, &set)
	set.Memory = budget.Subtract(set.Memory, 2*memory) // memory of both predictions
	held, err = m.holdFolds(ctx, p, &out.Parameters, &set, choose.ToMeasure(p, mostHeldOut, set.RNGSeed))
	if err == nil {
		out.Held = held
	}
	return held, err
}

// forHeldOut leaves out of s what predictions of held-out labels do not need.
func (s *Settings) forHeldOut() {
	s.Raw = false
	s.Explain = false
	s.Columns = false
	s.Top = 0
	s.Unmeasured = true
	s.Progress = IgnoreProgress
}

// holdFolds returns the predictions of the measured folds by m. If par is nil, m chooses parameters for each fold.
func (m *Engine) holdFolds(ctx context.Context, p *Problem, par *Parameters, s *Settings, folds *choose.Folds) (*choose.Held, error) {
	set := *s
	set.forHeldOut()
	return hold(ctx, p, folds, func(ctx context.Context, visible *Problem) (*Prediction, error) {
		return m.Fit(ctx, visible, par, &set)
	})
}

// holdSome returns the predictions of the first folds, of as many as [choose.AffordableFolds] allows and as have about enough labels.
func (m *Engine) holdSome(ctx context.Context, p *Problem, par *Parameters, s *Settings, enough int) (*choose.Held, error) {
	folds := choose.ToMeasure(p, enough, s.RNGSeed)
	folds.Measured = choose.AffordableFolds(p, folds.Measured)
	return m.holdFolds(ctx, p, par, s, folds)
}

// measure measures a prediction by held-out labels, unless the choice of its parameters has. If labels have times, it predicts
// the newest. [Engine.PredictCompared] measures baselines.
func (m *Engine) measure(ctx context.Context, p *Problem, par *Parameters, out *Prediction, s *Settings) (err error) {
	switch {
	case m.Target == LabelSets || p.Value == nil && choose.TooFew(p.Class):
		return nil
	case p.Time != nil && p.Value != nil:
		return m.measureNewest(ctx, p, par, out, s)
	case p.Time != nil:
		newest := newestOf(p, s)
		out.Held, err = hold(ctx, p, newest, func(ctx context.Context, visible *Problem) (*Prediction, error) {
			return m.fitOlder(ctx, visible, par, s)
		})
	case p.Value != nil || out.Tested > 0 || m.isMeasured(p, s) || par != nil || s.Model != nil || p.Team() != nil || out.Scores == nil && out.Highest == nil:
		return nil
	default:
		enough := s.WithDefaults().Sample
		if m.IsBaseline() {
			enough = mostMeasured
		}
		out.Held, err = m.holdSome(ctx, p, &out.Parameters, s, enough)
	}
	if err == nil {
		out.Estimate = out.Held.Estimate(p, out.Reached)
	}
	return err
}

// newestOf returns folds of p, which has times, of which the newest fifth of the labels is measured.
func newestOf(p *Problem, s *Settings) *choose.Folds {
	folds := choose.ToFit(p, s.RNGSeed)
	folds.Measured = 1
	return folds
}

// fitOlder fits m, with everything that it chooses, to labels with times.
func (m *Engine) fitOlder(ctx context.Context, visible *Problem, par *Parameters, s *Settings) (*Prediction, error) {
	set := s.WithDefaults()
	set.forHeldOut()
	set.Baselines = nil // measured on all labels
	return m.Fit(ctx, choose.AsIntervals(visible), par, &set)
}

// measureNewest stores in out, a prediction of numbers, the errors at the newest numbers of p, which has times, of m with
// everything that it chooses from the older numbers.
func (m *Engine) measureNewest(ctx context.Context, p *Problem, par *Parameters, out *Prediction, s *Settings) error {
	split := newestOf(p, s).Split(0)
	older, newest := p.At(split.Train), p.At(split.Test)
	inner, err := m.fitOlder(ctx, older, par, s)
	if err != nil || out.Contest == nil {
		return err
	}
	c := out.Contest
	predicted := problem.Pick(inner.Value, newest.Row)
	c.Tested = len(newest.Row)
	c.HeldOut = nil
	for i, y := range newest.Value {
		c.HeldOut = append(c.HeldOut, TestedValue{y, predicted[i]})
	}
	c.Errors = MeasureErrors(newest.Value, predicted)
	c.Mean = MeasureErrors(newest.Value, slices.Repeat([]float64{stat.Mean(older.Value, nil)}, len(newest.Value)))
	return nil
}
