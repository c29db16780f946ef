package method

import (
	"context"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/param"
)

// maxTestedRows bounds the test nodes of a tuning split for learners on kernels: each
// has a row of values for every kernel of the grid.
const maxTestedRows = 2000

// Tune implements [Method].
func (m kernelMethod) Tune(ctx context.Context, p *Problem, splits *split.Splits, s *Settings) (*Choice, error) {
	r, err := m.begin(ctx, p, nil, s)
	if err != nil {
		return nil, err
	}
	search := &choose.Search{Kernel: r.kernelSpace(), Learner: r.space, Together: m.learner.Path != nil}
	search.Measure = func(ctx context.Context, kernels, settings []int) (*choose.Counts, error) {
		var values []param.Values
		for _, i := range settings {
			values = append(values, r.settled[i])
		}
		fit := eachOf(r, values...)
		if m.learner.Path != nil {
			fit = func(ctx context.Context, k classify.Gram, y []int) ([]*classify.Model, error) {
				return fitPath(r)(ctx, k, y) // kernels are compared concurrently, and a path is for one fit at a time
			}
		}
		return splitCounts(ctx, r, splits, kernels, len(settings), fit)
	}
	choice, err := search.Run(ctx)
	if err != nil {
		return nil, err
	}
	return &Choice{
		Parameters: r.parameters(choice.Kernel, r.settled[choice.Setting]), Settings: choice.Candidates,
		Accuracy: choice.Accuracy, Tested: choice.Tested,
		Trials: trialsOf(choice, func(i int) Parameters {
			return r.parameters(i/len(r.settled), r.settled[i%len(r.settled)])
		}),
	}, nil
}

// splitCounts counts the right predictions on the test nodes of all splits with each of some kernels
// and each of the given number of settings, which vary faster.
func splitCounts(ctx context.Context, r *kernelPredictor, splits *split.Splits, kernels []int, settings int, fit choose.Fit) (*choose.Counts, error) {
	counts := choose.NewCounts(len(kernels)*settings, make([]choose.FoldLabels, 1))
	for i := range splits.Len {
		trainTest := splits.At(i)
		train := r.p.At(trainTest.Train)
		train = train.At(split.Sample(train.Class, r.set.sample, r.set.RNGSeed, 0))
		test := r.p.At(trainTest.Test)
		limit := maxTestedRows
		if r.learner.Whole {
			limit = r.set.sample
		}
		test = test.At(split.Sample(test.Class, limit, r.set.RNGSeed, 1))
		group := tuneTogether(len(train.Row), len(test.Row), len(kernels), r.learner.Whole)
		for lo := 0; lo < len(kernels); lo += group {
			hi := min(lo+group, len(kernels))
			if err := countSplit(ctx, r, train, test, kernels[lo:hi], fit, counts.Right[lo*settings:hi*settings]); err != nil {
				return nil, err
			}
		}
		counts.Folds[0].Tested += len(test.Row)
		r.set.Progress("choose", int64(i+1), int64(splits.Len))
	}
	return counts, nil
}

// tuneBytes bounds the blocks of kernels that are compared together.
const tuneBytes = 96 << 20

// tuneTogether returns how many kernels are tried together.
func tuneTogether(train, test, kernels int, isTransductive bool) int {
	if isTransductive {
		train += test
		test = 0
	}
	return min(kernels, max(1, tuneBytes/(8*train*(train+test))))
}

// countSplit adds the right answers on one split to hits.
func countSplit(ctx context.Context, r *kernelPredictor, train, test *Problem, kernels []int, fit choose.Fit, hits []int64) error {
	items, rows, y := train.Row, test.Row, train.Class
	if r.learner.Whole {
		items, rows, y = slices.Concat(items, rows), nil, slices.Concat(y, slices.Repeat([]int{-1}, len(test.Row)))
	}
	grams, err := r.grams(ctx, kernels, items, rows, "choose")
	if err != nil {
		return err
	}
	largest := split.Majority(train.Class)
	return sched.Run(ctx, r.set.Workers, len(grams), func(_, i int) error {
		values := grams[i]
		block := *values
		block.Rows = len(items)
		choose.Scale(values, choose.MeanDiagonal(values, len(train.Row)))
		models, err := fit(ctx, classify.DenseGram(&block), y)
		if err != nil {
			return err
		}
		for j, class := range test.Class {
			row, selfValue := values.Row(len(train.Row)+j), 0.0
			if r.learner.Whole {
				selfValue = row[len(train.Row)+j]
			}
			choose.Ask(models, row, selfValue, y, choose.Outcome{Largest: largest}, func(s int, o choose.Outcome) {
				if o.Voted() == class {
					hits[i*len(models)+s]++
				}
			})
		}
		return nil
	})
}

// fitPath returns what fits all settings of the learner on its path, one time after the other
// in the same memory.
func fitPath(r *kernelPredictor) choose.Fit {
	return choose.OnPath(r.learner, r.learner.Path, len(r.p.Names))(complete(r.set.constant, r.settled...))
}

// eachOf returns what fits the learner with several settings, each by itself.
func eachOf(r *kernelPredictor, settings ...param.Values) choose.Fit {
	return choose.Each(r.learner, len(r.p.Names), settings)
}
