package classify

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// logisticLearner declares [Logistic], and the same on a kernel, where ‖w_c‖ is the
// norm of the function Σ_i α_ic·K(·, i) of a class.
var logisticLearner = Learner{
	Spec: param.Spec{
		Name: "logistic", Title: "multinomial logistic regression with a bias",
		Source: "Hastie, Tibshirani and Friedman, The elements of statistical learning, 2009, sections 4.4 and 18.3.2",
		Params: []param.Param{{
			Name: "lambda", Symbol: "λ", Meaning: "ridge λ of logistic regression", Range: param.Above(0), Default: param.Of(1.0),
			Grid: param.Grid(0.001, 0.01, 0.1, 1, 10, 100),
		}, WeightsParam},
	},
	Fit: func(ctx context.Context, k Gram, y []int, classes int, v param.Values) (*Model, error) {
		return fitKernelSoftmax(ctx, k, y, classes, v.Number("lambda"), weightsOf(v, y, classes), true)
	},
	Linear: func(ctx context.Context, f *sparse.Block[float32], y []int, classes int, v param.Values) (*LinearModel, error) {
		wide := sparse.BlockOf(f.Rows, f.Cols, make([]float64, f.Rows*f.Cols))
		for i := range f.Rows {
			simd.ConvertTo(wide.Row(i), f.Row(i))
		}
		models, err := LogisticPath(ctx, &Logistic{Tolerance: 1e-11, Weights: weightsOf(v, y, classes)}, wide, y, classes, []float64{v.Number("lambda")})
		if models == nil {
			return nil, err
		}
		return models[0], err
	},
	LinearBytes: func(items, features, classes int) int64 {
		return 8*int64(items)*int64(features) + LogisticBytes(items, features, classes)
	},
	Dual:          true,
	Probabilities: Softmax,
	Bytes:         kernelSoftmaxBytes,
}

// Logistic is multinomial logistic regression on explicit features: the class of item
// i is c with the probability softmax(z_i)_c of the logits
//
//	z_ic = b_c + ⟨w_c, x_i⟩ + Σ_s u_s·S_s(i, c)
//
// where the last term, columns whose weights all classes share, may be absent. Fitting
// minimises
//
//	−Σ_i v_y_i·log p_i,y_i + λ/2·Σ‖w_c‖² + ν/2·Σb_c² + μ/2·‖u − u⁰‖²
//
// over items with a class, for some λ. The zero value is the default; [LogisticPath]
// fits it.
type Logistic struct {
	// BiasRidge is ν. With 0 biases are free, and classes without an item have no part;
	// otherwise all classes have one.
	BiasRidge float64
	// Weights holds the weight v of the items of each class; nil means 1.
	Weights []float64
	// Shared are the columns whose weights all classes share; nil: none.
	Shared *SharedColumns
	// Tolerance is the norm of the gradient at which the fit stops, relative to its norm where
	// all logits are 0; 0 means 1e-6.
	Tolerance float64
	// MaxSteps limits the steps of Newton's method; 0 means 200.
	MaxSteps int
	// Enough, if not nil, is shown each model of a path, and ends it with the one of which it
	// returns true.
	Enough func(*LinearModel) bool
}

// SharedColumns are columns that have a value for each item and class.
type SharedColumns struct {
	// Values has S_s(i, c) for item i in column s·classes + c.
	Values *sparse.Block[float64]
	// Prior is u⁰; nil means 0.
	Prior []float64
	// Ridge is μ; it must be positive.
	Ridge float64
}

// count returns how many columns there are.
func (s *SharedColumns) count(classes int) int {
	if s == nil {
		return 0
	}
	return s.Values.Cols / classes
}

// validate reports everything that is wrong with the settings for a number of
// classes.
func (s *Logistic) validate(classes int) error {
	errs := []error{notPositive("ridge of biases", s.BiasRidge), notPositive("tolerance", s.Tolerance)}
	if c := s.Shared; c != nil {
		if !positive(c.Ridge) {
			errs = append(errs, fmt.Errorf("classify: ridge of shared columns %v is not a positive number", c.Ridge))
		}
		if c.Values.Cols%classes != 0 {
			errs = append(errs, fmt.Errorf("classify: %d values of shared columns for %d classes", c.Values.Cols, classes))
		} else if n := c.count(classes); c.Prior != nil && len(c.Prior) != n {
			errs = append(errs, fmt.Errorf("classify: %d prior weights of %d shared columns", len(c.Prior), n))
		}
	}
	return errors.Join(errs...)
}

