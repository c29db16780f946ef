package method

import (
	"cmp"
	"context"
	"maps"
	"math"
	"time"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
)

// job is a choice or a prediction by an engine on a problem: the settings to choose from, and the stages of the engine.
type job struct {
	p       *Problem
	set     *Settings
	out     *Prediction
	learner *classify.Learner // on a walk, a kernel or Gram values; nil: none

	source      *param.Spec    // a walk or a kernel; nil: none
	sources     []param.Values // of the source, to choose from
	sourceSpace *choose.Space
	declared    *param.Spec
	values      []param.Values // of the learner or method, to choose from
	space       *choose.Space

	// byFolds chooses by labels that are hidden with their fold, bySplits by the test sets of splits.
	byFolds  func(ctx context.Context) (*Choice, error)
	bySplits func(ctx context.Context, splits *choose.Splits) (*Choice, error)

	// learn learns from all labels with the chosen setting, and fills in out but for the choice.
	learn func(ctx context.Context, c *Choice) error

	separate bool // each pair of a source and a value is a fit of its own
	compared int  // labels that settings are compared on; 0: all
	measures bool // learn estimates the accuracy of a setting that a sample chose

	votes   choose.Votes // that turn decisions of classifiers on nodes into scores
	counted bool         // whether the count of votes says the class, see [choose.Favour]
	counts  []uint8      // votes by node and class, nil: they do not say it

	g        *graph.Graph // with components; nil if the engine needs none
	shared   any          // by the settings, see graphMethod.prepare
	unsolved []Unsolved   // settings that are left out, see learnBest
}

// predict predicts by the stages of an engine: a choice by held-out labels unless parameters are given, a model of all labels,
// and the estimate of its accuracy.
func (begin stages) predict(ctx context.Context, m *Engine, p *Problem, par *Parameters,
	s *Settings) (*Prediction, error) {
	start := time.Now()
	j, err := begin(ctx, p, par, s)
	if err != nil {
		return nil, err
	}
	choice := &Choice{Parameters: j.parameters(0, 0), Settings: j.size()}
	if par == nil && j.set.model == nil && !(p.Value == nil && choose.TooFew(p.Class)) && (j.size() > 1 || !j.set.Unmeasured) {
		if choice, err = j.byFolds(ctx); err != nil {
			return nil, err
		}
		if choice.estimate == nil && j.compared > 0 && j.compared < len(p.Row) && !j.measures && !j.set.Unmeasured {
			if choice.estimate, err = m.measureSetting(ctx, p, choice, j.compared, s); err != nil {
				return nil, err
			}
		}
	}
	j.out.Seconds.Choose += time.Since(start).Seconds()
	choice.job = j
	if _, err := learnBest(ctx, []*Choice{choice}); err != nil {
		return nil, err
	}
	switch {
	case choice.estimate != nil:
		j.out.Estimate = *choice.estimate
	case choice.choice != nil && choice.miss == nil:
		j.out.Estimate = choice.choice.HeldOut.Estimate(p, j.out.Reached)
	}
	return j.out, nil
}

// learnBest learns from all labels with the engine and the setting that predict held-out numbers best, the first of equals. A
// setting whose equations are not solved is left out, and the evidence chooses again. Without another setting the error is
// the first one.
func learnBest(ctx context.Context, list []*Choice) (*Choice, error) {
	var first error
	for {
		c := list[0]
		if c.miss != nil {
			best, _, merit := bestOf(list, -1)
			if math.IsInf(merit, -1) && first != nil {
				return nil, first
			}
			c = best
		}
		out := c.job.out
		out.Parameters = c.Parameters
		out.Settings = c.Settings
		out.Work.Sweeps += c.Work.Sweeps
		err := c.job.learn(ctx, c)
		if err == nil || c.miss == nil || !isUnsolved(err) {
			return c, err
		}
		first = cmp.Or(first, err)
		c.leaveOut(err)
	}
}

