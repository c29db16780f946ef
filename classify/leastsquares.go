package classify

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// rlsLearner declares [FitRLS]. Its parameter cost C means the ridge λ = m/C for m items: Gärtner, Le, Smola 2006.
var rlsLearner = Learner{
	Spec: param.Spec{
		Name: "rls", Title: "regularised least squares on targets of 1 and −1",
		Source: "Gärtner, Le and Smola, A short tour of kernel methods for graphs, 2006, equation 1.2",
		Params: []param.Param{
			ridgeParam,
			{Name: "cost", Symbol: "C",
				Meaning: "cost C of regularised least squares, λ = m/C for m items; for gram, records and graphs",
				Range:   param.Above(0), Instead: "lambda"},
			WeightsParam,
		},
	},
	Fit: func(ctx context.Context, k Gram, y []int, classes int, v param.Values) (*Model, error) {
		return FitRLS(ctx, k, y, classes, ridgeOf(v, y), WeightsOf(v, y, classes))
	},
	Linear: func(ctx context.Context, f *sparse.Block[float32], y []int, classes int, v param.Values) (*LinearModel, error) {
		return FitLinearRLS(ctx, f, y, classes, ridgeOf(v, y),
			WeightsOf(v, y, classes))
	},
	Dual: true,
	Workspace: func(items, features, classes int) budget.Workspace {
		m, squares := items, 2 // Gram with λ on its diagonal, and its factor
		if features > 0 {
			m, squares = min(items, features), 3 // matrix, factor and products
		}
		return budget.Held(budget.Vector[float64](squares*m*m), budget.Vector[float64](3*items*(classes+1))) // targets, coefficients, weights
	},
	ComparedItems: fewTried,
	Path:          &leastSquaresPath,
	Solve: func(y []int, classes int, v param.Values, solve func([]float64, *mat.Dense) (*mat.Dense, error)) (*Model, error) {
		return solveRLS(y, classes, ridgeOf(v, y), WeightsOf(v, y, classes),
			func(_ []int, ridge []float64, t *mat.Dense) (*mat.Dense, error) { return solve(ridge, t) })
	},
	// Conjugate gradients take some tens of products with a column for each class, all kernel
	// values one product with a column for each item.
	Solved: 2000,
}

// fewTried is the number of items on which settings are compared if each setting costs a factorization or the distances
// between all items.
const fewTried = 250

var ridgeParam = param.Param{
	Name: "lambda", Symbol: "λ", Meaning: "λ of regularised least squares",
	Range: param.Above(0), Default: param.Of(1.0),
	Grid: param.Grid(0.001, 0.01, 0.1, 1, 10, 100),
}

// scaledRidge declares the parameters of least squares, with usual values for kernels where the mean of K(i, i) is 1.
var scaledRidge = param.Spec{Name: "rls",
	Params: []param.Param{usually(ridgeParam, 0.1, 0.001, 0.01, 0.1, 1, 10),
		WeightsParam}}

// leastSquaresPath fits all λ by one eigendecomposition.
var leastSquaresPath = Path{
	Spec: scaledRidge, Parameter: "lambda", Ridge: true,
	Fit: func() PathFit {
		return func(ctx context.Context, k Gram, y []int, classes int, settings []param.Values) ([]*Model, error) {
			return alongRidges(ctx, k, y, classes, numbers("lambda", settings),
				WeightsOf(settings[0], y, classes))
		}
	},
	// The loss is half the mean squared error of one-hot targets, summed over classes.
	LeaveOneOut: func(ctx context.Context, k Gram, y []int, classes int, settings []param.Values) (Pairs, [][]float64, []float64, error) {
		pairs, decisions, loss, err := leaveOneOut(ctx, k, y, classes,
			numbers("lambda", settings), WeightsOf(settings[0], y, classes))
		for l := range loss { // targets of ±1 are twice as far apart as one-hot targets
			loss[l] *= float64(len(pairs)) / 8
		}
		return pairs, decisions, loss, err
	},
	// Settings on features are compared on few items, for which a factorization for each λ is faster than an
	// eigendecomposition.
	OnFeatures: &Path{Spec: scaledRidge, Parameter: "lambda", Ridge: true},
}

