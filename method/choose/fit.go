package choose

import (
	"context"
	"errors"
	"maps"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/param"
)

// Fit fits a model with each of its settings to the values of k between the items with y ≥ 0. A
// model is nil if the kernel does not allow its setting; all are nil if the items have one
// class. Models are valid until the next call of the Fit.
type Fit func(ctx context.Context, k classify.Gram, y []int) ([]*classify.Model, error)

// OnPath returns a function that returns a [Fit] of settings on a path of the learner. Calls of the Fits reuse memory.
func OnPath(learner *classify.Learner, path *classify.Path,
	classes int) func(settings []param.Values) Fit {
	if path.Fit == nil {
		return func(settings []param.Values) Fit { return Each(learner, classes, settings) }
	}
	fit := path.Fit()
	return func(settings []param.Values) Fit { return together(fit, classes, settings) }
}

func together(fit classify.PathFit, classes int, settings []param.Values) Fit {
	return func(ctx context.Context, k classify.Gram, y []int) ([]*classify.Model, error) {
		models, err := fit(ctx, k, y, classes, settings)
		switch {
		case errors.Is(err, classify.ErrOneClass):
			return make([]*classify.Model, len(settings)), nil
		case errors.Is(err, classify.ErrIterationLimit) && models != nil:
			return models, nil
		}
		return models, err
	}
}

// Each returns a Fit of separate settings of a learner.
func Each(learner *classify.Learner, classes int, settings []param.Values) Fit {
	if learner.Compare != nil {
		return together(learner.Compare, classes, settings)
	}
	return func(ctx context.Context, k classify.Gram, y []int) ([]*classify.Model, error) {
		list := make([]*classify.Model, len(settings))
		for i, v := range settings {
			model, err := learner.Fit(ctx, k, y, classes, v)
			if err != nil && !errors.Is(err, classify.ErrOneClass) &&
				(model == nil || !errors.Is(err, classify.ErrIterationLimit)) {
				return nil, err
			}
			list[i] = model
		}
		return list, nil
	}
}

// ScaleSetting returns the values w that give a learner the same models on the kernel s·K, or on s copies of each item, as v
// on K.
func ScaleSetting(path *classify.Path, v param.Values, s float64) param.Values {
	w := maps.Clone(v)
	x := v.Number(path.Parameter)
	if path.Ridge {
		x *= s
	} else {
		x /= s
	}
	w[path.Parameter] = param.Of(x)
	return w
}
