package engine

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

// Job is a choice or a prediction by an engine on a problem: the settings to choose from, and the stages of the engine.
type Job struct {
	Problem  *Problem
	Settings *Settings
	Out      *Prediction
	Learner  *classify.Learner // on a walk, a kernel or Gram values; nil: none

	Source      *param.Spec    // a walk or a kernel; nil: none
	Sources     []param.Values // of the source, to choose from
	SourceSpace *choose.Space
	Declared    *param.Spec
	Values      []param.Values // of the learner or method, to choose from
	Space       *choose.Space

	// ByFolds chooses by labels that are hidden with their fold, bySplits by the test sets of splits.
	ByFolds  func(ctx context.Context) (*Choice, error)
	BySplits func(ctx context.Context, splits *choose.Splits) (*Choice, error)

	// Learn learns from all labels with the chosen setting, and fills in out but for the choice.
	Learn func(ctx context.Context, c *Choice) error

	Separate bool // each pair of a source and a value is a fit of its own
	Compared int  // labels that settings are compared on; 0: all
	Measures bool // learn estimates the accuracy of a setting that a sample chose

	Votes   choose.Votes // that turn decisions of classifiers on nodes into scores
	Counted bool         // whether the count of votes says the class, see [choose.Favour]
	Counts  []uint8      // votes by node and class, nil: they do not say it

	Graph    *graph.Graph // with components; nil if the engine needs none
	Shared   any          // by the settings, see GraphMethod.prepare
	unsolved []Unsolved   // settings that are left out, see learnBest
}

// predict predicts by the stages of an engine: a choice by held-out labels unless parameters are given, a model of all labels,
// and the estimate of its accuracy.
func (begin Stages) predict(ctx context.Context, m *Engine, p *Problem, par *Parameters,
	s *Settings) (*Prediction, error) {
	start := time.Now()
	j, err := begin(ctx, p, par, s)
	if err != nil {
		return nil, err
	}
	choice := &Choice{Parameters: j.Parameters(0, 0), Settings: j.Size()}
	if par == nil && j.Settings.Model == nil && !(p.Value == nil && choose.TooFew(p.Class)) && (j.Size() > 1 || !j.Settings.Unmeasured) {
		if choice, err = j.ByFolds(ctx); err != nil {
			return nil, err
		}
		if choice.Estimate == nil && j.Compared > 0 && j.Compared < len(p.Row) && !j.Measures && !j.Settings.Unmeasured {
			if choice.Estimate, err = m.measureSetting(ctx, p, choice, j.Compared, s); err != nil {
				return nil, err
			}
		}
	}
	j.Out.Seconds.Choose += time.Since(start).Seconds()
	choice.job = j
	if _, err := learnBest(ctx, []*Choice{choice}); err != nil {
		return nil, err
	}
	switch {
	case choice.Estimate != nil:
		j.Out.Estimate = *choice.Estimate
	case choice.Found != nil && choice.miss == nil:
		j.Out.Estimate = choice.Found.HeldOut.Estimate(p, j.Out.Reached)
	}
	return j.Out, nil
}

// learnBest learns from all labels with the engine and the setting that predict held-out numbers best, with the first of
// equals. If the equations of a setting are not solved, it is left out, and the evidence chooses again. Without another
// setting the error is the first error.
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
		out := c.job.Out
		out.Parameters = c.Parameters
		out.Settings = c.Settings
		out.Work.Sweeps += c.Work.Sweeps
		err := c.job.Learn(ctx, c)
		if err == nil || c.miss == nil || !isUnsolved(err) {
			return c, err
		}
		first = cmp.Or(first, err)
		c.leaveOut(err)
	}
}

