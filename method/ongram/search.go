// Package ongram learns from kernel values between labelled items, with parameters of kernel and
// learner that are chosen by held-out items: [Records] does the whole job for the records of a
// table, [Files] for values in files, and a [Collection] of graphs makes methods of it.
package ongram

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/param"
)

// Choice is a choice of parameters by held-out items.
type Choice struct {
	Values   param.Values // of the kernel and the learner
	Settings int          // settings that were compared

	// Accuracy is the share of right predictions of the chosen setting among Tested items,
	// Stderr its binomial standard error.
	Accuracy, Stderr float64
	Tested           int
}

// search chooses the parameters of a kernel and a learner by labelled items.
type search struct {
	Kernel  *param.Spec
	On      param.Graph // what units of the kernel's parameters depend on, see [param.Spec.Resolve]
	Learner *classify.Learner

	// Gram returns the kernel between all items with the given parameters and its
	// defaults in place of the others.
	Gram func(ctx context.Context, v param.Values) (classify.Gram, error)

	Items      int   // of every Gram
	Row, Class []int // of the labelled items
	Classes    int
	RNGSeed    uint64 // of the folds
}

// folds is the number of folds, because each fold and setting is a fit from nothing.
const folds = 5

// choose returns the given values together with those that held-out items choose: the
// parameters of the kernel with the learner's defaults, and then those of the learner, see
// package choose. With too few labels it returns the given values. Cost: a fit for each fold and
// setting.
func (s *search) choose(ctx context.Context, values param.Values) (*Choice, error) {
	c := &Choice{Values: s.Kernel.Own(values), Settings: 1}
	maps.Copy(c.Values, s.Learner.Own(values))
	if split.TooFew(s.Class) {
		return c, nil
	}
	kernels, kernelSpace, err := candidates(s.Kernel, values, s.On)
	if err != nil {
		return nil, err
	}
	learners, learnerSpace, err := candidates(&s.Learner.Spec, values, nil)
	if err != nil {
		return nil, err
	}
	fold := split.Folds(s.Class, min(folds, len(s.Class)), s.RNGSeed, 0)
	result, err := (&choose.Search{Kernel: kernelSpace, Learner: learnerSpace, Measure: func(ctx context.Context, kernelAt, settingAt []int) (*choose.Counts, error) {
		counts := choose.NewCounts(len(kernelAt)*len(settingAt), make([]choose.FoldLabels, slices.Max(fold)+1))
		counts.Loss = make([]float64, counts.Candidates)
		for _, f := range fold {
			counts.Folds[f].Tested++
		}
		for a, index := range kernelAt {
			k, err := s.Gram(ctx, s.Kernel.Own(kernels[index]))
			if err != nil {
				return nil, err
			}
			for b, index := range settingAt {
				if err := s.count(ctx, counts, a*len(settingAt)+b, k, fold, learners[index]); err != nil {
					return nil, err
				}
			}
		}
		return counts, nil
	}}).Run(ctx)
	if err != nil {
		return nil, err
	}
	maps.Copy(c.Values, kernels[result.Kernel])
	maps.Copy(c.Values, learners[result.Setting])
	for _, n := range []int{len(kernels), len(learners)} {
		if n > 1 {
			c.Settings += n
		}
	}
	c.Settings = max(1, c.Settings-1)
	c.Accuracy, c.Stderr, c.Tested = result.Accuracy, result.Stderr, result.Tested
	return c, nil
}

// candidates returns the settings to choose from, and their grid.
func candidates(spec *param.Spec, values param.Values, g param.Graph) ([]param.Values, *choose.Space, error) {
	settings, err := split.Settings(spec, spec.Own(values), g)
	if err != nil {
		return nil, nil, err
	}
	space := choose.SpaceOf(spec, settings)
	if usual, err := spec.Resolve(spec.Own(values), g); err == nil {
		space.Usual = max(0, slices.IndexFunc(settings, func(v param.Values) bool { return spec.Text(v) == spec.Text(usual) }))
	}
	return settings, space, nil
}

// count counts the right predictions for items by models of the other folds. A setting whose
// fit does not reach its tolerance is impossible.
func (s *search) count(ctx context.Context, counts *choose.Counts, candidate int, k classify.Gram, fold []int, v param.Values) error {
	row, y := make([]float64, s.Items), make([]int, s.Items)
	for f := range counts.Folds {
		for i := range y {
			y[i] = -1
		}
		for i, item := range s.Row {
			if fold[i] != f {
				y[item] = s.Class[i]
			}
		}
		model, err := s.Learner.Fit(ctx, k, y, s.Classes, v)
		if errors.Is(err, classify.ErrIterationLimit) {
			counts.Loss[candidate] = math.Inf(1)
			return nil
		}
		if err != nil {
			return err
		}
		for i, item := range s.Row {
			if fold[i] != f {
				continue
			}
			k.RowTo(row, item)
			if model.Pairs.Predict(model.ScoresTo(nil, row, row[item])) == s.Class[i] {
				counts.Right[f*counts.Candidates+candidate]++
			}
		}
	}
	return nil
}
