package method

import (
	"context"
	"time"

	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/internal/auto"
	"github.com/heatwalk/heatwalk/method/internal/propagation"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/sparse"
)

// Baselines are the accuracies that a prediction is compared with: those of label propagation
// and of the largest class, estimated on the same folds.
type Baselines struct {
	Propagation, Majority problem.Estimate

	// Omitted is the memory of measuring label propagation in bytes, if that exceeds
	// Settings.Memory and label propagation was left out; otherwise 0.
	Omitted int64

	Seconds float64 // that measuring took

	answers [][]float32 // of label propagation to labels, for the method auto on a graph without directions; nil: none

	center bool // centred scores of label propagation predict held-out labels better

	declared *problem.Estimate // of label propagation with values of its parameters; nil: it has none
}

// Estimates returns those of a prediction by m and of label propagation. Where m is label
// propagation or the largest class, its own is that of the reference.
func (p *Prediction) Estimates(m Method, r *Baselines) (estimate, lp problem.Estimate) {
	switch m {
	case labelPropagation{}:
		if r.declared != nil {
			return *r.declared, r.Propagation
		}
		return r.Propagation, r.Propagation
	case Majority:
		return r.Majority, r.Propagation
	}
	return p.Estimate, r.Propagation
}

// PredictCompared predicts with m as [Method.Predict] does, and measures the baselines. auto learns
// from the predictions of label propagation, which are computed once for both.
func PredictCompared(ctx context.Context, m Method, p *Problem, s *Settings) (*Prediction, *Baselines, error) {
	start := time.Now()
	b, err := measureBaselines(ctx, m, p, s)
	if err != nil {
		return nil, nil, err
	}
	b.Seconds = time.Since(start).Seconds()
	set := s.WithDefaults()
	set.baselines = b
	out, err := m.Predict(ctx, p, nil, &set)
	return out, b, err
}

// measureBaselines estimates the accuracies of label propagation and of the largest class on the folds that
// a method measures itself on, and if the method is label propagation with given values of its
// parameters, that of it. All are zero with too few labels, see [split.TooFew]. Label
// propagation is left out if it does not fit the memory limit, and where auto does not have it as a candidate. Cost: a prediction without each
// fold, or without some of the folds if these have enough labels or take long.
func measureBaselines(ctx context.Context, m Method, p *Problem, s *Settings) (*Baselines, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	set := s.WithDefaults()
	if split.TooFew(p.Class) {
		return new(Baselines), nil
	}
	folds := set.folds(len(p.Row))
	if m == (automatic{}) {
		folds = auto.FoldCount(len(p.Row))
	}
	fold := split.Folds(p.Class, folds, set.RNGSeed, 0)
	r := &Baselines{Majority: choose.LargestClass(p, fold)}
	if m == (automatic{}) && !auto.Propagates(p) {
		return r, nil
	}
	if need := BaselineBytes(p, &set); set.Memory > 0 && need > set.Memory {
		r.Omitted = need
		return r, nil
	}
	comparison, err := compared(p, &set).Compare(ctx, fold, folds)
	if err != nil {
		return nil, err
	}
	r.Propagation, r.center = comparison.Propagation, comparison.Center
	if m == (automatic{}) && !p.Directed {
		r.answers = comparison.Answers
	}
	if _, isGiven, _ := propagationValues(&set); isGiven && m == (labelPropagation{}) {
		r.declared, err = apart(ctx, m, p, nil, &set, fold, folds)
	}
	return r, err
}

// compared returns the label propagation that others are compared with.
func compared(p *Problem, s *Settings) *propagation.Propagation {
	return &propagation.Propagation{P: p, Prior: s.Prior, Alpha: 1, Memory: p.Remaining(s.Memory), Workers: s.Workers, Rough: true}
}

// apartWork bounds the entries × classes of the graph times the folds that are predicted
// apart, but for one of these.
const apartWork = 20_000_000

// apart measures a method with the given parameters, or, if they are nil, with its own choice by
// predictions without each fold of the labels, or, of large graphs, some of them.
func apart(ctx context.Context, m Method, p *Problem, par *Parameters, s *Settings, fold []int, folds int) (*problem.Estimate, error) {
	set := *s
	set.Progress = nil
	var work problem.Work
	reached, err := p.Reached(ctx, p.Row, set.Workers, &work)
	if err != nil {
		return nil, err
	}
	isolated, err := choose.Unreachable(ctx, p, fold, set.Workers, &work)
	if err != nil {
		return nil, err
	}
	var count choose.Estimator
	weight := choose.WeightsOf(p)
	for f := range min(int64(folds), max(1, apartWork/max(1, sparse.EntriesOf(p.A)*int64(len(p.Names))))) {
		foldSplit := split.OfFold(fold, int(f))
		visible := p.At(foldSplit.Train)
		out, err := m.Predict(ctx, visible, par, &set)
		if err == nil {
			err = Reweigh(ctx, visible, out, set.Workers)
		}
		if err != nil {
			return nil, err
		}
		for _, i := range foldSplit.Test {
			c := p.Class[i]
			count.Note(!isolated[i], out.Class[p.Row[i]] == c, weight[c])
		}
	}
	e := count.Estimate(p, reached)
	return &e, nil
}

// BaselineBytes is the memory of measuring label propagation, see [PredictCompared].
func BaselineBytes(p *Problem, s *Settings) int64 { return compared(p, s).CompareBytes() }
