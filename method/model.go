package method

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/internal/blocks"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/internal/auto"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/propagate"
	"github.com/heatwalk/heatwalk/sparse"
)

// Model is a method with everything that a prediction chose and learned, so that [Model.Predict] does
// neither. Its JSON form keeps every bit. It does not hold the labels.
//
//   - Methods that spread labels have the values of their parameters, as beliefs and Correct & Smooth
//     around any of these.
//   - Learners on walks have their weights of walk features and the power of their votes.
//   - Learners on kernels have in addition to these the coefficients of labelled nodes. On another graph
//     they are fitted to the labels again, with the chosen parameters, because large coefficients of
//     both signs are worth nothing once kernel values have changed a little.
//   - auto has its candidates, their weights, the calibration and the gate to beliefs. The coefficients of
//     its regressions are fitted to the labels again, because features such as eigenvectors differ
//     on another graph.
type Model struct{ content keptModel }

// keptModel is the JSON form of a model.
type keptModel struct {
	Method  string `json:"method"`
	RNGSeed uint64 `json:"seed"`
	Low     bool   `json:"low_effort,omitempty"`
	Shares  bool   `json:"empirical_prior,omitempty"`
	Weights string `json:"weights,omitempty"` // of edges; "": as given

	Values param.Values `json:"values,omitempty"` // of a method without a kernel
	Smooth param.Values `json:"smooth,omitempty"` // of Correct & Smooth around the method; nil without it
	Walk   *keptWalk    `json:"walk,omitempty"`
	Kernel *keptKernel  `json:"kernel,omitempty"`
	Auto   *auto.Choice `json:"auto,omitempty"`
}

// keptWalk is a linear function of walk features with its votes.
type keptWalk struct {
	Alpha    float64   `json:"alpha"`
	Steps    int       `json:"steps"`
	MinSteps int       `json:"min_steps"`
	Features int       `json:"features"`
	Pairs    [][2]int  `json:"pairs"`   // classes of a decision above 0 and below, −1: all others
	Weights  []float64 `json:"weights"` // a row for each pair
	Bias     []float64 `json:"bias"`
	Power    float64   `json:"power"`
}

// keptKernel holds the dual coefficients of a learner on a kernel with its votes.
type keptKernel struct {
	Values   param.Values  `json:"values"`
	Learner  param.Values  `json:"learner"`
	Constant param.Values  `json:"constant,omitempty"` // of the learner, never chosen
	Graph    graphSize     `json:"graph"`              // that the coefficients belong to
	Scale    float64       `json:"scale"`
	Pairs    [][2]int      `json:"pairs"`    // as of walks
	Machines []keptMachine `json:"machines"` // one for each pair
	Power    float64       `json:"power"`
}

// graphSize distinguishes a graph from one that has grown.
type graphSize struct {
	Nodes   int     `json:"nodes"`
	Entries int64   `json:"entries"`
	Weight  float64 `json:"weight"` // sum of all degrees
}

// sizeOf returns the size of the graph of a problem.
func sizeOf(p *Problem) graphSize {
	return graphSize{p.Nodes(), sparse.EntriesOf(p.A), blocks.Total(sparse.TeamOf(p.A), p.Degrees)}
}

// keptMachine is a classifier Σ_j Coef[j]·K(x, label Index[j]) − Rho.
type keptMachine struct {
	Index []int     `json:"index"`
	Coef  []float64 `json:"coef"`
	Rho   float64   `json:"rho"`
}

// ErrChanged is wrapped by the error about a model that does not fit its method and classes.
var ErrChanged = errors.New("method: the model does not fit its method and classes")

// ErrNotKept is wrapped by the error about a prediction that cannot be kept as a model.
var ErrNotKept = errors.New("method: the model cannot be kept")

// Method returns a method whose Predict uses the saved weights, see [Model.Predict]. The error is a
// [split.ErrUsage] for a method that this program does not have.
func (m *Model) Method() (Method, error) {
	method, err := named(m.content.Method)
	return keptMethod{method, m}, err
}

// keptMethod is a method with a model.
type keptMethod struct {
	Method
	m *Model
}

// Predict implements [Method].
func (k keptMethod) Predict(ctx context.Context, p *Problem, _ *Parameters, s *Settings) (*Prediction, error) {
	return k.m.Predict(ctx, p, s)
}

