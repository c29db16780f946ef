package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/sides"
	"github.com/heatwalk/heatwalk/param"
)

// Model is a method with everything that a prediction chose. It has neither labels nor coefficients: an engine of
// [Engine.Restore] fits the learner again, because features such as eigenvectors differ on a changed graph. JSON keeps every
// bit of a number.
type Model struct {
	Method  string `json:"method"`
	RNGSeed uint64 `json:"seed"`
	Effort  string `json:"effort,omitempty"` // "": normal
	Shares  bool   `json:"empirical_prior,omitempty"`

	// Origin describes the graph that the model was learned from, and its edge weights. The caller may fill in fields of
	// models of an older format.
	Origin sides.Origin `json:"origin"`

	Values param.Values `json:"values,omitempty"`
	Power  float64      `json:"power,omitempty"` // power of the votes of a learner on a kernel

	Auto json.RawMessage `json:"auto,omitempty"` // Prediction.Mixed

	LabelSets *LabelSetModel `json:"-"` // nil: each node has one label

	// Measured has the errors of predicted numbers when the model was learned; nil: classes, or an older model.
	Measured *MeasuredNumbers `json:"measured,omitempty"`

	Shrinkage float64 `json:"shrinkage,omitempty"` // shrinkage of predicted numbers; 0: none

	// Usual states that the values of a learner on a kernel are for the kernel divided by the mean of its diagonal over the
	// labelled nodes, as in models of older formats.
	Usual bool `json:"-"`
}

// ErrChanged is wrapped by errors about a model that does not fit its method and classes.
var ErrChanged = errors.New("method: the model does not fit its method and classes")

// ErrNotKept is wrapped by errors about a prediction that cannot be kept as a model.
var ErrNotKept = errors.New("method: the model cannot be kept")

// Restore returns m as an engine that predicts with a kept model.
func (m *Engine) Restore(kept *Model) *Engine {
	e := *m
	e.Model = kept
	e.Choose = nil
	e.Baseline = nil
	e.Mixture = nil
	e.Fit = func(ctx context.Context, p *Problem, _ *Parameters, s *Settings) (*Prediction, error) {
		if err := kept.compare(p); err != nil {
			return nil, err
		}
		return kept.predict(ctx, m, kept.signed(p), s)
	}
	if m.Workspace != nil {
		e.Workspace = func(p *Problem, s *Settings) (budget.Workspace, error) {
			return m.Workspace(kept.signed(p), kept.settings(s))
		}
	}
	return &e
}

// Weight returns the weight that the method learned from, for an edge of a kind with weight w. An unknown kind counts as 1.
func (m *Model) Weight(kind string, w float64) float64 {
	function := (&Settings{Weights: m.Origin.Weights}).weighting()
	if function.value != nil {
		w = function.value(0, 0, w)
	}
	if kept := m.Origin.Edges; kept != nil {
		if factor, isKept := kept.Kinds[kind]; isKept {
			w *= factor
		}
	}
	return w
}

func (m *Model) compare(p *Problem) error {
	o := &m.Origin
	if p.Signed && !o.Signed && (m.Auto != nil || o.Weights != "") {
		return &sides.Difference{Setting: "weights", Result: "positive", Graph: "signed"}
	}
	return o.Compare(p.Origin)
}

// signed returns p, marked as a graph with negative weights if the graph of the model was, because methods differ on such
// graphs.
func (m *Model) signed(p *Problem) *Problem {
	if p.Signed || !m.Origin.Signed {
		return p
	}
	q := *p
	g := *p.Graph
	g.Signed = true
	q.Graph = &g
	return &q
}

// Origin returns the origin of the predicted graph and of its edge weights.
func (p *Prediction) Origin() *sides.Origin {
	o := new(sides.Origin)
	if p.Problem != nil && p.Problem.Origin != nil {
		o = p.Problem.Origin
	}
	weights := p.Weights
	if weights == GivenWeights {
		weights = ""
	}
	return o.Learn(p.Factors, weights)
}

// Keep returns the model of a prediction that m made with the settings s. If s has a prior for each node, the error wraps
// [ErrNotKept].
func (m *Engine) Keep(out *Prediction, s *Settings) (model *Model, err error) {
	s = cmp.Or(s, new(Settings))
	if s.Prior.Given != nil {
		return nil, fmt.Errorf("%w: its prior is given for the nodes of one graph",
			ErrNotKept)
	}
	model = &Model{
		Method: m.Name, RNGSeed: s.RNGSeed, Effort: s.Effort,
		Shares: s.Prior.Empirical, Values: out.Parameters.values(),
		Power: out.Power, LabelSets: out.LabelSets, Origin: *out.Origin(),
	}
	if out.Contest != nil {
		model.Method = out.Contest.Method
		model.Shrinkage = out.Contest.Shrinkage
		model.Measured = out.Contest.measured()
	}
	if out.Mixed != nil {
		model.Auto, err = json.Marshal(out.Mixed)
	}
	return model, err
}

// predict predicts the nodes of p with the model's edge weights.
func (m *Model) predict(ctx context.Context, e *Engine, p *Problem,
	s *Settings) (*Prediction, error) {
	for _, spec := range e.Specs {
		if _, err := spec.Resolve(spec.Own(m.Values), nil); err != nil {
			return nil, fmt.Errorf("%w: %v", ErrChanged, err)
		}
	}
	if e.Mixture != nil && m.Auto == nil && m.Values == nil { // values of a signed graph
		return nil, ErrChanged
	}
	s = m.settings(s)
	p, err := e.Weigh(ctx, p, s)
	if err != nil {
		return nil, err
	}
	out, err := e.Fit(ctx, p, nil, s)
	if err != nil {
		return nil, err
	}
	if out.Scores != nil &&
		slices.ContainsFunc(out.Scores.Data,
			func(x float32) bool { return x != x }) {
		return nil, ErrChanged // a model with numbers that no method learns
	}
	out.Estimate = problem.Estimate{}
	return out, nil
}

func (m *Model) settings(s *Settings) *Settings {
	set := *s
	set.RNGSeed, set.Effort, set.Given, set.Fixed, set.Model = m.RNGSeed,
		m.Effort, m.Values, true, m
	set.Weights = cmp.Or(m.Origin.Weights, GivenWeights)
	if m.Shares {
		set.Prior = cwk.Prior{Empirical: true, Pseudo: 1}
	}
	return &set
}
