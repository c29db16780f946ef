package engine

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/internal/propagation"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// Baselines are the accuracies of label propagation and of the largest class, estimated on the same folds. If label
// propagation was not measured, its estimate is zero.
type Baselines struct {
	Propagation, Majority problem.Estimate

	Seconds float64

	Held *propagation.HeldOut `json:"-"` // predictions of label propagation for held-out labels, for auto and lp; nil: none

	rows *choose.Held // the same as Held, for lp
}

// IsBaseline reports whether the method is a baseline: label propagation or the largest class.
func (m *Engine) IsBaseline() bool { return m.Baseline != nil }

// isMeasured reports whether [Engine.PredictCompared] measures m: it is a baseline without given parameters.
func (m *Engine) isMeasured(p *Problem, s *Settings) bool {
	return m.IsBaseline() && p.Time == nil && (len(m.Specs) == 0 || len(m.Specs[0].Own(s.Given)) == 0)
}

// Mixture describes an engine that mixes models. Its estimate of accuracy already uses known shares of classes, and held-out
// labels choose the function of its edge weights.
type Mixture struct {
	FoldCount  func(labels int) int
	Propagates func(p *Problem) bool // whether label propagation may be one of the models
}

// ShowingLabels is the smallest number of labels for which [Baselines.ShowLikeness] may be true; fewer labels show likeness
// by chance.
const ShowingLabels = 24

// ShowLikeness reports whether the labels show that linked nodes mostly have the same label: label propagation must predict
// at least one binomial standard error more held-out labels than the largest class does.
func (b *Baselines) ShowLikeness(labels int) bool {
	held := b.HeldOut()
	return labels >= ShowingLabels && held.Tested > 0 && held.Accuracy-held.Stderr >= b.Majority.Accuracy
}

// HeldOut returns the share of held-out labels that label propagation predicts right.
func (b *Baselines) HeldOut() problem.Estimate {
	tested := b.Propagation.Tested
	return problem.EstimateShare(b.Propagation.Accuracy*float64(tested), tested)
}

// PredictCompared predicts as [Engine.Predict] with chosen parameters, and measures the baselines. If m is a baseline without
// given parameters, the estimate of the prediction is the measured baseline.
func (m *Engine) PredictCompared(ctx context.Context, p *Problem,
	s *Settings) (*Prediction, *Baselines, error) {
	p, err := m.Weigh(ctx, p, s)
	if err != nil {
		return nil, nil, err
	}
	start := time.Now()
	b, err := m.measureBaselines(ctx, p, s)
	if err != nil {
		return nil, nil, err
	}
	b.Seconds = time.Since(start).Seconds()
	set := s.WithDefaults()
	set.Baselines = b
	out, err := m.Predict(ctx, p, nil, &set)
	if err != nil {
		return nil, nil, err
	}
	if m.isMeasured(p, &set) {
		out.Estimate = m.Baseline(b)
		out.Held = b.rows
	}
	return out, b, nil
}

