package method

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/internal/auto"
	"github.com/heatwalk/heatwalk/spec"
)

// Model is a method with everything that a prediction chose and learned, so that [Model.Predict] does
// neither. Its JSON form keeps every bit. It does not hold the labels.
//
//   - Methods that spread labels have the values of their parameters.
//   - Learners on walks have their weights of walk features, learners on kernels the coefficients of
//     labelled nodes, and both the power of their votes.
//   - auto has its candidates, their weights, the calibration and the gate to beliefs. The coefficients of
//     its regressions are fitted to the labels again, because features such as eigenvectors differ
//     on another graph.
type Model struct{ kept keptModel }

// keptModel is the JSON form of a model.
type keptModel struct {
	Method  string `json:"method"`
	RNGSeed uint64 `json:"seed"`
	Low     bool   `json:"low_effort,omitempty"`
	Shares  bool   `json:"empirical_prior,omitempty"`

	Values spec.Values  `json:"values,omitempty"` // of a method without a kernel
	Walk   *keptWalk    `json:"walk,omitempty"`
	Kernel *keptKernel  `json:"kernel,omitempty"`
	Auto   *auto.Choice `json:"auto,omitempty"`
}

// keptWalk is a linear function of walk features with its votes.
type keptWalk struct {
	Alpha    float64        `json:"alpha"`
	Steps    int            `json:"steps"`
	MinSteps int            `json:"min_steps"`
	Features int            `json:"features"`
	Pairs    classify.Pairs `json:"pairs"`
	Weights  []float64      `json:"weights"` // a row for each pair
	Bias     []float64      `json:"bias"`
	Power    float64        `json:"power"`
}

// keptKernel holds the dual coefficients of a learner on a kernel with its votes.
type keptKernel struct {
	Values   spec.Values    `json:"values"`
	Scale    float64        `json:"scale"`
	Pairs    classify.Pairs `json:"pairs"`
	Machines []keptMachine  `json:"machines"` // one for each pair
	Power    float64        `json:"power"`
}

// keptMachine is a classifier Σ_j Coef[j]·K(x, label Index[j]) − Rho.
type keptMachine struct {
	Index []int     `json:"index"`
	Coef  []float64 `json:"coef"`
	Rho   float64   `json:"rho"`
}

// ErrNotKept is wrapped by the error about a prediction that cannot be kept as a model.
var ErrNotKept = errors.New("method: the model cannot be kept")

// Method returns the name of the method.
func (m *Model) Method() string { return m.kept.Method }

// MarshalJSON implements [json.Marshaler].
func (m *Model) MarshalJSON() ([]byte, error) { return json.Marshal(&m.kept) }

// UnmarshalJSON implements [json.Unmarshaler]. It checks the model against nothing but itself.
func (m *Model) UnmarshalJSON(text []byte) error {
	if err := json.Unmarshal(text, &m.kept); err != nil {
		return err
	}
	if w := m.kept.Walk; w != nil && (len(w.Pairs) == 0 || len(w.Bias) != len(w.Pairs) || len(w.Weights) != len(w.Pairs)*w.Features) {
		return errors.New("method: weights and classes of a model do not fit")
	}
	if k := m.kept.Kernel; k != nil && (len(k.Pairs) == 0 || len(k.Machines) != len(k.Pairs)) {
		return errors.New("method: coefficients and classes of a model do not fit")
	}
	return nil
}

// Keep returns the model of a prediction that m made with the settings. The error wraps [ErrNotKept]
// for a method whose model cannot be kept, and for settings with a prior of each node.
func Keep(m Method, out *Prediction, s *Settings) (*Model, error) {
	switch {
	case out.model == nil:
		return nil, fmt.Errorf("%w: %s has no weights of its own here", ErrNotKept, m.Name())
	case s.Prior.Given != nil:
		return nil, fmt.Errorf("%w: its prior is given for the nodes of one graph", ErrNotKept)
	}
	kept := *out.model
	kept.Method, kept.RNGSeed, kept.Low, kept.Shares = m.Name(), s.RNGSeed, s.LowEffort, s.Prior.Empirical
	return &Model{kept}, nil
}

