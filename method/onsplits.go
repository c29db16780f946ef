package method

import (
	"context"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method/internal/trial"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/validate"
)

// maxTestedRows bounds the test nodes of a tuning split for learners on kernels: each
// has a row of values for every kernel of the grid.
const maxTestedRows = 2000

// Tune implements [Method].
func (m kernelMethod) Tune(ctx context.Context, p *Problem, splits *validate.Splits, s *Settings) (*Choice, error) {
	r, err := m.begin(ctx, p, nil, s)
	if err != nil {
		return nil, err
	}
	t := &splitTuner{kernelPredictor: r, splits: splits}
	tested := 0
	kernel, setting, right, err := r.choose(func(kernels, settings []int) ([]float64, error) {
		var tried []spec.Values
		for _, i := range settings {
			tried = append(tried, r.settled[i])
		}
		fit := r.each(tried...)
		if m.by.path != nil {
			fit = func(ctx context.Context, k classify.Gram, y []int) ([]*classify.Model, error) {
				return r.fitPath()(ctx, k, y) // kernels are tried side by side
			}
		}
		found, err := t.hits(ctx, kernels, len(settings), fit)
		if err != nil {
			return nil, err
		}
		tested = found.Tested
		merits := make([]float64, len(found.Right))
		for i, n := range found.Right {
			merits[i] = float64(n)
		}
		return merits, nil
	})
	if err != nil {
		return nil, err
	}
	return &Choice{
		Parameters: r.parameters(kernel, r.settled[setting]), Settings: len(r.grid) * len(r.settled),
		Accuracy: right / float64(tested), Tested: tested,
	}, nil
}

func upTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// largestOf returns the first place of the largest number.
func largestOf(hits []int64) int { return slices.Index(hits, slices.Max(hits)) }

// splitTuner tries kernels and settings of a learner on splits.
type splitTuner struct {
	*kernelPredictor
	splits *validate.Splits
}

// hits counts the right answers on the test nodes of all splits with each of some kernels
// and each of so many settings, which vary faster.
func (t *splitTuner) hits(ctx context.Context, kernels []int, settings int, fit trial.Fit) (*Stage, error) {
	return t.set.Tally.count(len(kernels)*settings, t.splits.Len, func(i int, right []int64) (int, error) {
		split := t.splits.At(i)
		train := t.p.At(split.Train)
		train = train.At(validate.Sample(train.Class, t.set.Sample, t.set.RNGSeed, 0))
		test := t.p.At(split.Test)
		limit := maxTestedRows
		if t.by.Whole {
			limit = t.set.Sample
		}
		test = test.At(validate.Sample(test.Class, limit, t.set.RNGSeed, 1))
		group := tuneTogether(len(train.Row), len(test.Row), len(kernels), t.by.Whole)
		for lo := 0; lo < len(kernels); lo += group {
			hi := min(lo+group, len(kernels))
			if err := t.try(ctx, train, test, kernels[lo:hi], fit, right[lo*settings:hi*settings]); err != nil {
				return 0, err
			}
		}
		t.set.Progress("choose", float64(i+1)/float64(t.splits.Len))
		return len(test.Row), nil
	})
}

// tuneBytes is what the blocks of kernels that are tried together may take.
const tuneBytes = 96 << 20

// tuneTogether returns how many kernels are tried together.
func tuneTogether(train, test, kernels int, whole bool) int {
	if whole {
		train += test
		test = 0
	}
	return min(kernels, max(1, tuneBytes/(8*train*(train+test))))
}

// try adds the right answers on one split to hits.
func (t *splitTuner) try(ctx context.Context, train, test *Problem, kernels []int, fit trial.Fit, hits []int64) error {
	items, others, y := train.Row, test.Row, train.Class
	if t.by.Whole {
		items, others, y = slices.Concat(items, others), nil, slices.Concat(y, slices.Repeat([]int{-1}, len(test.Row)))
	}
	grams, err := t.grams(ctx, kernels, items, others, "choose")
	if err != nil {
		return err
	}
	largest := validate.Majority(train.Class)
	return sched.Run(ctx, t.set.Workers, len(grams), func(_, i int) error {
		values := grams[i]
		own := *values
		own.Rows = len(items)
		trial.Scale(values, trial.MeanDiagonal(values, len(train.Row)))
		models, err := fit(ctx, classify.DenseGram(&own), y)
		if err != nil {
			return err
		}
		tests := &trial.Tests{Values: values, First: len(train.Row), Y: y, Class: test.Class, Largest: largest}
		tests.Count(models, hits[i*len(models):][:len(models)])
		return nil
	})
}

// fitPath returns what fits all settings of the learner on its path, one time after the other
// in the same memory.
func (r *kernelPredictor) fitPath() trial.Fit {
	return trial.Along(r.by.Learner, r.by.path, len(r.p.Names))(complete(r.set.beside, r.settled...))
}

// each returns what fits the learner with several settings, each by itself.
func (r *kernelPredictor) each(settings ...spec.Values) trial.Fit {
	return trial.Each(r.by.Learner, len(r.p.Names), settings)
}