// LogisticPath fits s, or the default settings if s is nil, to the features of the items
// with y ≥ 0, for each λ in turn, each from the solution before.
// Falling λ take the fewest steps. Within the tolerance the order makes no difference.
// Errors are those of [FitLinearRLS], and [ErrIterationLimit]. Cost: some tens of products of the features with
// weights for each λ; of many classes and fewer items than features, of a triangle of numbers
// with weights.
func LogisticPath[T float32 | float64](ctx context.Context, s *Logistic, f *sparse.Block[T], y []int, classes int, lambdas []float64) ([]*LinearModel, error) {
	if s == nil {
		s = new(Logistic)
	}
	if err := s.validate(classes); err != nil {
		return nil, err
	}
	if s.Shared != nil && s.Shared.Values.Rows != f.Rows {
		panic(badLength)
	}
	g, err := newGroupsOfTwo(f.Rows, y, classes)
	if err != nil {
		return nil, err
	}
	if s.BiasRidge > 0 {
		g.all(classes)
	}
	items := used(y)
	if len(g.present) < manyClasses || len(items) >= f.Cols {
		return logisticPath(ctx, s, &softmaxFit[T]{features: f, rows: items, items: items}, g, lambdas)
	}
	t, err := newTriangle(ctx, f, items)
	if err != nil {
		return nil, err
	}
	fit := &softmaxFit[float64]{features: t.values, rows: t.order, triangle: t}
	for _, a := range t.order {
		fit.items = append(fit.items, items[a])
	}
	return logisticPath(ctx, s, fit, g, lambdas)
}

// logisticPath is LogisticPath for a fit with features of items.
func logisticPath[T sparse.Float](ctx context.Context, s *Logistic, fit *softmaxFit[T], g *groups, lambdas []float64) ([]*LinearModel, error) {
	classes := len(g.start) - 1
	fit.y, fit.class, fit.classes, fit.biases = g.positions(fit.items), g.present, classes, len(g.present)
	fit.weight = g.weights(s.Weights)
	fit.shared, fit.q, fit.tolerance, fit.limit = s.Shared, s.Shared.count(classes), cmp.Or(s.Tolerance, 1e-6), cmp.Or(s.MaxSteps, 200)
	fit.begin()
	if s.Shared != nil {
		fit.ridge[2] = s.Shared.Ridge
		if err := startAt(ctx, fit, s.Shared.Prior); err != nil {
			return nil, err
		}
	}
	if len(g.present) >= manyClasses { // a start that takes little, and is close to where a large λ ends
		fit.isBiasOnly, fit.ridge[1] = true, s.BiasRidge
		if err := fit.solve(ctx); err != nil && !errors.Is(err, ErrIterationLimit) {
			return nil, err
		}
		fit.isBiasOnly = false
	}
	var limited error
	var models []*LinearModel
	for _, lambda := range lambdas {
		if !positive(lambda) {
			panic(badLambda)
		}
		fit.ridge[0], fit.ridge[1] = lambda, s.BiasRidge
		if err := fit.solve(ctx); errors.Is(err, ErrIterationLimit) {
			limited = err
		} else if err != nil {
			return nil, err
		}
		m := modelOf(fit, g.againstRest())
		if fit.triangle != nil {
			if err := fit.triangle.turn(ctx, m); err != nil {
				return nil, err
			}
		}
		models = append(models, m)
		if s.Enough != nil && s.Enough(m) {
			break
		}
	}
	return models, limited
}

// startAt makes shared weights count from their prior, whose logits become the offset.
func startAt[T sparse.Float](ctx context.Context, s *softmaxFit[T], prior []float64) error {
	if prior == nil {
		return nil
	}
	s.offset = make([]float64, len(s.z))
	copy(s.step[len(s.step)-s.q:], prior)
	return s.logitsTo(ctx, s.offset, s.step)
}

// modelOf returns the model of θ.
func modelOf[T sparse.Float](s *softmaxFit[T], pairs Pairs) *LinearModel {
	weights, biases, shared := split(s, s.theta)
	m := newLinearModel(s.classes, pairs, s.features.Cols)
	for c := range s.class {
		copy(m.machine(c), weights[c*softmaxStride(s.features.Cols):])
	}
	copy(m.Bias, biases)
	m.Shared = append(m.Shared, shared...)
	if s.shared != nil && s.shared.Prior != nil {
		addScaled(m.Shared, 1, s.shared.Prior)
	}
	return m
}

// all makes every class one that has items, of which there may be none.
func (g *groups) all(classes int) {
	g.present = g.present[:0]
	for c := range classes {
		g.present = append(g.present, c)
	}
}

// LogisticBytes is the memory of [LogisticPath] without the features and the models.
func LogisticBytes(items, features, classes int) int64 {
	limit := softmaxBytes(items, features, classes)
	if m := min(items, features); classes >= manyClasses {
		limit = max(limit, triangleBytes(m, features)+softmaxBytes(m, m, classes))
	}
	return limit
}
