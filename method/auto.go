package method

import (
	"context"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/internal/auto"
	"github.com/heatwalk/heatwalk/method/spread"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/propagate"
)

// automatic is a mixture of multinomial logistic regressions on features of random walks that start at
// labels, weighted by the likelihood of held-out labels; see package auto for its stages. With 15
// labels or fewer it is Poisson learning, or label propagation where most nodes are many steps from a
// label, mixed with the shares of the classes. On a large graph that a block model explains it is beliefs.
//
// With balanced weights of classes its probabilities are reweighed by these, because it is calibrated by
// the likelihood of held-out labels: see [problem.Problem.Reweigher].
// On a graph with negative weights it is learning with local and global consistency, or label propagation with too few labels.
var automatic = &engine.Engine{
	Name: autoSpec.Name,
	Takes: append([]string{"effort", "unreached", "node_features", "feature_ids"},
		autoSpec.Takes()...),
	Specs: []*param.Spec{&autoSpec},
	Fit:   predictAuto,
	Workspace: func(p *engine.Problem, s *engine.Settings) (w budget.Workspace, err error) {
		if m := signedMethod(p, s); m != nil {
			return m.Workspace(p, s)
		}
		w, _ = auto.Workspace(p, autoSettings(p, *s))
		return w, nil
	},
	Temporary: func(p *engine.Problem, s *engine.Settings) int64 {
		if signedMethod(p, s) != nil {
			return 0
		}
		_, disk := auto.Workspace(p, autoSettings(p, *s))
		return disk
	},
	Highest: func(p *engine.Problem, s *engine.Settings) bool {
		return !s.Given.Has(classify.WeightsParam.Name) && auto.KeepsHighest(p, autoSettings(p, *s))
	},
	Mixture: &engine.Mixture{FoldCount: auto.FoldCount, Propagates: auto.Propagates},
}

var autoSpec = param.Spec{
	Name: "auto", Works: param.Undirected | param.Directed | param.Signed,
	Arcs:   param.BothDirections,
	Title:  "logistic regression on walks, eigenvectors, kernels and attributes, chosen by cross-validation",
	Source: "a combination of this project; its parts have the sources of beliefs, cwk, diffusion, poisson, lp and logistic",
	Params: []param.Param{classify.WeightsParam},
}

// predictAuto is the Fit of auto.
func predictAuto(ctx context.Context, p *engine.Problem, par *engine.Parameters,
	s *engine.Settings) (*engine.Prediction, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if m := signedMethod(p, s); m != nil {
		return m.Fit(ctx, p, nil, s)
	}
	options := s.WithDefaults()
	set := autoSettings(p, options)
	declared := options.Given
	switch {
	case options.Model != nil:
		set.Choice = options.Model.Auto
	case par != nil && par.Declared != nil:
		declared = par.Declared.Values
	}
	v, err := autoSpec.Resolve(autoSpec.Own(declared), nil)
	if err != nil {
		return nil, err
	}
	set.Balanced = v.Word(classify.WeightsParam.Name) == "balanced"
	result, err := auto.Predict(ctx, p, set)
	if err != nil {
		return nil, err
	}
	out := &engine.Prediction{
		Class: result.Class, Scores: result.Scores, Highest: result.Highest,
		Reached: result.Reached, Estimate: result.Estimate, HeldOut: result.HeldOut,
		Places:     result.Places,
		Unfinished: result.Unfinished, BlockModel: result.BlockModel,
		Omitted: result.Omitted, Work: result.Work, Seconds: result.Seconds,
		Mixed: result.Choice, Form: result.Form,
	}
	if !set.Balanced {
		return out, nil
	}
	out.Parameters = engine.Parameters{Declared: &engine.Setting{Spec: &autoSpec, Values: v}}
	out.Settings = 1
	problem := *p
	problem.Shares = nil // the caller reweighs by them, see AdaptToShares
	return out, engine.ReweighBy(ctx, &problem, out, problem.Reweigher(true),
		options.Workers)
}

// autoSettings converts the settings of a prediction to settings of package auto.
func autoSettings(p *engine.Problem, s engine.Settings) *auto.Settings {
	set := &auto.Settings{
		LowEffort: s.LowEffort, Unmeasured: s.Unmeasured, RNGSeed: s.RNGSeed, Memory: s.Memory,
		Workers:  s.Workers,
		Progress: s.Progress, Targets: s.Targets, Explain: s.Explain, Highest: s.Top > 0,
	}
	if s.Baselines != nil && !p.Directed {
		set.Propagated = s.Baselines.Held
	}
	return set
}

// signedMethod returns what auto does on graphs with negative weights, because its other parts are walks, and by a model of
// such a graph; nil elsewhere.
func signedMethod(p *engine.Problem, s *engine.Settings) *engine.Engine {
	if !p.Signed && (s.Model == nil || s.Model.Auto != nil) {
		return nil
	}
	if choose.TooFew(p.Class) {
		return spread.Propagation
	}
	return consistency()
}

// consistency returns learning with local and global consistency.
func consistency() *engine.Engine { return spread.Of(propagate.Learners().Named("lgc")) }