// Bytes implements [Sizer].
func (k keptMethod) Bytes(p, _ *Problem, s *Settings) (int64, error) {
	return Bytes(k.Method, p, nil, k.m.settings(s))
}

// CanKeep reports whether predictions of m can be saved by [Keep]; those of learners on walks must fit
// into memory.
func CanKeep(m Method) bool {
	switch m := m.(type) {
	case automatic, labelPropagation, graphMethod, blockBeliefs:
		return true
	case smoothedMethod:
		return CanKeep(m.Method)
	case walkMethod:
		return !perNode(m.learner)
	case kernelMethod:
		return m.learner.Dual
	}
	return false
}

// HasRaw reports whether predictions of a method have the scores of its formula, see [Settings.Raw]. A
// learner with a classifier for every two classes may have none all the same.
func HasRaw(m Method) bool {
	switch m := m.(type) {
	case keptMethod:
		return HasRaw(m.Method)
	case automatic, majority, blockBeliefs:
		return false
	case graphMethod:
		return m.graphLearner != spectralLogistic{}
	case walkMethod:
		return m.learner.path == nil
	case kernelMethod:
		return m.learner.path == nil
	}
	return true
}

// MarshalJSON implements [json.Marshaler].
func (m *Model) MarshalJSON() ([]byte, error) { return json.Marshal(&m.content) }

// UnmarshalJSON implements [json.Unmarshaler]. [Model.Predict] checks that the parts of the model fit each
// other.
func (m *Model) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, &m.content) }

// Keep returns the model of a prediction that m made with the settings. The error wraps [ErrNotKept]
// for a method whose model cannot be kept, and for settings with a prior of each node.
func Keep(m Method, out *Prediction, s *Settings) (*Model, error) {
	switch {
	case out.model == nil:
		return nil, fmt.Errorf("%w: %s has no weights of its own here", ErrNotKept, m.Name())
	case s.Prior.Given != nil:
		return nil, fmt.Errorf("%w: its prior is given for the nodes of one graph", ErrNotKept)
	}
	content := *out.model
	content.Method, content.RNGSeed, content.Low, content.Shares = m.Name(), s.RNGSeed, s.LowEffort, s.Prior.Empirical
	if content.Weights = out.Weights; content.Weights == GivenWeights {
		content.Weights = ""
	}
	return &Model{content}, nil
}

// Predict predicts the nodes of a problem whose labels and classes, in their order, are those that the
// model has learned from. On the same graph the result has the bits of the prediction that was
// kept. Settings other than Raw, Memory, Workers and Progress are those of the model. There is no
// estimate of the accuracy.
func (m *Model) Predict(ctx context.Context, p *Problem, s *Settings) (*Prediction, error) {
	method, err := named(m.content.Method)
	if err != nil {
		return nil, err
	}
	if err := m.validate(p, method); err != nil {
		return nil, err
	}
	out, err := m.predict(ctx, p, method, m.settings(s))
	if err == nil && slices.ContainsFunc(out.Scores.Data, func(x float32) bool { return x != x }) {
		err = ErrChanged // by numbers that no method learns
	}
	return out, err
}

// predict predicts by a valid model.
func (m *Model) predict(ctx context.Context, p *Problem, by Method, set *Settings) (*Prediction, error) {
	p, weights, err := Weigh(ctx, by, p, set)
	if err != nil {
		return nil, err
	}
	within := by
	if smoothed, is := by.(smoothedMethod); is {
		within = smoothed.Method
	}
	var par *Parameters
	if k, is := within.(kernelMethod); is && m.content.Kernel.Graph != sizeOf(p) {
		set.model, set.Given = nil, param.Values{}
		maps.Copy(set.Given, m.content.Kernel.Constant)
		maps.Copy(set.Given, m.content.Smooth)
		par = &Parameters{Kernel: &Setting{&k.kernel.Spec, m.content.Kernel.Values}, Declared: &Setting{k.learner.spec(), m.content.Kernel.Learner}}
	}
	out, err := by.Predict(ctx, p, par, set)
	if err == nil {
		out.Weights = weights
	}
	return out, err
}

// settings returns settings with those of the model.
func (m *Model) settings(s *Settings) *Settings {
	set := *s
	set.RNGSeed, set.LowEffort, set.model = m.content.RNGSeed, m.content.Low, &m.content
	set.Weights = cmp.Or(m.content.Weights, GivenWeights)
	if m.content.Shares {
		set.Prior = cwk.Prior{Empirical: true, Pseudo: 1}
	}
	return &set
}