// measureSetting estimates the accuracy of a setting that a sample of the labels has chosen. Models of the sample know less
// than the model of all labels. Therefore each label of some folds, which together have as many labels as the sample, is
// predicted from all labels of the other folds.
func (m *Engine) measureSetting(ctx context.Context, p *Problem, c *Choice, sampled int,
	s *Settings) (*problem.Estimate, error) {
	set := s.WithDefaults()
	fold, folds := set.FoldsLike(p, sampled)
	return m.apart(ctx, p, &c.Parameters, &set, fold, folds)
}

// FoldsLike returns the folds of the labels of a problem that measure a setting, and the number of folds that together have as
// many labels as a sample.
func (s *Settings) FoldsLike(p *Problem, sampled int) (fold []int, count int) {
	folds := choose.TestFoldCount(len(p.Row))
	count = (sampled*folds + len(p.Row) - 1) / len(p.Row)
	return choose.Folds(p.Class, folds, s.RNGSeed, 0), min(folds, count)
}

// tune chooses by splits, or by folds without them.
func (begin Stages) tune(ctx context.Context, p *Problem, splits *choose.Splits,
	s *Settings) (*Choice, error) {
	j, err := begin(ctx, p, nil, s)
	if err != nil {
		return nil, err
	}
	if splits == nil {
		c, err := j.ByFolds(ctx)
		if err == nil {
			c.job = j
		}
		return c, err
	}
	c, err := j.BySplits(ctx, splits)
	if err == nil {
		c.Work.Sweeps += j.Out.Work.Sweeps
	}
	return c, err
}

// Fix leaves the given parameters alone to choose from.
func (j *Job) Fix(par *Parameters) {
	if par.Kernel != nil {
		j.Sources = []param.Values{par.Kernel.Values}
		j.SourceSpace = new(choose.Space)
	}
	declared := maps.Clone(j.Values[j.Space.Usual])
	if par.Declared != nil {
		maps.Copy(declared, par.Declared.Values)
	}
	j.Values = []param.Values{declared}
	j.Space = new(choose.Space)
}

// Size returns the number of settings to choose from.
func (j *Job) Size() int {
	if j.Separate && len(j.Values) > 1 && len(j.Sources) > 1 {
		return len(j.Sources) + len(j.Values)
	}
	return max(1, len(j.Sources)) * len(j.Values)
}

// Parameters returns the parameters of a setting of the source and a setting of the learner.
func (j *Job) Parameters(source, value int) (p Parameters) {
	if j.Source != nil {
		p.Kernel = &Setting{j.Source, j.Sources[source]}
	}
	if len(j.Declared.Params) > 0 || j.Source != nil {
		p.Declared = &Setting{j.Declared, j.Values[value]}
	}
	return p
}

// Choose chooses a setting of the source and a setting of the learner. measure returns the counts of all pairs of some of
// them; settings of the learner vary faster.
func (j *Job) Choose(ctx context.Context,
	measure func(ctx context.Context, sources, values []int) (*choose.Counts, error)) (*Choice, error) {
	s := &choose.Search{Kernel: j.SourceSpace, Learner: j.Space,
		Together: !j.Separate && (j.Learner == nil || j.Learner.Path != nil), Measure: measure}
	result, err := s.Run(ctx)
	if err != nil {
		return nil, err
	}
	return &Choice{
		Parameters: j.Parameters(result.Kernel, result.Setting),
		Accuracy:   result.Accuracy, Tested: result.Tested, Settings: j.Size(),
		Found: result, space: j.Space,
	}, nil
}

// Choice is the result of choosing parameters.
type Choice struct {
	Parameters
	Accuracy float64 // of the parameters on the labels that they were chosen by
	Tested   int     // predictions behind it for each setting; 0: there were too few labels
	Settings int     // number of settings to choose from
	Work     graph.Work

	Found    *choose.Found // nil of other methods, and with too few labels
	miss     [][]float64   // y − ŷ of held-out numbers, by setting and number; nil of classes
	space    *choose.Space // of the settings that were compared
	job      *Job
	Estimate *problem.Estimate // of the chosen setting by models of all labels; nil means the estimate of the choice
}