// Predict predicts the nodes of a problem whose labels and classes, in their order, are those that the
// model has learned from. On the same graph the result has the bits of the prediction that was
// kept. Settings other than Raw, Memory, Workers and Progress are those of the model. There is no
// estimate of the accuracy.
func (m *Model) Predict(ctx context.Context, p *Problem, s *Settings) (*Prediction, error) {
	by, err := named(m.kept.Method)
	if err != nil {
		return nil, err
	}
	if err := m.check(p, by); err != nil {
		return nil, err
	}
	return by.Predict(ctx, p, nil, m.settings(s))
}

// Bytes returns the memory of Predict, see [Bytes].
func (m *Model) Bytes(p *Problem, s *Settings) (int64, error) {
	by, err := named(m.kept.Method)
	if err != nil {
		return 0, err
	}
	return Bytes(by, p, nil, m.settings(s))
}

// settings returns settings with those of the model.
func (m *Model) settings(s *Settings) *Settings {
	set := *s
	set.RNGSeed, set.LowEffort, set.kept = m.kept.RNGSeed, m.kept.Low, &m.kept
	if m.kept.Shares {
		set.Prior = cwk.Prior{Empirical: true, Pseudo: 1}
	}
	return &set
}

// check returns an error unless the model fits the problem and its method.
func (m *Model) check(p *Problem, by Method) error {
	wrong := errors.New("method: the model does not fit its method and classes; it was changed")
	k, fits := &m.kept, func(of classify.Pairs) bool {
		for _, pair := range of {
			if pair.Positive < 0 || pair.Positive >= len(p.Names) || pair.Negative >= len(p.Names) || pair.Negative < 0 && pair.Negative != classify.Rest {
				return false
			}
		}
		return true
	}
	var ok bool
	switch by := by.(type) {
	case automatic:
		ok = k.Auto != nil
	case walkMethod:
		w := k.Walk
		ok = w != nil && fits(w.Pairs) && w.MinSteps >= 0 && w.Steps >= w.MinSteps && w.Features == (w.Steps-w.MinSteps+1)*len(p.Names)
	case kernelMethod:
		if ok = k.Kernel != nil && fits(k.Kernel.Pairs); ok {
			v, err := by.kernel.Resolve(k.Kernel.Values, nil)
			if err != nil {
				return err
			}
			k.Kernel.Values = v
			for _, machine := range k.Kernel.Machines {
				ok = ok && len(machine.Index) == len(machine.Coef)
				for _, i := range machine.Index {
					ok = ok && i >= 0 && i < len(p.Row)
				}
			}
		}
	case labelPropagation, graphMethod:
		v, err := by.(Method).Declarations()[0].Resolve(k.Values, nil)
		if err != nil {
			return err
		}
		k.Values, ok = v, true
	}
	if !ok {
		return wrong
	}
	return nil
}

// model returns the linear functions of a kept walk.
func (w *keptWalk) model(classes int) (*classify.LinearModel, Parameters, choose.Votes) {
	m := &classify.LinearModel{Classes: classes, Features: w.Features, Pairs: w.Pairs, Weights: w.Weights, Bias: w.Bias}
	return m, Parameters{Alpha: w.Alpha, Steps: w.Steps, MinSteps: w.MinSteps, Features: Plain}, choose.VotesOf(w.Power)
}

// model returns the classifiers of a kept kernel.
func (k *keptKernel) model(classes, items int) *classify.Model {
	m := &classify.Model{Classes: classes, Items: items, Pairs: k.Pairs}
	for _, machine := range k.Machines {
		m.Machines = append(m.Machines, classify.Machine{Index: machine.Index, Coef: machine.Coef, Rho: machine.Rho})
	}
	return m
}
