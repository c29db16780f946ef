package auto

import (
	"context"
	"encoding/json"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/spread"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/propagate"
)

// Engine is a mixture of multinomial logistic regressions on features of random walks from labels, weighted by the
// likelihood of held-out labels. With at most 15 labels, Engine mixes Poisson learning with the shares of the classes, or
// label propagation if most nodes are far from labels. On a large graph that a block model explains, Engine predicts with
// beliefs. On a graph with negative weights it is lgc, or label propagation if there are too few labels.
//
// If weights of classes are balanced, calibrated probabilities are reweighed, see [problem.Problem.Reweigher].
var Engine = &engine.Engine{
	Name: Spec.Name,
	Takes: append([]string{"effort", "unreached", "node_features", "feature_ids"},
		Spec.Takes()...),
	Specs: []*param.Spec{&Spec},
	Fit:   fit, Extension: extension,
	Workspace: func(p *engine.Problem, s *engine.Settings) (w budget.Workspace, err error) {
		if m := signedMethod(p, s); m != nil {
			return m.Workspace(p, s)
		}
		w, _ = workspace(p, &settings{Settings: *s})
		return w, nil
	},
	Temporary: func(p *engine.Problem, s *engine.Settings) int64 {
		if signedMethod(p, s) != nil {
			return 0
		}
		_, disk := workspace(p, &settings{Settings: *s})
		return disk
	},
	Highest: func(p *engine.Problem, s *engine.Settings) bool {
		return !s.Given.Has(classify.WeightsParam.Name) && keepsHighest(p, &settings{Settings: *s})
	},
	Mixture: &engine.Mixture{FoldCount: choose.MixtureFolds, Propagates: Propagates},
}

// Spec declares auto.
var Spec = param.Spec{
	Name: "auto", Works: param.Undirected | param.Directed | param.Signed,
	Arcs:   param.BothDirections,
	Title:  "logistic regression on walks, eigenvectors, kernels and attributes, chosen by cross-validation",
	Source: "a combination of this project; its parts have the sources of beliefs, cwk, diffusion, poisson, lp and logistic",
	Params: []param.Param{classify.WeightsParam},
}

func fit(ctx context.Context, p *engine.Problem, par *engine.Parameters,
	s *engine.Settings) (*engine.Prediction, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if m := signedMethod(p, s); m != nil {
		out, err := m.Fit(ctx, p, nil, s)
		if err == nil {
			err = keepAlone(m.Name, out.Columns)
		}
		return out, err
	}
	set := &settings{Settings: s.WithDefaults()}
	declared := set.Given
	switch {
	case set.Model != nil:
		if json.Unmarshal(set.Model.Auto, &set.choice) != nil || !set.choice.isValid() {
			return nil, engine.ErrChanged
		}
	case par != nil && par.Declared != nil:
		declared = par.Declared.Values
	}
	if p.Directed {
		set.Baselines = nil
	}
	v, err := Spec.Resolve(Spec.Own(declared), nil)
	if err != nil {
		return nil, err
	}
	set.balanced = v.Word(classify.WeightsParam.Name) == "balanced"
	out, err := predict(ctx, p, set)
	if err != nil || !set.balanced {
		return out, err
	}
	out.Parameters = engine.Parameters{Declared: &engine.Setting{Spec: &Spec, Values: v}}
	out.Settings = 1
	problem := *p
	problem.Shares = nil // the caller reweighs for them, see AdaptToShares
	return out, engine.ReweighBy(ctx, &problem, out, problem.Reweigher(true), set.Workers)
}

// signedMethod returns the engine for a graph with negative weights, on which walks are undefined, and for a kept model
// of such a graph. For other graphs and models it returns nil.
func signedMethod(p *engine.Problem, s *engine.Settings) *engine.Engine {
	if !p.Signed && (s.Model == nil || s.Model.Auto != nil) {
		return nil
	}
	if choose.TooFew(p.Class) {
		return spread.Propagation
	}
	return lgc()
}

func lgc() *engine.Engine { return spread.Of(propagate.Learners().Named("lgc")) }
