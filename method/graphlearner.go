package method

import (
	"context"

	"github.com/heatwalk/heatwalk/method/internal/graphlearner"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/validate"
)

// graphLearner is a learner that scores all nodes of a graph at once, as a method.
type graphLearner struct{ graphlearner.Learner }

func graphLearners() (list []Method) {
	for _, l := range graphlearner.All() {
		list = append(list, graphLearner{l})
	}
	return list
}

// Name implements [Method].
func (m graphLearner) Name() string { return m.Declaration().Name }

// Takes implements [Method].
func (m graphLearner) Takes() []string { return m.Declaration().Takes() }

// Declarations implements [Method].
func (m graphLearner) Declarations() []*spec.Spec { return []*spec.Spec{m.Declaration()} }

// begin returns the settings of the learner on a problem that it can learn from.
func (m graphLearner) begin(p *Problem, s *Settings) (*graphlearner.Settings, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if p.Directed {
		return nil, &problem.Error{Method: m.Name(), Err: problem.ErrDirected}
	}
	set := s.WithDefaults()
	set.Memory = p.Remaining(set.Memory)
	return m.settings(&set), set.check()
}

func (m graphLearner) settings(s *Settings) *graphlearner.Settings {
	return &graphlearner.Settings{
		Given: m.Declaration().Own(s.Given), Tried: s.trying(m.Declaration()), Folds: s.folds, Sample: s.Sample,
		RNGSeed: s.RNGSeed, Memory: s.Memory, Workers: s.Workers, Progress: s.Progress,
		Count: func(settings, units int, add func(unit int, right []int64) (tested int, err error)) ([]int64, error) {
			found, err := s.Tally.count(settings, units, add)
			if err != nil {
				return nil, err
			}
			return found.Right, nil
		},
	}
}

// Predict implements [Method].
func (m graphLearner) Predict(ctx context.Context, p *Problem, par *Parameters, s *Settings) (*Prediction, error) {
	set, err := m.begin(p, s)
	if err != nil {
		return nil, err
	}
	var v spec.Values
	if par != nil {
		v = par.Declared.Values
	}
	a, err := m.Learner.Predict(ctx, p, v, set)
	if err != nil {
		return nil, err
	}
	out := &Prediction{
		Class: a.Class, Scores: a.Scores, Raw: a.Raw, Reached: a.Reached, Estimate: a.Estimate,
		Unfinished: a.Unfinished, Work: a.Work, Seconds: a.Seconds,
	}
	if d := m.Declaration(); len(d.Params) > 0 {
		out.Parameters, out.Settings = Parameters{Declared: &Setting{d, a.Values}}, a.Settings
	}
	return out, nil
}

// Tune implements [Method].
func (m graphLearner) Tune(ctx context.Context, p *Problem, splits *validate.Splits, s *Settings) (*Choice, error) {
	if len(m.Declaration().Params) == 0 {
		return nil, nil
	}
	set, err := m.begin(p, s)
	if err != nil {
		return nil, err
	}
	c, work, err := m.Learner.Tune(ctx, p, splits, set)
	if err != nil {
		return nil, err
	}
	return &Choice{
		Parameters: Parameters{Declared: &Setting{m.Declaration(), c.Values}},
		Accuracy:   c.Accuracy, Tested: c.Tested, Settings: c.Settings, Work: work,
	}, nil
}

// Bytes implements [Sizer].
func (m graphLearner) Bytes(p, tuned *Problem, s *Settings) (int64, error) {
	set := *s
	set.Memory = p.Remaining(set.Memory)
	labels := len(p.Row)
	if tuned != nil {
		labels = len(tuned.Row)
	}
	return m.Learner.Bytes(p, labels, m.settings(&set))
}