// measureBaselines estimates the accuracies of label propagation and of the largest class on the folds that m would use. If
// there are too few labels, see [choose.TooFew], all estimates are zero. Label propagation is measured if
// [Engine.ComparesPropagation] is true. If auto cannot use it, label propagation is measured on one fold alone.
func (m *Engine) measureBaselines(ctx context.Context, p *Problem,
	s *Settings) (*Baselines, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	set := s.WithDefaults()
	if choose.TooFew(p.Class) {
		return new(Baselines), nil
	}
	held := choose.ToMeasure(p, len(p.Row), set.RNGSeed)
	if m.Mixture != nil {
		held = choose.DrawFolds(p, m.Mixture.FoldCount(len(p.Row)), set.RNGSeed, 0)
	}
	r := &Baselines{Majority: choose.LargestClass(p, held.Of)}
	if !m.ComparesPropagation(p, &set) {
		return r, nil
	}
	if m.Mixture != nil && !m.Mixture.Propagates(p) {
		held.Measured = 1 // a fold has enough labels, see ShowingLabels
	}
	within, _ := m.within(p, &set)
	set.Memory = within.Memory
	comparison, err := propagation.NewBaseline(p, set.Prior, set.Memory, set.Workers).Compare(ctx, choose.NewTask(p, sched.UpTo(len(p.Row)), held))
	if over := new(budget.Error); errors.As(err, &over) && m.Mixture == nil && !m.IsBaseline() {
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	r.Propagation = comparison.Propagation
	if m.IsBaseline() || m.Mixture != nil { // otherwise its reduction would stay in memory
		r.Held = comparison.HeldOut
	}
	if m.IsBaseline() && len(m.Specs) > 0 {
		r.rows = comparison.Rows
	}
	return r, nil
}

// ComparesPropagation reports whether [Engine.PredictCompared] may measure label propagation.
func (m *Engine) ComparesPropagation(p *Problem, s *Settings) bool {
	isSlow := iterative.IsSlow(p.Nodes(), sparse.EntriesOf(p.A))
	switch {
	case m.IsBaseline():
		return true
	case m.Mixture == nil:
		return !isSlow
	case s != nil && s.Suggests:
		return true
	case s != nil && s.Effort == LowEffort && isSlow: // label propagation is no candidate
		return false
	}
	return m.Mixture.Propagates(p)
}

// BaselineWorkspace declares the memory for measuring label propagation.
func BaselineWorkspace(p *Problem, s *Settings) budget.Workspace {
	s = cmp.Or(s, new(Settings))
	return propagation.NewBaseline(p, s.Prior, s.Memory, s.Workers).CompareWorkspace()
}

// Majority predicts the largest class for every node, without the edges. Its scores are [ClassShares].
var Majority = &Engine{
	Name: "majority", Fit: predictLargest,
	Baseline: func(b *Baselines) problem.Estimate { return b.Majority },
}

func predictLargest(ctx context.Context, p *Problem, _ *Parameters,
	s *Settings) (*Prediction, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	set := s.WithDefaults()
	n := p.Rows()
	out := &Prediction{Scores: sparse.NewBlock[float32](n, len(p.Names)),
		IsForAll: true}
	var err error
	if out.Reached, err = p.Reachable(ctx, p.Row, set.Workers, &out.Work); err != nil {
		return nil, err
	}
	prior := ClassShares.Distributions(p.Seeds())
	for i := range n {
		simd.ConvertTo(out.Scores.Row(i), prior(i))
	}
	FillClasses(out, p, ClassShares)
	return out, nil
}

// AdaptToShares adjusts the probabilities and the accuracy of out, and its predictions of held-out labels, to the known shares
// of classes p.Shares, see [Reweigh]. The accuracy of auto already uses the shares.
func (m *Engine) AdaptToShares(ctx context.Context, p *Problem, out *Prediction,
	s *Settings) error {
	s = cmp.Or(s, new(Settings))
	err := Reweigh(ctx, p, out, s.Workers)
	if err == nil && p.Shares != nil && out.Held != nil && m.Mixture == nil {
		out.Held = out.Held.Reweigh(p)
		out.Estimate = out.Held.Estimate(p, out.Reached)
	}
	return err
}

// Reweigh adapts a prediction to the known shares of classes, see [problem.Problem.Reweigher]: it changes the scores of all
// nodes and the classes of nodes without a label. The scores of nodes that no label reaches become the shares. If the shares
// are not known, Reweigh does nothing.
func Reweigh(ctx context.Context, p *Problem, out *Prediction, workers int) error {
	return ReweighBy(ctx, p, out, p.Reweigher(false), workers)
}

// ReweighBy adapts a prediction as [Reweigh] does, by the function reweigh. If reweigh is nil, ReweighBy does nothing. If
// the shares are not known, nodes that no label reaches keep their scores.
func ReweighBy(ctx context.Context, p *Problem, out *Prediction,
	reweigh func([]float64), workers int) error {
	if reweigh == nil {
		return nil
	}
	err := blocks.EachNodeChunk(ctx, workers, p.Rows(), func(_, lo, hi int) {
		row := make([]float64, len(p.Names))
		for v := lo; v < hi; v++ {
			switch {
			case out.Reached.Contains(uint32(v)):
				simd.ConvertTo(row, out.Scores.Row(v))
				reweigh(row)
			case p.Shares != nil:
				copy(row, p.Shares)
			default:
				continue
			}
			simd.ConvertTo(out.Scores.Row(v), row)
			out.Class[v] = classify.ArgMax(row)
		}
	})
	SetKnown(out, p)
	return err
}
