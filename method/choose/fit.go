package choose

import (
	"context"
	"errors"
	"maps"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/param"
)

// Fit fits a model for each setting of a list to the items with y ≥ 0, whose classes are y and whose kernel values are in k.
// If the kernel does not allow a setting, its model is nil. If all items have one class, all models are nil. Models are
// valid until the next call of the Fit.
type Fit func(ctx context.Context, k classify.Gram, y []int) ([]*classify.Model, error)

// OnPath returns a function that returns a [Fit] for a list of settings on the given path of learner, such as one of ridge
// parameters. All these Fits share memory.
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

// Each returns a [Fit] that fits the settings of a learner one by one, or together if the learner can.
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

// ScaleSetting returns values that fit the same models on the kernel s·K, or on s copies of each item, as the values v on
// the kernel K.
func ScaleSetting(path *classify.Path, v param.Values, s float64) param.Values {
	return scaleValue(v, path.Parameter, path.Ridge, s)
}

func scaleValue(v param.Values, name string, isRidge bool, s float64) param.Values {
	w := maps.Clone(v)
	x := v.Number(name)
	if isRidge {
		x *= s
	} else {
		x /= s
	}
	w[name] = param.Of(x)
	return w
}

// UnitParameter returns the name of the parameter whose value depends on the unit of the kernel, and whether the value grows
// with the kernel, see [classify.Path]. The name is "" if the learner has none.
func UnitParameter(l *classify.Learner) (name string, isRidge bool) {
	if l.Path != nil {
		return l.Path.Parameter, l.Path.Ridge
	}
	return l.Parameter, l.Ridge
}

// SettingOn returns values that fit the same models of a learner on the kernel s·K as the values v on the kernel K. A learner
// without a parameter that depends on the unit of the kernel keeps v.
func SettingOn(l *classify.Learner, v param.Values, s float64) param.Values {
	name, isRidge := UnitParameter(l)
	if name == "" {
		return v
	}
	return scaleValue(v, name, isRidge, s)
}
