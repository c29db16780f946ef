package method

import (
	"context"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/method/internal/auto"
	"github.com/heatwalk/heatwalk/param"
)

// automatic is a mixture of multinomial logistic regressions on features of random walks that start at
// labels, weighted by the likelihood of held-out labels; see package auto for its stages. With 15
// labels or fewer it is Poisson learning, or label propagation where most nodes are many steps from a
// label. On a large graph that a block model explains it is beliefs.
//
// With balanced weights of classes its probabilities are reweighed by these, because it is calibrated by
// the likelihood of held-out labels: see [problem.Problem.Reweigher].
type automatic struct{ noTuning }

var autoSpec = param.Spec{
	Name: "auto", Works: param.Undirected | param.Directed,
	Title:  "logistic regression on walks, eigenvectors, a diffusion kernel and attributes, chosen by cross-validation",
	Source: "a combination of this project; its parts have the sources of beliefs, cwk, diffusion, poisson, lp and logistic",
	Params: []param.Param{classify.WeightsParam},
}

// Name implements [Method].
func (automatic) Name() string { return autoSpec.Name }

// Takes implements [Method].
func (automatic) Takes() []string {
	return append([]string{"effort", "unreached", "node_features", "feature_ids"}, autoSpec.Takes()...)
}

// Declarations implements [Method].
func (automatic) Declarations() []*param.Spec { return []*param.Spec{&autoSpec} }

// Predict implements [Method].
func (automatic) Predict(ctx context.Context, p *Problem, par *Parameters, s *Settings) (*Prediction, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	of := s.WithDefaults()
	set, given := autoSettings(of), of.Given
	switch {
	case of.kept != nil:
		set.Choice, given = of.kept.Auto, of.kept.Values
	case par != nil && par.Declared != nil:
		given = par.Declared.Values
	}
	v, err := autoSpec.Resolve(autoSpec.Own(given), nil)
	if err != nil {
		return nil, err
	}
	set.Balanced = v.Word(classify.WeightsParam.Name) == "balanced"
	found, err := auto.Predict(ctx, p, set)
	if err != nil {
		return nil, err
	}
	out := &Prediction{
		Class: found.Class, Scores: found.Scores, Reached: found.Reached, Estimate: found.Estimate,
		Unfinished: found.Unfinished, BlockModel: found.BlockModel, Omitted: found.Omitted, Work: found.Work, Seconds: found.Seconds,
		model: &keptModel{Auto: found.Choice, Values: v},
	}
	if !set.Balanced {
		return out, nil
	}
	out.Parameters, out.Settings = Parameters{Declared: &Setting{&autoSpec, v}}, 1
	own := *p
	own.Shares = nil // the caller reweighs by them, see AdaptToShares
	return out, reweighBy(ctx, &own, out, own.Reweigher(true), of.Workers)
}

func autoSettings(s Settings) *auto.Settings {
	set := &auto.Settings{
		LowEffort: s.LowEffort, Thorough: s.Thorough, RNGSeed: s.RNGSeed, Memory: s.Memory, Workers: s.Workers,
		Progress: s.Progress,
	}
	if s.baselines != nil {
		set.Propagated = s.baselines.answers
	}
	return set
}

// Bytes implements [Sizer].
func (automatic) Bytes(p, _ *Problem, s *Settings) (int64, error) {
	return auto.Bytes(p, autoSettings(*s)), nil
}
