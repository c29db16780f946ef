package spread

import (
	"context"
	"slices"
	"time"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/propagate"
	"github.com/heatwalk/heatwalk/sparse"
)

const Suffix = "+cs"

// Smoothed returns an engine that applies [propagate.CorrectAndSmooth] to the predictions of inner.
func Smoothed(inner *engine.Engine) *engine.Engine {
	e := &engine.Engine{
		Name:  inner.Name + Suffix,
		Takes: slices.Concat(inner.Takes, propagate.CorrectAndSmooth.Takes()),
		Specs: slices.Concat(inner.Specs,
			[]*param.Spec{&propagate.CorrectAndSmooth}),
		HasRaw: true,
	}
	e.Fit = func(ctx context.Context, p *engine.Problem, par *engine.Parameters, s *engine.Settings) (*engine.Prediction, error) {
		return predictSmoothed(ctx, inner, e.Name, p, par, s)
	}
	e.Choose = func(ctx context.Context, p *engine.Problem, splits *choose.Splits, s *engine.Settings) (*engine.Choice, error) {
		if inner.Choose == nil {
			return nil, nil
		}
		c, err := inner.Choose(ctx, p, splits, s)
		if err != nil || c == nil {
			return c, err
		}
		c.Smoothed, err = resolveSmoothing(s)
		return c, err
	}
	e.Workspace = func(p *engine.Problem, s *engine.Settings) (w budget.Workspace, err error) { // smoothing begins after inner has ended
		n := len(p.Degrees)
		k := len(p.Names)
		smooth := propagate.SmoothWorkspace(n, p.A.NNZ(), k).AndHeld(budget.Block[float64](n, k))
		if inner.Workspace != nil {
			w, err = inner.Workspace(p, s)
		}
		return w.Or(smooth), err
	}
	return e
}

func resolveSmoothing(s *engine.Settings) (*engine.Setting, error) {
	spec := &propagate.CorrectAndSmooth
	v, err := spec.Resolve(spec.Own(s.WithDefaults().Given), nil)
	return &engine.Setting{Spec: spec, Values: v}, err
}

func predictSmoothed(ctx context.Context, inner *engine.Engine, name string, p *engine.Problem, par *engine.Parameters,
	s *engine.Settings) (*engine.Prediction, error) {
	if p.Directed {
		return nil, &problem.Error{Method: name, Err: problem.ErrDirected}
	}
	smoothed, err := resolveSmoothing(s)
	if err != nil {
		return nil, err
	}
	set := s.WithDefaults()
	set.Raw = false
	set.Explain = false // smoothed scores are no sums over labelled nodes
	set.Top = 0
	out, err := inner.Fit(ctx, p, par, &set)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	g, err := p.Whole(ctx, set.Workers, &out.Work)
	if err != nil {
		return nil, err
	}
	out.Estimate = problem.Estimate{} // measured without smoothing
	out.Held = nil
	n, k := out.Scores.Dims()
	out.Raw = sparse.NewBlock[float64](n, k)
	memory := budget.Subtract(s.Memory, budget.Block[float64](n, k))
	take := func(node, first int, values []float64) { copy(out.Raw.Row(node)[first:], values) }
	work, err := propagate.Smooth(ctx, g, out.Scores, p.Seeds(), smoothed.Values, memory, take)
	if err != nil {
		return nil, err
	}
	out.Work.Sweeps += work.Sweeps
	for i := range n {
		if out.Reached.Contains(uint32(i)) { // other nodes keep their prior
			shareSmoothed(out, i, out.Raw.Row(i))
		}
	}
	engine.SetKnown(out, p)
	out.Seconds.Walk += time.Since(start).Seconds()
	out.Parameters.Smoothed = smoothed
	out.Settings = max(1, out.Settings)
	return out, nil
}

// shareSmoothed stores in p the smoothed scores of node i and its class. Negative smoothed scores count as 0. If none is
// above 0, the node keeps its scores.
func shareSmoothed(p *engine.Prediction, i int, smooth []float64) {
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