// measureSetting estimates the accuracy of a setting that a sample of the labels has chosen. Models of the sample know less
// than the model of all labels, so that each label of some folds, as many as the sample has, is predicted from all labels
// of the other folds.
func (m *Engine) measureSetting(ctx context.Context, p *Problem, c *Choice, sampled int,
	s *Settings) (*problem.Estimate, error) {
	set := s.WithDefaults()
	fold, folds := set.foldsLike(p, sampled)
	return m.apart(ctx, p, &c.Parameters, &set, fold, folds)
}

// foldsLike returns the folds of the labels of a problem that measure a setting, and the number of folds that together have as
// many labels as a sample.
func (s *Settings) foldsLike(p *Problem, sampled int) (fold []int, count int) {
	folds := s.testFolds(len(p.Row))
	count = (sampled*folds + len(p.Row) - 1) / len(p.Row)
	return choose.Folds(p.Class, folds, s.RNGSeed, 0), min(folds, count)
}

// tune chooses by splits, or by folds without them.
func (begin stages) tune(ctx context.Context, p *Problem, splits *choose.Splits,
	s *Settings) (*Choice, error) {
	j, err := begin(ctx, p, nil, s)
	if err != nil {
		return nil, err
	}
	if splits == nil {
		c, err := j.byFolds(ctx)
		if err == nil {
			c.job = j
		}
		return c, err
	}
	c, err := j.bySplits(ctx, splits)
	if err == nil {
		c.Work.Sweeps += j.out.Work.Sweeps
	}
	return c, err
}

// fix leaves the given parameters alone to choose from.
func (j *job) fix(par *Parameters) {
	if par.Kernel != nil {
		j.sources = []param.Values{par.Kernel.Values}
		j.sourceSpace = new(choose.Space)
	}
	declared := maps.Clone(j.values[j.space.Usual])
	if par.Declared != nil {
		maps.Copy(declared, par.Declared.Values)
	}
	j.values = []param.Values{declared}
	j.space = new(choose.Space)
}

// size returns the number of settings to choose from.
func (j *job) size() int {
	if j.separate && len(j.values) > 1 && len(j.sources) > 1 {
		return len(j.sources) + len(j.values)
	}
	return max(1, len(j.sources)) * len(j.values)
}

// parameters returns those of a setting of the source and of one of the learner.
func (j *job) parameters(source, value int) (p Parameters) {
	if j.source != nil {
		p.Kernel = &Setting{j.source, j.sources[source]}
	}
	if len(j.declared.Params) > 0 || j.source != nil {
		p.Declared = &Setting{j.declared, j.values[value]}
	}
	return p
}

// choose chooses a setting of the source and one of the learner; measure returns the counts of all pairs of some of them,
// those of the learner varying fastest.
func (j *job) choose(ctx context.Context,
	measure func(ctx context.Context, sources, values []int) (*choose.Counts, error)) (*Choice, error) {
	s := &choose.Search{Kernel: j.sourceSpace, Learner: j.space,
		Together: !j.separate && (j.learner == nil || j.learner.Path != nil), Measure: measure}
	result, err := s.Run(ctx)
	if err != nil {
		return nil, err
	}
	return &Choice{
		Parameters: j.parameters(result.Kernel, result.Setting),
		Accuracy:   result.Accuracy, Tested: result.Tested, Settings: j.size(),
		choice: result, space: j.space,
	}, nil
}

// Choice is the result of choosing parameters.
type Choice struct {
	Parameters
	Accuracy float64 // of the parameters on the labels that they were chosen by
	Tested   int     // predictions behind it for each setting; 0: there were too few labels
	Settings int     // number of settings to choose from
	Work     graph.Work

	choice   *choose.Found // nil of other methods, and with too few labels
	miss     [][]float64   // y − ŷ of held-out numbers, by setting and number; nil of classes
	space    *choose.Space // of the settings that were compared
	job      *job
	estimate *problem.Estimate // of the chosen setting by models of all labels; nil: that of the choice
}
