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

// Job is the work of an engine on a problem: choosing settings and predicting. A learner on a walk or kernel, its source,
// chooses a pair of settings.
type Job struct {
	Problem  *Problem
	Settings *Settings
	Out      *Prediction
	Learner  *classify.Learner // nil: none

	Source      *param.Spec // walk or kernel; nil: none
	Sources     []param.Values
	SourceSpace *choose.Space
	Declared    *param.Spec
	Values      []param.Values // settings of the learner or method
	Space       *choose.Space

	// Compare predicts held-out labels. The labels of a task are about Compared of the labels, see [Job.MeasuringTask].
	Compare      Comparison
	Compared     int  // number of compared labels; 0: all
	LeavesOneOut bool // see choose.Task
	Separate     bool // each pair of a source setting and a learner setting needs its own fit

	// Settle, if not nil, adopts the setting of the source at a position in Sources, and may change par. The last call of
	// Compare was for t, and the votes are fitted.
	Settle func(ctx context.Context, t *choose.Task, source int, par *Parameters) error

	// ByFolds chooses a setting by predictions of held-out folds, BySplits by predictions of the test sets of splits. If they
	// are nil, Compare predicts.
	ByFolds  func(ctx context.Context) (*Choice, error)
	BySplits func(ctx context.Context, splits *choose.Splits) (*Choice, error)

	// Learn learns from all labels and completes Out except for the choice.
	Learn func(ctx context.Context, c *Choice) error

	Measures bool // Learn estimates the accuracy of a setting that a sample chose

	Votes   choose.Votes
	Counted bool    // the number of votes decides the class, see [choose.Favour]
	Counts  []uint8 // number of votes by node and class; nil: it does not decide

	Graph    *graph.Graph // nil: not needed
	Shared   any          // what all settings share, see GraphMethod.Prepare
	unsolved []Unsolved   // see learnBest
}

// job returns the job of begin, with the choice by its Compare.
func (begin Stages) job(ctx context.Context, p *Problem, par *Parameters, s *Settings) (*Job, error) {
	j, err := begin(ctx, p, par, s)
	if err == nil && j.Compare != nil {
		j.ByFolds = j.chooseByTask
		j.BySplits = j.chooseByTests
	}
	return j, err
}

// predict fits a model of all labels and predicts all nodes. If par is nil, it first chooses parameters by held-out labels.
// It estimates the accuracy by the held-out labels.
func (begin Stages) predict(ctx context.Context, m *Engine, p *Problem, par *Parameters,
	s *Settings) (*Prediction, error) {
	start := time.Now()
	j, err := begin.job(ctx, p, par, s)
	if err != nil {
		return nil, err
	}
	choice := &Choice{Parameters: j.Parameters(0, 0), Settings: j.Size()}
	if par == nil && j.Settings.Model == nil && !(p.Value == nil && choose.TooFew(p.Class)) && (j.Size() > 1 || !j.Settings.Unmeasured) {
		if choice, err = j.ByFolds(ctx); err != nil {
			return nil, err
		}
		if choice.Estimate == nil && j.Compared > 0 && j.Compared < len(p.Row) && !j.Measures && !j.Settings.Unmeasured {
			// A sample chose the setting. Models of the sample know fewer labels, so that they do not measure it.
			set := s.WithDefaults()
			if choice.Held, err = m.holdSome(ctx, p, &choice.Parameters, &set, j.Compared); err != nil {
				return nil, err
			}
		}
	}
	if j.Settle != nil && choice.Found == nil {
		if err := j.settle(ctx, nil, choice); err != nil {
			return nil, err
		}
	}
	j.Out.Seconds.Choose += time.Since(start).Seconds()
	choice.job = j
	if _, err := learnBest(ctx, []*Choice{choice}); err != nil {
		return nil, err
	}
	if choice.Held != nil {
		j.Out.Held = choice.Held
	}
	switch {
	case choice.Held != nil && !j.Settings.Unmeasured:
		j.Out.Estimate = choice.Held.Estimate(p, j.Out.Reached)
	case choice.Estimate != nil:
		j.Out.Estimate = *choice.Estimate
	case choice.Found != nil && choice.miss == nil:
		j.Out.Estimate = choice.Found.HeldOut.Estimate(p, j.Out.Reached)
		if j.Out.Held != nil {
			j.Out.Stderr = max(j.Out.Stderr, j.Out.Held.ErrorOfGroups(p, j.Out.Accuracy))
		}
	}
	return j.Out, nil
}

// learnBest learns from all labels with the best choice in list and returns this choice. If classes are predicted, it takes
// the first choice. It omits settings whose equations cannot be solved. If no setting is left, it returns the first error.
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

func (begin Stages) tune(ctx context.Context, p *Problem, splits *choose.Splits,
	s *Settings) (*Choice, error) {
	j, err := begin.job(ctx, p, nil, s)
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

// Fix makes par the only setting to choose from.
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

// Parameters returns the parameters at the given positions in Sources and Values.
func (j *Job) Parameters(source, value int) (p Parameters) {
	if j.Source != nil {
		p.Kernel = &Setting{j.Source, j.Sources[source]}
	}
	if len(j.Declared.Params) > 0 || j.Source != nil {
		p.Declared = &Setting{j.Declared, j.Values[value]}
	}
	return p
}

// Choose chooses a setting of the source and a setting of the learner. measure must return the right predictions of all
// pairs of the given sources and values; the values vary faster.
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
	Accuracy float64 // accuracy on the labels by which the setting was chosen
	Tested   int     // number of predicted labels; 0: too few
	Settings int     // number of compared settings
	Work     graph.Work

	Held  *choose.Held  // predictions of held-out labels; nil: the engine has none
	Found *choose.Found // nil if the method has no choice or too few labels
	miss  [][]float64   // y − ŷ by setting and held-out number, NaN: not measured; nil for classes

	// further stores the errors of the chosen setting at the values of the groups lo ≤ g < hi.
	further func(ctx context.Context, miss [][]float64, lo, hi int) error

	space    *choose.Space
	job      *Job
	Estimate *problem.Estimate // estimate by models of all labels; nil: the estimate of the choice holds
}
