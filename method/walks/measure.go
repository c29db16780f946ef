package walks

import (
	"context"
	"errors"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/sparse"
)

// hiddenFold holds the training and test rows of a model that does not know a fold of labels.
type hiddenFold struct {
	first   int // row of the first training label in predictor.features
	class   []int
	tests   []int // hidden labels that other labels reach; their rows follow the training rows
	largest int
}

// mostMeasuring is the largest number of training rows of a model that is fitted only to measure the accuracy.
const mostMeasuring = 20_000

// hideFolds adds to w the variants that hide each fold of [engine.Job.MeasuringTask]. It returns picks with the rows of the
// models without these folds.
func (r *predictor) hideFolds(ctx context.Context, w *cwk.Walk[float32], picks []cwk.Pick) ([]cwk.Pick, error) {
	t := r.MeasuringTask()
	if err := t.FindIsolated(ctx, r.Settings.Workers, &r.Out.Work); err != nil {
		return nil, err
	}
	isMeasuring := make([]bool, len(r.Problem.Row))
	for _, i := range choose.Sample(r.Problem.Class, mostMeasuring/max(1, r.partitions()), r.Settings.RNGSeed, 0) {
		isMeasuring[i] = true
	}
	variants := cwk.FoldVariants(r.par.Alpha(), t.Fold)
	for f := range choose.AffordableFolds(r.Problem, t.Folds()) {
		variant := len(w.Variants)
		w.Variants = append(w.Variants, variants[1+f])
		h := hiddenFold{first: len(picks), largest: t.Largest(f)}
		for a, i := range r.label {
			if t.Fold[i] == f || !isMeasuring[i] {
				continue
			}
			pick := picks[r.train[a]]
			if r.par.Features() == Plain {
				pick.Variant = variant
			}
			h.class = append(h.class, r.Problem.Class[i])
			picks = append(picks, pick)
		}
		for _, i := range t.Split(f).Test {
			if !t.Isolated[i] {
				h.tests = append(h.tests, i)
				picks = append(picks, cwk.Pick{Row: r.Problem.Row[i], Variant: variant})
			}
		}
		r.hidden = append(r.hidden, h)
	}
	return picks, nil
}

// measure predicts the hidden folds with models that do not know them, and stores the accuracy in r.estimate.
func (r *predictor) measure(ctx context.Context) error {
	var outcomes []choose.Outcome
	x := make([]float64, r.features.Cols)
	for _, h := range r.hidden {
		if choose.TooFew(h.class) {
			return nil
		}
		rows := r.scaleRows(h.first, len(h.class)+len(h.tests))
		items := *rows
		items.Rows = len(h.class)
		model, _, err := r.learnFrom(ctx, &items, h.class)
		if err != nil && (model == nil || !errors.Is(err, classify.ErrIterationLimit)) {
			return err
		}
		for a, i := range h.tests {
			simd.ConvertTo(x, rows.Row(len(h.class)+a))
			outcomes = append(outcomes, choose.Outcome{Label: i, Class: r.Problem.Class[i], Largest: h.largest, Pairs: model.Pairs,
				Decisions: model.ScoresTo(nil, x, nil)})
		}
	}
	if r.hidden != nil {
		r.Out.Held = r.Hold(outcomes, r.decidedClass)
		e := r.Out.Held.Estimate(r.Problem, r.Out.Reached)
		r.estimate = &e
	}
	return nil
}

func (r *predictor) decidedClass(o *choose.Outcome) int {
	if r.Learner.Probabilities == nil {
		return r.MajorityClass(o)
	}
	share := make([]float64, len(r.Problem.Names))
	r.Share(share, o.Pairs, o.Decisions)
	return classify.ArgMax(share)
}

// scaleRows scales count rows of the features in place, from row first on, and returns them.
func (r *predictor) scaleRows(first, count int) *sparse.Block[float32] {
	f := &sparse.Block[float32]{Rows: count, Cols: r.features.Cols, Stride: r.features.Stride,
		Data: r.features.Data[first*r.features.Stride:]}
	for i := range f.Rows {
		row := f.Row(i)
		for j, v := range row {
			row[j] = float32(r.par.Scale()) * v
		}
	}
	return f
}
