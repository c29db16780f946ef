package classify

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"

	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// linearSVMLearner declares [LinearSVM].
var linearSVMLearner = Learner{
	Spec: param.Spec{
		Name: "linear-svm", Title: "support vector machines on features, the bias among the weights",
		Source: "Hsieh, Chang, Lin, Keerthi and Sundararajan, A dual coordinate descent method for large-scale linear SVM, ICML 2008",
		Params: []param.Param{costParam, WeightsParam, strategyParam},
	},
	Fit: func(ctx context.Context, k Gram, y []int, classes int, v param.Values) (*Model, error) {
		return linearSVMOf(v, y, classes).fitGram(ctx, k, y, classes)
	},
	Dual:  true,
	Bytes: func(items, _ int) int64 { return 3 * 8 * int64(items) * int64(items) }, // values, factor, its rows
	Linear: func(ctx context.Context, f *sparse.Block[float32], y []int, classes int, v param.Values, rngSeed uint64, workers int) (*LinearModel, error) {
		s := linearSVMOf(v, y, classes)
		s.RNGSeed, s.Workers = rngSeed, workers
		return FitLinearSVM(ctx, s, f, y, classes)
	},
	LinearBytes: linearSVMBytes,
	Path: &Path{
		Spec:      param.Spec{Name: "linear-svm", Params: []param.Param{scaledCostParam, WeightsParam, scaledStrategyParam}},
		Parameter: "cost", OnFeatures: &svmPath, For: svmPath.For, Pairwise: svmPath.Pairwise, Noun: svmPath.Noun,
	},
}

// linearSVMBytes is the memory of the items of the classifiers that are fitted in parallel.
func linearSVMBytes(l *Load) int64 {
	const position = 16 * 8
	return l.Workers * position * l.Largest
}

// linearSVMOf returns the settings with the given values of the parameters.
func linearSVMOf(v param.Values, y []int, classes int) *LinearSVM {
	return &LinearSVM{Cost: v.Number("cost"), Weights: weightsOf(v, y, classes), OneVsRest: v.Word("strategy") == "one-vs-rest"}
}

// fitGram fits the classifiers to features whose inner products are the kernel values of
// the used items; all such features give the same decisions. The weights Σ_i α_i·g_i
// belong to as many items as the kernel has rank.
func (s *LinearSVM) fitGram(ctx context.Context, k Gram, y []int, classes int) (*Model, error) {
	if _, err := newGroupsOfTwo(k.Len(), y, classes); err != nil {
		return nil, err
	}
	items := used(y)
	g, pivots, err := factor(ctx, k, items)
	if err != nil {
		return nil, err
	}
	class := make([]int, len(items))
	for a, i := range items {
		class[a] = y[i]
	}
	l, err := FitLinearSVM(ctx, s, g, class, classes)
	if l == nil {
		return nil, err
	}
	model := &Model{Classes: classes, Items: k.Len(), Pairs: l.Pairs, Machines: make([]Machine, len(l.Pairs))}
	for m := range l.Pairs {
		machine := &model.Machines[m]
		machine.Rho = -l.Bias[m]
		left := slices.Clone(l.machine(m)) // of the weights, without the items that come later
		for r := len(pivots) - 1; r >= 0; r-- {
			row := g.Row(pivots[r])
			coef := left[r] / row[r]
			addScaled(left, -coef, row)
			machine.Index, machine.Coef = append(machine.Index, items[pivots[r]]), append(machine.Coef, coef)
		}
	}
	return model, err
}

// LinearSVM is a support vector machine on explicit features. Each binary
// machine minimises
//
//	½‖w‖² + ½b² + Σ C_i·max(0, 1 − y_i·(⟨w, x_i⟩ + b))
//
// where C_i is Cost times the weight of the item's class; unlike in [SVM] the
// bias is a weight like the others, that of a constant feature. The zero value
// is the default; [FitLinearSVM] fits it.
type LinearSVM struct {
	// Cost is C; 0 means 1.
	Cost float64
	// Tolerance is the difference between the largest and the smallest
	// projected gradient of the dual seen during a pass over all items, at
	// which the fit stops; 0 means 0.1, as in LIBLINEAR.
	Tolerance float64
	// Weights holds a factor of Cost for each class; nil means 1.
	Weights []float64
	// OneVsRest trains a classifier for every class against all others, where there are more
	// than two, instead of one for every two classes.
	OneVsRest bool
	// MaxPasses limits the passes of each classifier over its items; 0 means 1000.
	MaxPasses int
	// RNGSeed chooses the order in which items are visited.
	RNGSeed uint64
	// Workers is the number of classifiers trained at the same time; 0 means
	// GOMAXPROCS.
	Workers int
}

// validate reports everything that is wrong with the settings for a number of
// classes.
func (s *LinearSVM) validate(classes int) error {
	return errors.Join(notPositive("cost", s.Cost), notPositive("tolerance", s.Tolerance), validateWeights(s.Weights, classes))
}

// filled returns the settings with defaults in place of zeros.
func (s *LinearSVM) filled() LinearSVM {
	var f LinearSVM
	if s != nil {
		f = *s
	}
	f.Cost, f.Tolerance, f.MaxPasses = cmp.Or(f.Cost, 1), cmp.Or(f.Tolerance, 0.1), cmp.Or(f.MaxPasses, 1000)
	return f
}

// FitLinearSVM fits s, or the default settings if s is nil, to the features of the
// items with y ≥ 0. Cost: a product of each feature of each item a pass.
//
// It returns [ErrOneClass] if fewer than two classes have an item, and a model
// together with [ErrIterationLimit] if a classifier did not reach the tolerance.
func FitLinearSVM[T float32 | float64](ctx context.Context, s *LinearSVM, f *sparse.Block[T], y []int, classes int) (*LinearModel, error) {
	if s != nil {
		if err := s.validate(classes); err != nil {
			return nil, err
		}
	}
	set := s.filled()
	g, err := newGroupsOfTwo(f.Rows, y, classes)
	if err != nil {
		return nil, err
	}
	model := newLinearModel(classes, g.pairs(nil, set.OneVsRest), f.Cols)
	model.Iterations = make([]int, len(model.Pairs))
	square := make([]float64, f.Rows)
	for _, i := range g.items {
		square[i] = inner(f.Row(i), f.Row(i)) + 1
		if !finite(square[i]) {
			return nil, ErrNotFinite
		}
	}
	err = machines(ctx, set.Workers, len(model.Pairs), func(_, m int) error {
		d := descent[T]{features: f, w: model.machine(m)}
		d.start(&set, g, model.Pairs[m], square)
		rng := rand.New(rand.NewPCG(set.RNGSeed, uint64(m)))
		passes, err := d.solve(ctx, set.Tolerance, set.MaxPasses, rng)
		model.Bias[m] = d.b
		model.Iterations[m] = passes
		return err
	})
	if err != nil && !errors.Is(err, ErrIterationLimit) {
		return nil, err
	}
	return model, err
}