func ridgeOf(v param.Values, y []int) float64 {
	if v.Has("cost") {
		return float64(len(LabelledItems(y))) / v.Number("cost")
	}
	return v.Number("lambda")
}

// ErrIndefinite is returned if the kernel has a negative eigenvalue that rounding does not
// explain. Least squares return it if K + λI is not positive definite.
var ErrIndefinite = errors.New("the kernel is not positive semidefinite")

// targets holds the right-hand sides of least squares: for each used item, its weight and a row of value with a target for
// each classifier. There is a classifier against [Rest] for each class with an item.
type targets struct {
	pairs  Pairs
	items  []int
	weight []float64
	value  *mat.Dense
}

func newTargets(y []int, classes int, weights []float64) (*targets, error) {
	if err := validateWeights(weights, classes); err != nil {
		return nil, err
	}
	g, err := newGroupsOfTwo(len(y), y, classes)
	if err != nil {
		return nil, err
	}
	t := &targets{pairs: g.againstRest(), items: LabelledItems(y)}
	t.weight = g.factorsTo(nil, t.items, weights)
	t.value = mat.NewDense(len(t.items), len(t.pairs), nil)
	for a, i := range t.items {
		for m, p := range t.pairs {
			if t.value.Set(a, m, -1); y[i] == p.Positive {
				t.value.Set(a, m, 1)
			}
		}
	}
	return t, nil
}

func (t *targets) ridges(lambda float64) []float64 {
	list := make([]float64, len(t.weight))
	for a, v := range t.weight {
		list[a] = lambda / v
	}
	return list
}

// FitRLS learns from the values of k between the items with y ≥ 0 by regularised least squares, also called kernel ridge
// regression. For each class c it minimises
//
//	Σ_i v_i·(f_c(i) − t_ic)² + λ‖f_c‖²,  t_ic = 1 for items of class c, −1 for other items
//
// over functions f_c = Σ_j a_jc·K(·, j), whose coefficients solve (K + λV⁻¹)·A = T with V = diag(v). The weight v_i of an
// item is the weight of its class in weights; nil means 1. There is no bias, which would change all decisions alike.
//
// It returns [ErrOneClass] if fewer than two classes have an item, and [ErrIndefinite] if K + λV⁻¹ is not positive definite.
// Cost: a Cholesky factorisation of the matrix.
func FitRLS(ctx context.Context, k Gram, y []int, classes int, lambda float64,
	weights []float64) (*Model, error) {
	if err := validateLambda(lambda); err != nil {
		return nil, err
	}
	if len(y) != k.Len() {
		panic(badLength)
	}
	return solveRLS(y, classes, lambda, weights, func(items []int, ridge []float64, t *mat.Dense) (*mat.Dense, error) {
		gram, err := between(ctx, k, items)
		if err != nil {
			return nil, err
		}
		return solve(ctx, gram, ridge, t)
	})
}

// solveRLS is [FitRLS] without kernel values. Its argument solve must return (K + diag(ridge))⁻¹·t, where K is the kernel
// between items.
func solveRLS(y []int, classes int, lambda float64, weights []float64,
	solve func(items []int, ridge []float64, t *mat.Dense) (*mat.Dense, error)) (*Model, error) {
	t, err := newTargets(y, classes, weights)
	if err != nil {
		return nil, err
	}
	coef, err := solve(t.items, t.ridges(lambda), t.value)
	if err != nil {
		return nil, err
	}
	return newKernelModel(classes, len(y), t.pairs, t.items, coef), nil
}

func validateLambda(lambda float64) error {
	if !positive(lambda) {
		return fmt.Errorf("classify: lambda %v is not a positive number", lambda)
	}
	return nil
}

// LabelledItems returns the items with y ≥ 0.
func LabelledItems(y []int) []int {
	var items []int
	for i, c := range y {
		if c >= 0 {
			items = append(items, i)
		}
	}
	return items
}