// validate returns an error unless the model fits the problem and its method.
func (m *Model) validate(p *Problem, by Method) error {
	k := &m.content
	var ok bool
	switch by := by.(type) {
	case smoothedMethod:
		v, err := propagate.CorrectAndSmooth.Resolve(k.Smooth, nil)
		if err != nil {
			return fmt.Errorf("%w: %v", ErrChanged, err)
		}
		k.Smooth = v
		return m.validate(p, by.Method)
	case automatic:
		v, err := autoSpec.Resolve(k.Values, nil)
		k.Values, ok = v, err == nil && k.Auto != nil && k.Auto.Valid()
	case walkMethod:
		w := k.Walk
		ok = w != nil && fitsClasses(w.Pairs, len(p.Names)) && w.Alpha >= 0 && w.Alpha <= 1 && w.MinSteps >= 0 && w.Steps >= w.MinSteps &&
			w.Features == (w.Steps-w.MinSteps+1)*len(p.Names) && len(w.Bias) == len(w.Pairs) && len(w.Weights) == len(w.Pairs)*w.Features
	case kernelMethod:
		if ok = k.Kernel != nil && fitsClasses(k.Kernel.Pairs, len(p.Names)) && len(k.Kernel.Machines) == len(k.Kernel.Pairs); ok {
			v, err := by.kernel.Resolve(k.Kernel.Values, nil)
			if err != nil {
				return fmt.Errorf("%w: %v", ErrChanged, err)
			}
			k.Kernel.Values = v
			if v, err = by.learner.spec().Resolve(k.Kernel.Learner, nil); err != nil {
				return fmt.Errorf("%w: %v", ErrChanged, err)
			}
			for name := range k.Kernel.Learner { // values of constants are apart
				k.Kernel.Learner[name] = v[name]
			}
			for _, machine := range k.Kernel.Machines {
				ok = ok && len(machine.Index) == len(machine.Coef)
				for _, i := range machine.Index {
					ok = ok && i >= 0 && i < len(p.Row)
				}
			}
		}
	case labelPropagation, graphMethod, blockBeliefs:
		v, err := by.Declarations()[0].Resolve(k.Values, nil)
		if err != nil {
			return fmt.Errorf("%w: %v", ErrChanged, err)
		}
		k.Values, ok = v, true
	}
	if !ok {
		return ErrChanged
	}
	return nil
}

// fitsClasses reports whether the pairs are every two of the classes, or each against the rest, in order.
func fitsClasses(pairs [][2]int, classes int) bool {
	rest, votes := len(pairs) == classes, len(pairs) == classes*(classes-1)/2
	next := 0
	for i := range classes {
		rest = rest && pairs[i] == [2]int{i, classify.Rest}
		for j := i + 1; votes && j < classes; j++ {
			votes = pairs[next] == [2]int{i, j}
			next++
		}
	}
	return rest || votes
}

// keptPairs returns the JSON form of pairs of classes, pairsOf the pairs.
func keptPairs(pairs classify.Pairs) (list [][2]int) {
	for _, p := range pairs {
		list = append(list, [2]int{p.Positive, p.Negative})
	}
	return list
}

func pairsOf(list [][2]int) (pairs classify.Pairs) {
	for _, p := range list {
		pairs = append(pairs, classify.Pair{Positive: p[0], Negative: p[1]})
	}
	return pairs
}

// model returns the linear functions of a kept walk.
func (w *keptWalk) model(classes int) (*classify.LinearModel, Parameters, choose.Votes) {
	m := &classify.LinearModel{Classes: classes, Features: w.Features, Pairs: pairsOf(w.Pairs), Weights: w.Weights, Bias: w.Bias}
	return m, onWalk(w.Alpha, w.Steps, w.MinSteps, Plain), choose.VotesOf(w.Power)
}

// model returns the classifiers of a kept kernel.
func (k *keptKernel) model(classes, items int) *classify.Model {
	m := &classify.Model{Classes: classes, Items: items, Pairs: pairsOf(k.Pairs)}
	for _, machine := range k.Machines {
		m.Machines = append(m.Machines, classify.Machine{Index: machine.Index, Coef: machine.Coef, Rho: machine.Rho})
	}
	return m
}
