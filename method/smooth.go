package method

import (
	"context"
	"slices"
	"time"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/propagate"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/validate"
)

// smoothed is a method with [propagate.CorrectAndSmooth] around it.
type smoothed struct{ Method }

const smoothSuffix = "+cs"

// Name implements [Method].
func (m smoothed) Name() string { return m.Method.Name() + smoothSuffix }

// Takes implements [Method].
func (m smoothed) Takes() []string {
	return append(m.Method.Takes(), propagate.CorrectAndSmooth.Takes()...)
}

// Declarations implements [Method]: those of the method within, and [propagate.CorrectAndSmooth].
func (m smoothed) Declarations() []*spec.Spec {
	return slices.Concat(m.Method.Declarations(), []*spec.Spec{&propagate.CorrectAndSmooth})
}

// Tune implements [Method]: what is chosen is the method within.
func (m smoothed) Tune(ctx context.Context, p *Problem, splits *validate.Splits, s *Settings) (*Choice, error) {
	c, err := m.Method.Tune(ctx, p, splits, s)
	if err != nil || c == nil {
		return c, err
	}
	set := s.WithDefaults()
	v, err := propagate.CorrectAndSmooth.Resolve(propagate.CorrectAndSmooth.Own(set.Given), nil)
	c.Beside = append(c.Beside, Setting{&propagate.CorrectAndSmooth, v})
	return c, err
}

// Predict implements [Method].
func (m smoothed) Predict(ctx context.Context, p *Problem, par *Parameters, s *Settings) (*Prediction, error) {
	if p.Directed {
		return nil, &problem.Error{Method: m.Name(), Err: problem.ErrDirected}
	}
	set := s.WithDefaults()
	v, err := propagate.CorrectAndSmooth.Resolve(propagate.CorrectAndSmooth.Own(set.Given), nil)
	if err != nil {
		return nil, err
	}
	set.Raw = false
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
	seeds := cwk.Seeds{Row: p.Row, Class: p.Class, Classes: len(p.Names)}
	smooth, work, err := propagate.Smooth(ctx, g, out.Scores, seeds, v, set.Memory)
	if err != nil {
		return nil, err
	}
	out.Raw = smooth
	out.Work.Add(work)
	for i := range smooth.Rows {
		if out.Reached.Contains(uint32(i)) {
			out.share(i)
		}
	}
	for i, row := range p.Row {
		out.Class[row] = p.Class[i]
	}
	out.Seconds.Walk += time.Since(start).Seconds()
	out.Parameters.Beside = append(out.Parameters.Beside, Setting{&propagate.CorrectAndSmooth, v})
	out.Settings = max(1, out.Settings)
	return out, nil
}

// share makes the scores of a node of its row of Raw, whose negative entries count as 0,
// and takes its class from them.
func (p *Prediction) share(i int) {
	sum := 0.0
	for _, v := range p.Raw.Row(i) {
		sum += max(v, 0)
	}
	if sum > 0 {
		for c, v := range p.Raw.Row(i) {
			p.Scores.Row(i)[c] = float32(max(v, 0) / sum)
		}
	}
	p.Class[i] = classify.ArgMax(p.Raw.Row(i))
}

// Bytes implements [Sizer]: smoothing begins when the method within is done.
func (m smoothed) Bytes(p, tuned *Problem, s *Settings) (int64, error) {
	own, err := Bytes(m.Method, p, tuned, s)
	return max(own, propagate.SmoothBytes(len(p.Degrees), p.A.NNZ(), len(p.Names))+2*scoreBytes(p)), err
}