func between(ctx context.Context, k Gram, items []int) (*mat.SymDense, error) {
	sym := mat.NewSymDense(len(items), nil)
	raw := sym.RawSymmetric()
	for a, i := range items {
		if err := sched.Cause(ctx); err != nil {
			return nil, err
		}
		row := raw.Data[a*raw.Stride+a : a*raw.Stride+len(items)]
		k.PartTo(row, i, items[a:])
		for _, v := range row {
			if !finite(v) {
				return nil, ErrNotFinite
			}
		}
	}
	return sym, nil
}

// solve overwrites b with (a + diag(ridges))⁻¹·b, returns b, and overwrites a. If ctx is cancelled, the factorisation
// continues in the background, and the caller must not use a and b again.
func solve(ctx context.Context, a *mat.SymDense, ridges []float64,
	b *mat.Dense) (*mat.Dense, error) {
	for i := range a.SymmetricDim() {
		a.SetSym(i, i, a.At(i, i)+ridges[i])
	}
	var failure error
	if err := sched.Abandon(ctx, func() { failure = SolveDefinite(a, b) }); err != nil {
		return nil, err
	}
	return b, failure
}

func newKernelModel(classes, n int, pairs Pairs, items []int,
	coef mat.Matrix) *Model {
	model := &Model{Classes: classes, Items: n, Pairs: pairs,
		Machines: make([]Machine, len(pairs))}
	for m := range pairs {
		k := &model.Machines[m]
		k.Index = items
		k.Coef = make([]float64, len(items))
		for a := range items {
			k.Coef[a] = coef.At(a, m)
		}
	}
	return model
}

// FitLinearRLS is [FitRLS] on the inner products of features X. The weights are W = (XᵀVX + λI)⁻¹XᵀVT or the same W =
// Xᵀ(XXᵀ + λV⁻¹)⁻¹T, whichever needs the smaller matrix. Cost: this matrix and its Cholesky factorisation.
//
// It returns [ErrOneClass] if fewer than two classes have an item.
func FitLinearRLS[T float32 | float64](ctx context.Context, f *sparse.Block[T],
	y []int, classes int, lambda float64, weights []float64) (*LinearModel, error) {
	if err := validateLambda(lambda); err != nil {
		return nil, err
	}
	if len(y) != f.Rows {
		panic(badLength)
	}
	if len(LabelledItems(y)) <= f.Cols {
		// Products with a few items without a class cost less than a copy.
		gram, err := InnerProducts(ctx, f)
		if err != nil {
			return nil, err
		}
		model, err := FitRLS(ctx, DenseGram(gram), y, classes, lambda, weights)
		if err != nil {
			return nil, err
		}
		return LinearWeights(model, f), nil
	}
	targets, err := newTargets(y, classes, weights)
	if err != nil {
		return nil, err
	}
	squares := mat.NewSymDense(f.Cols, nil)
	raw := squares.RawSymmetric()
	sums := mat.NewDense(f.Cols, len(targets.pairs), nil)
	for a, i := range targets.items {
		if err := sched.Cause(ctx); err != nil {
			return nil, err
		}
		x := f.Row(i)
		for c, v := range x {
			if !finite(float64(v)) {
				return nil, ErrNotFinite
			}
			if v != 0 {
				weighted := targets.weight[a] * float64(v)
				addScaled(raw.Data[c*raw.Stride+c:c*raw.Stride+f.Cols],
					weighted, x[c:])
				addScaled(sums.RawRowView(c), weighted, targets.value.RawRowView(a))
			}
		}
	}
	w, err := solve(ctx, squares, slices.Repeat([]float64{lambda}, f.Cols), sums)
	if err != nil {
		return nil, err
	}
	model := newLinearModel(classes, targets.pairs, f.Cols)
	for m := range targets.pairs {
		mat.Col(model.machine(m), m, w)
	}
	return model, nil
}

