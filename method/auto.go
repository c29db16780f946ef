package method

import (
	"context"

	"github.com/heatwalk/heatwalk/method/internal/auto"
	"github.com/heatwalk/heatwalk/spec"
)

// automatic is multinomial logistic regression on what unabsorbed walks from labels say
// of a node. Rows of labelled nodes are honest: of walks that know neither the label of
// the node nor, with many labels, those of a fifth of all. Some weights are shared by
// all classes and pulled towards what suits graphs where neighbours agree; others learn
// which class goes to which. Models with and without these answer together, each as much as
// it makes the labels of other folds likely, and Poisson learning beside them where labels
// are few and neighbours agree; with 15 labels or fewer the scores are its alone. Label
// propagation has a part in the answer, or all of it, where it makes the labels of other folds
// likelier than any model does: on roads, grids and other graphs in which labels are many steps
// apart. There it is in Poisson learning's place with 15 labels or fewer.
//
// Where edges have a direction it learns from the graph without directions, and from steps
// along and against them.
//
// Where nodes have attributes, scores of ridges on these, each label's by all others, are
// columns of the same model. What is learned from them alone, from walks alone and from both,
// and label propagation, answer together, as mixed as makes the labels of other folds likeliest.
type automatic struct{ untuned }

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
	out, err := auto.Predict(ctx, p, autoSettings(s.WithDefaults()))
	if err != nil {
		return nil, err
	}
	return &Prediction{
		Class: out.Class, Scores: out.Scores, Reached: out.Reached, Estimate: out.Estimate,
		Unfinished: out.Unfinished, Work: out.Work, Seconds: out.Seconds,
	}, nil
}

func autoSettings(s Settings) *auto.Settings {
	set := &auto.Settings{
		LowEffort: s.LowEffort, RNGSeed: s.RNGSeed, Memory: s.Memory, Workers: s.Workers,
		Progress: func(stage string, done, total int64) { s.Progress(stage, float64(done)/float64(total)) },
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
