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

// The targets.
const (
	Classes   Target = iota // one class of each node
	Numbers                 // a number of each node, from [problem.Problem.Value]
	LabelSets               // several labels of each node, which has a row for each
)

// Engine is a way to predict the nodes of a graph from the labels on some of them. Its fields state the inputs that it takes
// and the steps that it has; a field that is nil means that it has no such step. Package method knows it by its name.
type Engine struct {
	Name   string
	Target Target

	// Takes are the names of the settings that change the result: parameters of
	// declarations, "features", "prior" and "unreached".
	Takes []string

	// Specs are the declarations of the method, or of its kernel and its learner,
	// from which parameters, ranges and help follow; nil if it has no parameter. They must not be
	// changed.
	Specs []*param.Spec

	// Fit predicts every node from the labels of p on its edges as they are, with the given
	// parameters or, if they are nil, with its own choice. Predictions of several problems may be made
	// at the same time.
	Fit func(ctx context.Context, p *Problem, par *Parameters, s *Settings) (*Prediction, error)

	// Choose chooses parameters on splits of p, or for splits that are nil as Fit does. Nil, and a nil choice, mean that there is
	// nothing to choose, or that Fit chooses for each training set anew.
	Choose func(ctx context.Context, p *Problem, splits *choose.Splits, s *Settings) (*Choice, error)

	// Workspace declares the memory of Fit and Choose in addition to the problem, its components and the prediction, for the
	// largest setting that may be chosen: a few constants times the dimensions of the problem. Slabs are cut to
	// Settings.Memory. The error is for settings that the engine refuses. Nil means no memory.
	Workspace func(p *Problem, s *Settings) (budget.Workspace, error)

	// Check refuses settings that leave nothing to choose from.
	Check func(s *Settings) error

	HasRaw bool // whether predictions have the scores of a formula, see [Settings.Raw]; a learner with a classifier for every two classes may have none all the same

	// Baseline returns the estimate of its accuracy, which is one of the baselines; nil: it is none of them.
	Baseline func(b *Baselines) problem.Estimate

	Highest   func(p *Problem, s *Settings) bool  // whether Fit may leave Prediction.Scores nil, see [Settings.Top]; nil: never
	Temporary func(p *Problem, s *Settings) int64 // bytes of temporary files; nil: none
	Mixture   *Mixture                            // nil: it mixes no models
	Model     *Model                              // that it predicts with, see [Engine.Restore]; nil: it learns
}

// Predict predicts every node from the labels of p with the weights of edges of [Engine.Weigh], and with the given parameters or, if
// they are nil, with the engine's own choice.
func (m *Engine) Predict(ctx context.Context, p *Problem, par *Parameters,
	s *Settings) (*Prediction, error) {
	within, _ := m.within(p, s)
	p, err := m.Weigh(ctx, p, s)
	if err != nil {
		return nil, err
	}
	out, err := m.Fit(ctx, p, par, within)
	if err == nil {
		out.Problem = p
		out.EdgeWeights = *p.Learned
	}
	return out, err
}

// Tune chooses parameters on splits of p, see the field Choose.
func (m *Engine) Tune(ctx context.Context, p *Problem, splits *choose.Splits,
	s *Settings) (*Choice, error) {
	if m.Choose == nil {
		return nil, nil
	}
	within, _ := m.within(p, s)
	p, err := m.Weigh(ctx, p, s)
	if err != nil {
		return nil, err
	}
	return m.Choose(ctx, p, splits, within)
}

// NeedsTranspose reports whether the engine needs [graph.Graph.In] of the problem if the graph has directions and
// several processes share its rows.
func (m *Engine) NeedsTranspose() bool {
	return len(m.Specs) > 0 && m.Specs[0].Arcs == param.BothDirections
}

// Stages checks a problem for an engine, and returns the settings to choose from and the stages of a choice or a prediction.
type Stages func(ctx context.Context, p *Problem, par *Parameters, s *Settings) (*Job, error)

// InStages returns an engine whose Fit and Choose go through stages.
func (m Engine) InStages(begin Stages) *Engine {
	m.Fit = func(ctx context.Context, p *Problem, par *Parameters, s *Settings) (*Prediction, error) {
		return begin.predict(ctx, &m, p, par, s)
	}
	m.Choose = begin.tune
	return &m
}

// Entry is a method of a list with its own parameters and settings.
type Entry struct {
	Name   string // as it was written
	Method *Engine

	// Own are the values of parameters that stand behind the name, which are not chosen.
	Own param.Values

	// Settings are the settings of the method, see Settle of package method; nil means the settings of all methods.
	Settings *Settings
}