// alongRidges returns the model of [FitRLS] for each λ. If the error of FitRLS is [ErrIndefinite], the model is nil.
func alongRidges(ctx context.Context, k Gram, y []int, classes int,
	lambdas, weights []float64) ([]*Model, error) {
	p, err := newRLSPath(ctx, k, y, classes, weights)
	if err != nil {
		return nil, err
	}
	models := make([]*Model, len(lambdas))
	for l, lambda := range lambdas {
		if p.isDefinite(lambda) {
			coef, _ := p.Weights(lambda)
			for a, r := range p.root {
				floats.Scale(r, coef.RawRowView(a))
			}
			models[l] = newKernelModel(classes, p.n, p.targets.pairs,
				p.targets.items, coef)
		}
	}
	return models, nil
}

// leaveOneOut returns, for each λ at index l, the decisions on each item i by classifiers fitted to all other items. They
// are
//
//	d_i = t_i − a_i/((K + λV⁻¹)⁻¹)_ii
//
// in decisions[l][i·len(pairs):]. The decisions on items that are not used are 0. If [FitRLS] returns [ErrIndefinite],
// decisions[l] is nil. squared[l] is the mean of (d − t)² over the used items and the classifiers. Cost: one
// eigendecomposition.
func leaveOneOut(ctx context.Context, k Gram, y []int, classes int,
	lambdas, weights []float64) (pairs Pairs, decisions [][]float64, squared []float64, err error) {
	p, err := newRLSPath(ctx, k, y, classes, weights)
	if err != nil {
		return nil, nil, nil, err
	}
	decisions = make([][]float64, len(lambdas))
	squared = make([]float64, len(lambdas))
	for l, lambda := range lambdas {
		decisions[l], squared[l] = p.leaveOneOut(lambda)
	}
	return p.targets.pairs, decisions, squared, nil
}

// rlsPath is the [RidgePath] of the kernel V^½·K·V^½ with the targets V^½·T, see [FitRLS].
type rlsPath struct {
	*RidgePath
	n       int
	targets *targets
	root    []float64 // V^½
}

func newRLSPath(ctx context.Context, k Gram, y []int, classes int,
	weights []float64) (*rlsPath, error) {
	if len(y) != k.Len() {
		panic(badLength)
	}
	targets, err := newTargets(y, classes, weights)
	if err != nil {
		return nil, err
	}
	p := &rlsPath{n: k.Len(), targets: targets}
	gram, err := between(ctx, k, targets.items)
	if err != nil {
		return nil, err
	}
	weighted := mat.DenseCopyOf(targets.value)
	for a, v := range targets.weight {
		p.root = append(p.root, math.Sqrt(v))
		floats.Scale(p.root[a], weighted.RawRowView(a))
		for b := range a + 1 {
			gram.SetSym(a, b, gram.At(a, b)*p.root[a]*p.root[b])
		}
	}
	if p.RidgePath, err = NewPlainGramRidgePath(ctx, gram, weighted, 0); err != nil {
		return nil, err
	}
	p.Mean = 1
	return p, nil
}

func (p *rlsPath) isDefinite(lambda float64) bool {
	if !positive(lambda) {
		panic(badLambda)
	}
	return p.Least+lambda > 0
}

// leaveOneOut returns the decisions on each item by a model of all other items, and their mean squared error. If K + λV⁻¹
// is not positive definite, decisions is nil.
func (p *rlsPath) leaveOneOut(lambda float64) (decisions []float64, squared float64) {
	if !p.isDefinite(lambda) {
		return nil, 0
	}
	machines := len(p.targets.pairs)
	decisions = make([]float64, p.n*machines)
	left := p.LeaveOneOut(lambda)
	for a, i := range p.targets.items {
		for m, d := range left.RawRowView(a) {
			decisions[i*machines+m] = d / p.root[a]
			squared += math.Pow(decisions[i*machines+m]-p.targets.value.At(a, m), 2)
		}
	}
	return decisions, squared / float64(len(p.targets.items)*machines)
}

const badLambda = "classify: lambda is not a positive number"
