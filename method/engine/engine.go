package engine

import (
	"context"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
)

// Target is what an engine predicts.
type Target int

const (
	Classes   Target = iota // a class of each node
	Numbers                 // a number of each node, from [problem.Problem.Value]
	LabelSets               // several labels of each node, which has a row for each label
)

// Engine is a method that predicts the nodes of a graph from labels on some of them. A step whose field is nil is absent.
type Engine struct {
	Name   string
	Target Target

	// Takes lists the settings that change the result: names of declared parameters, "features", "prior" and "unreached".
	Takes []string

	// Specs are the declarations of the method, or of its kernel and its learner. They are nil without parameters, and must
	// not be changed.
	Specs []*param.Spec

	// Fit predicts every node from the labels of p, with the edges as they are. If par is nil, it chooses parameters. Fit
	// may be called concurrently. [Engine.Predict] gives Fit numbers with a median of 0 and a standard deviation from 1 to 2, and
	// maps the predictions back, so that a constant in all numbers changes no choice.
	Fit func(ctx context.Context, p *Problem, par *Parameters, s *Settings) (*Prediction, error)

	// Choose chooses parameters by the test sets of splits of p. If splits is nil, it chooses as Fit does. If Choose is nil or
	// returns a nil Choice, there is nothing to choose, or Fit must choose anew for each training set.
	Choose func(ctx context.Context, p *Problem, splits *choose.Splits, s *Settings) (*Choice, error)

	// Workspace declares the memory of Fit and Choose for the largest setting that may be chosen, in addition to the
	// problem, its components and the prediction. It returns an error for settings that the engine refuses. If Workspace is
	// nil, Fit and Choose need no memory.
	Workspace func(p *Problem, s *Settings) (budget.Workspace, error)

	// Check returns an error for settings that leave nothing to choose from.
	Check func(s *Settings) error

	HasRaw bool // predictions may have Raw scores, see [Settings.Raw]

	// Baseline returns the estimate of the engine's accuracy from b; nil: the engine is no baseline.
	Baseline func(b *Baselines) problem.Estimate

	Highest   func(p *Problem, s *Settings) bool  // whether Fit may leave Prediction.Scores nil, see [Settings.Top]; nil: never
	Temporary func(p *Problem, s *Settings) int64 // bytes of temporary files; nil: none
	Mixture   *Mixture                            // nil: the engine mixes no models
	Extension *Extension                          // predicts new nodes; nil: the engine cannot
	Model     *Model                              // kept model, see [Engine.Restore]; nil: the engine learns
}

// Predict predicts every node from the labels of p, with the edge weights of [Engine.Weigh]. If par is nil, the engine
// chooses parameters.
func (m *Engine) Predict(ctx context.Context, p *Problem, par *Parameters,
	s *Settings) (*Prediction, error) {
	within, _ := m.within(p, s)
	z := standardize(p)
	given := p.Value
	p, err := m.Weigh(ctx, z.problem(p), s)
	if err != nil {
		return nil, err
	}
	fitted := p
	if p.Time != nil {
		fitted = choose.AsIntervals(p)
	}
	out, err := m.Fit(ctx, fitted, par, within)
	if err == nil && m.Model == nil && !within.Unmeasured {
		err = m.measure(ctx, p, par, out, within)
	}
	if err != nil {
		return nil, err
	}
	z.restore(out)
	if m.Model != nil && m.Model.Measured != nil && out.Contest != nil {
		out.Contest.repeat(m.Model.Measured)
	}
	learned := *p
	learned.Value = given
	out.Problem = &learned
	out.EdgeWeights = *p.Learned
	return out, nil
}

// Tune chooses parameters on splits of p by the field Choose, with the edge weights of [Engine.Weigh]. If Choose is nil,
// Tune returns nil.
func (m *Engine) Tune(ctx context.Context, p *Problem, splits *choose.Splits,
	s *Settings) (*Choice, error) {
	if m.Choose == nil {
		return nil, nil
	}
	within, _ := m.within(p, s)
	p, err := m.Weigh(ctx, standardize(p).problem(p), s)
	if err != nil {
		return nil, err
	}
	return m.Choose(ctx, p, splits, within)
}

// NeedsTranspose reports whether the engine needs [graph.Graph.In] for a directed graph whose rows several processes share.
func (m *Engine) NeedsTranspose() bool {
	return len(m.Specs) > 0 && m.Specs[0].Arcs == param.BothDirections
}

// Stages checks a problem and returns the [Job] of choosing parameters and predicting. If par is not nil, there is nothing
// to choose.
type Stages func(ctx context.Context, p *Problem, par *Parameters, s *Settings) (*Job, error)

// InStages returns m with a Fit and a Choose that run the stages of begin.
func (m Engine) InStages(begin Stages) *Engine {
	m.Fit = func(ctx context.Context, p *Problem, par *Parameters, s *Settings) (*Prediction, error) {
		return begin.predict(ctx, &m, p, par, s)
	}
	m.Choose = begin.tune
	return &m
}

// Entry is a method in a list, with its own parameters and settings.
type Entry struct {
	Name   string
	Method *Engine

	// Own has the parameter values that the user gave with the name of the method. They are not chosen.
	Own param.Values

	// Settings are the settings for this method; nil: the settings for all methods.
	Settings *Settings
}
