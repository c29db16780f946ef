package method

import (
	"context"

	"github.com/heatwalk/heatwalk/method/internal/auto"
	"github.com/heatwalk/heatwalk/spec"
)

// automatic is a mixture of multinomial logistic regressions on features of random walks that start at
// labels, weighted by the likelihood of held-out labels; see package auto for its stages. With 15
// labels or fewer it is Poisson learning, or label propagation where most nodes are many steps from a
// label. On a large graph that a block model explains it is beliefs.
type automatic struct{ noTuning }

// Name implements [Method].
func (automatic) Name() string { return "auto" }

// Takes implements [Method].
func (automatic) Takes() []string {
	return []string{"effort", "unreached", "node_features", "feature_ids"}
}

// Declarations implements [Method].
func (automatic) Declarations() []*spec.Spec { return nil }

// Predict implements [Method].
func (automatic) Predict(ctx context.Context, p *Problem, _ *Parameters, s *Settings) (*Prediction, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	set := autoSettings(s.WithDefaults())
	if s != nil && s.kept != nil {
		set.Choice = s.kept.Auto
	}
	out, err := auto.Predict(ctx, p, set)
	if err != nil {
		return nil, err
	}
	return &Prediction{
		Class: out.Class, Scores: out.Scores, Reached: out.Reached, Estimate: out.Estimate,
		Unfinished: out.Unfinished, BlockModel: out.BlockModel, Omitted: out.Omitted, Work: out.Work, Seconds: out.Seconds,
		model: &keptModel{Auto: out.Choice},
	}, nil
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
