// Package ongram learns from kernel values between labelled items, by parameters of kernel and
// learner that are chosen together: [Records] does the whole job for the records of a table,
// [Files] for values in files, and a [Collection] of graphs makes methods of it.
package ongram

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/validate"
)

// search says between what is chosen, and by which labels.
type search struct {
	Kernel  *spec.Spec
	On      spec.Graph // what units of the kernel's parameters depend on, see [spec.Spec.Resolve]
	Learner *classify.Learner

	// Gram returns the kernel between all items with the given parameters and its
	// defaults in place of the others.
	Gram func(ctx context.Context, v spec.Values) (classify.Gram, error)

	Items      int   // of every Gram
	Row, Class []int // of the labelled items
	Classes    int
	RNGSeed    uint64 // of the folds
}

// folds is the number of folds that parameters are chosen by.
const folds = 5

// choose returns the given values with those that have most right answers out of fold:
// those of the kernel beside the learner's defaults, and then those of the learner. With
// too few labels it returns the given ones. Cost: a fit for each fold and setting.
func (s *search) choose(ctx context.Context, given spec.Values) (*validate.Choice, error) {
	c := &validate.Choice{Values: s.Kernel.Own(given), Settings: 1}
	maps.Copy(c.Values, s.Learner.Own(given))
	if validate.TooFew(s.Class) {
		return c, nil
	}
	tried := 0
	fold := validate.Folds(s.Class, min(folds, len(s.Class)), s.RNGSeed, 0)
	for _, by := range []struct {
		*spec.Spec
		on spec.Graph
	}{{s.Kernel, s.On}, {&s.Learner.Spec, nil}} {
		best, err := validate.Choose(by.Spec, by.Own(c.Values), by.on, len(s.Row), func(settings []spec.Values) ([]int64, error) {
			return s.right(ctx, fold, c.Values, settings)
		})
		if err != nil {
			return nil, err
		}
		maps.Copy(c.Values, best.Values)
		if best.Settings > 1 {
			tried += best.Settings
		}
		c.Accuracy, c.Stderr, c.Tested = best.Accuracy, best.Stderr, best.Tested
	}
	c.Settings = max(1, tried)
	return c, nil
}

// right counts for each setting, beside the chosen values, the right answers out of fold.
// A learner that does not come to its tolerance has none.
func (s *search) right(ctx context.Context, fold []int, chosen spec.Values, settings []spec.Values) ([]int64, error) {
	hits := make([]int64, len(settings))
	row, y := make([]float64, s.Items), make([]int, s.Items)
	for at, v := range settings {
		values := maps.Clone(chosen)
		maps.Copy(values, v)
		k, err := s.Gram(ctx, s.Kernel.Own(values))
		if err != nil {
			return nil, err
		}
		learner, err := s.Learner.Resolve(s.Learner.Own(values), nil)
		if err != nil {
			return nil, err
		}
		for f := range slices.Max(fold) + 1 {
			for i := range y {
				y[i] = -1
			}
			for i, item := range s.Row {
				if fold[i] != f {
					y[item] = s.Class[i]
				}
			}
			model, err := s.Learner.Fit(ctx, k, y, s.Classes, learner)
			if errors.Is(err, classify.ErrIterationLimit) {
				hits[at] = 0
				break
			}
			if err != nil {
				return nil, err
			}
			for i, item := range s.Row {
				if fold[i] != f {
					continue
				}
				k.RowTo(row, item)
				if model.Pairs.Predict(model.ScoresTo(nil, row, row[item])) == s.Class[i] {
					hits[at]++
				}
			}
		}
	}
	return hits, nil
}
