package method

import (
	"context"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/internal/auto"
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
var automatic = &Engine{
	Name: autoSpec.Name,
	Takes: append([]string{"effort", "unreached", "node_features", "feature_ids"},
		autoSpec.Takes()...),
	Specs: []*param.Spec{&autoSpec},
	Fit:   predictAuto,
	Workspace: func(p *Problem, s *Settings) (w budget.Workspace, err error) {
		if m := signedMethod(p, s); m != nil {
			return m.Workspace(p, s)
		}
		w, _ = auto.Workspace(p, autoSettings(p, *s))
		return w, nil
	},
	Temporary: func(p *Problem, s *Settings) int64 {
		if signedMethod(p, s) != nil {
			return 0
		}
		_, disk := auto.Workspace(p, autoSettings(p, *s))
		return disk
	},
	Highest: func(p *Problem, s *Settings) bool {
		return !s.Given.Has(classify.WeightsParam.Name) && auto.KeepsHighest(p, autoSettings(p, *s))
	},
	Mixture: &Mixture{auto.FoldCount, auto.Propagates},
}

var autoSpec = param.Spec{
	Name: "auto", Works: param.Undirected | param.Directed | param.Signed,
	Arcs:   param.BothDirections,
	Title:  "logistic regression on walks, eigenvectors, kernels and attributes, chosen by cross-validation",
	Source: "a combination of this project; its parts have the sources of beliefs, cwk, diffusion, poisson, lp and logistic",
	Params: []param.Param{classify.WeightsParam},
}

// predictAuto is the Fit of auto.
func predictAuto(ctx context.Context, p *Problem, par *Parameters,
	s *Settings) (*Prediction, error) {
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
	case options.model != nil:
		set.Choice = options.model.Auto
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
	out := &Prediction{
		Class: result.Class, Scores: result.Scores, Highest: result.Highest,
		Reached: result.Reached, Estimate: result.Estimate, HeldOut: result.HeldOut,
		Places:     result.Places,
		Unfinished: result.Unfinished, BlockModel: result.BlockModel,
		Omitted: result.Omitted, Work: result.Work, Seconds: result.Seconds,
		mixed: result.Choice, Form: result.Form,
	}
	if !set.Balanced {
		return out, nil
	}
	out.Parameters = Parameters{Declared: &Setting{&autoSpec, v}}
	out.Settings = 1
	problem := *p
	problem.Shares = nil // the caller reweighs by them, see AdaptToShares
	return out, reweighBy(ctx, &problem, out, problem.Reweigher(true),
		options.Workers)
}

// autoSettings returns the settings of package auto for those of a prediction.
func autoSettings(p *Problem, s Settings) *auto.Settings {
	set := &auto.Settings{
		LowEffort: s.LowEffort, Unmeasured: s.Unmeasured, RNGSeed: s.RNGSeed, Memory: s.Memory,
		Workers:  s.Workers,
		Progress: s.Progress, Targets: s.Targets, Explain: s.Explain, Highest: s.Top > 0,
	}
	if s.baselines != nil && !p.Directed {
		set.Propagated = s.baselines.Held
	}
	return set
}

// signedMethod returns what auto does on graphs with negative weights, because its other parts are walks, and by a model of
// such a graph; nil elsewhere.
func signedMethod(p *Problem, s *Settings) *Engine {
	if !p.Signed && (s.model == nil || s.model.Auto != nil) {
		return nil
	}
	if choose.TooFew(p.Class) {
		return labelPropagation
	}
	return consistency()
}

// consistency returns learning with local and global consistency.
func consistency() *Engine { return spreading{propagate.Learners().Named("lgc")}.engine() }
