package method

import (
	"context"
	"slices"
	"time"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/propagate"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// smoothedMethod is a method with [propagate.CorrectAndSmooth] around it.
type smoothedMethod struct{ Method }

const smoothSuffix = "+cs"

// Name implements [Method].
func (m smoothedMethod) Name() string {
	return m.Method.Name() + smoothSuffix
}

// Takes implements [Method].
func (m smoothedMethod) Takes() []string {
	return append(m.Method.Takes(), propagate.CorrectAndSmooth.Takes()...)
}

// Declarations implements [Method]: those of the method within, and [propagate.CorrectAndSmooth].
func (m smoothedMethod) Declarations() []*param.Spec {
	return slices.Concat(m.Method.Declarations(),
		[]*param.Spec{&propagate.CorrectAndSmooth})
}

// resolveSmoothing returns the given values of [propagate.CorrectAndSmooth], with defaults.
func resolveSmoothing(s *Settings) (*Setting, error) {
	spec := &propagate.CorrectAndSmooth
	v, err := spec.Resolve(spec.Own(s.WithDefaults().Given), nil)
	return &Setting{spec, v}, err
}

// Tune implements [Method]. It chooses the parameters of the method within.
func (m smoothedMethod) Tune(ctx context.Context, p *Problem, splits *split.Splits,
	s *Settings) (*Choice, error) {
	c, err := m.Method.Tune(ctx, p, splits, s)
	if err != nil || c == nil {
		return c, err
	}
	c.Smoothed, err = resolveSmoothing(s)
	return c, err
}

// Predict implements [Method].
func (m smoothedMethod) Predict(ctx context.Context, p *Problem, par *Parameters,
	s *Settings) (*Prediction, error) {
	if p.Directed {
		return nil, &problem.Error{Method: m.Name(), Err: problem.ErrDirected}
	}
	smoothed, err := resolveSmoothing(s)
	if err != nil {
		return nil, err
	}
	set := s.WithDefaults()
	set.Raw = false
	set.Explain = false // scores after smoothing are no sums over labelled nodes
	set.Top = 0
	out, err := m.Method.Predict(ctx, p, par, &set)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	g, err := p.Whole(ctx, set.Workers, &out.Work)
	if err != nil {
		return nil, err
	}
	out.Estimate = problem.Estimate{} // measured without what follows
	out.Comparison = nil
	n, k := out.Scores.Dims()
	memory := budget.Subtract(p.SubtractComponents(set.Memory), scoreBytes(p))
	out.Raw = sparse.NewBlock[float64](n, k)
	memory = budget.Subtract(memory, blocks.BlockBytes[float64](n, k))
	take := func(node, first int, values []float64) { copy(out.Raw.Row(node)[first:], values) }
	work, err := propagate.Smooth(ctx, g, out.Scores, p.Seeds(), smoothed.Values, memory, take)
	if err != nil {
		return nil, err
	}
	out.Work.Sweeps += work.Sweeps
	for i := range n {
		if out.Reached.Contains(uint32(i)) { // another keeps its prior
			out.share(i, out.Raw.Row(i))
		}
	}
	setKnown(out, p)
	out.Seconds.Walk += time.Since(start).Seconds()
	out.Parameters.Smoothed = smoothed
	out.Settings = max(1, out.Settings)
	return out, nil
}

// share stores the scores and the class of a node with the given smoothed scores. Negative ones
// count as 0; if all do, the scores stay.
func (p *Prediction) share(i int, smooth []float64) {
	sum := 0.0
	for _, v := range smooth {
		sum += max(v, 0)
	}
	if sum > 0 {
		for c, v := range smooth {
			p.Scores.Row(i)[c] = float32(max(v, 0) / sum)
		}
	}
	p.Class[i] = classify.ArgMax(smooth)
}

// Bytes implements [Sizer]: smoothing begins when the method within is done.
func (m smoothedMethod) Bytes(p, tuned *Problem, s *Settings) (int64, error) {
	prediction, err := ownCost(engineOf(m.Method), p, tuned, s)
	n := len(p.Degrees)
	k := len(p.Names)
	scores := scoreBytes(p) + blocks.BlockBytes[float64](n, k)
	limit := budget.Subtract(p.SubtractComponents(s.Memory), scores)
	return max(prediction.Bytes,
		scores+propagate.SmoothBytes(n, p.A.NNZ(), k, limit)), err
}
