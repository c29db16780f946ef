package engine

import (
	"context"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method/choose"
)

// Comparison calls visit with the outcome of each label of t that has a fold, for each pair of the settings at the given
// positions of [Job].Sources and Values; values vary faster. If a pair is impossible, it sets its loss to +Inf. Outcomes of
// different pairs may come from different goroutines.
type Comparison func(ctx context.Context, t *choose.Task, sources, values []int, loss []float64,
	visit func(pair int, o *choose.Outcome)) error

// choosingTask returns the labels by which settings are compared: a sample of the labels in folds.
func (j *Job) choosingTask() *choose.Task {
	seed := j.Settings.RNGSeed
	places := choose.Sample(j.Problem.Class, j.Compared, seed, 0)
	sample := j.Problem.At(places)
	folds := choose.ToChoose(sample, seed)
	if j.Separate {
		folds = choose.ToFit(sample, seed)
	}
	t := choose.NewTask(j.Problem, places, folds)
	t.LeavesOneOut = j.LeavesOneOut
	return t
}

// MeasuringTask returns all labels, of which about j.Compared are predicted. With them a setting is measured that a sample
// of the labels chose: models of the sample know fewer labels.
func (j *Job) MeasuringTask() *choose.Task {
	return choose.NewTask(j.Problem, sched.UpTo(len(j.Problem.Row)), choose.ToMeasure(j.Problem, j.Compared, j.Settings.RNGSeed))
}

// chooseByTask chooses a pair of settings by held-out labels.
func (j *Job) chooseByTask(ctx context.Context) (*Choice, error) {
	t := j.choosingTask()
	if j.Problem.A != nil {
		if err := t.FindIsolated(ctx, j.Settings.Workers, &j.Out.Work); err != nil {
			return nil, err
		}
	}
	weight := choose.WeightsOf(j.Problem)
	folds := choose.Labels(weight, t.Class, t.Fold, t.Isolated)
	c, err := j.Choose(ctx, func(ctx context.Context, sources, values []int) (*choose.Counts, error) {
		counts := choose.NewCounts(len(sources)*len(values), folds)
		return counts, j.Compare(ctx, t, sources, values, counts.Loss, func(pair int, o *choose.Outcome) {
			counts.Note(pair, o.Fold, j.class(o), o, weight)
		})
	})
	if err == nil && j.Settle != nil {
		err = j.settle(ctx, t, c)
	}
	return c, err
}

// settle fits the votes by the predictions of held-out labels by the setting of c, and keeps these predictions. A kept model
// has its votes.
func (j *Job) settle(ctx context.Context, t *choose.Task, c *Choice) error {
	if t == nil {
		t = j.choosingTask()
	}
	source, value := 0, 0
	if c.Found != nil {
		source = c.Found.Kernel
		value = c.Found.Setting
	}
	if k := j.Settings.Model; k != nil {
		j.Votes = choose.Votes{Power: k.Power}
	} else {
		var list []choose.Outcome
		err := j.Compare(ctx, t, []int{source}, []int{value}, make([]float64, 1), func(_ int, o *choose.Outcome) {
			list = append(list, o.Clone())
		})
		if err != nil {
			return err
		}
		j.Votes = choose.FitVotes(len(j.Problem.Names), list)
		for i := range list {
			list[i].Label = t.Place[list[i].Label]
		}
		j.Out.Held = j.Hold(list, j.class)
	}
	return j.Settle(ctx, t, source, &c.Parameters)
}

// class returns the class that an outcome predicts.
func (j *Job) class(o *choose.Outcome) int {
	if j.Counted {
		return j.MajorityClass(o)
	}
	return o.Voted
}

// chooseByTests chooses a pair of settings by the test labels of splits, of which it takes samples.
func (j *Job) chooseByTests(ctx context.Context, splits *choose.Splits) (*Choice, error) {
	limit := MaxTestedRows
	if j.Learner.Whole {
		limit = j.Settings.Sample
	}
	sample := func(labels []int, limit int, stream uint64) []int {
		class := j.Problem.At(labels).Class
		var list []int
		for _, i := range choose.Sample(class, limit, j.Settings.RNGSeed, stream) {
			list = append(list, labels[i])
		}
		return list
	}
	var last *choose.Task
	c, err := j.Choose(ctx, func(ctx context.Context, sources, values []int) (*choose.Counts, error) {
		counts := choose.NewCounts(len(sources)*len(values), make([]choose.FoldLabels, 1))
		for i := range splits.Len {
			s := splits.At(i)
			s.Train = sample(s.Train, j.Settings.Sample, 0)
			s.Test = sample(s.Test, limit, 1)
			last = choose.SplitTask(j.Problem, s)
			err := j.Compare(ctx, last, sources, values, counts.Loss, func(pair int, o *choose.Outcome) {
				if o.Voted == o.Class {
					counts.Add(pair, 0, 0)
				}
			})
			if err != nil {
				return nil, err
			}
			counts.Folds[0].Tested += len(s.Test)
			j.Settings.Progress("choose", int64(i+1), int64(splits.Len))
		}
		return counts, nil
	})
	if err == nil && j.Settle != nil {
		err = j.Settle(ctx, last, c.Found.Kernel, &c.Parameters)
	}
	return c, err
}
