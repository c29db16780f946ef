package classify

import (
	"cmp"
	"context"
	"errors"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

var logisticSoftmax = kernelSoftmax{ridge: func(v param.Values) float64 { return v.Number("lambda") }, biased: true}

// logisticLearner declares [Logistic], also on a kernel, where ‖w_c‖ is the norm of the function Σ_i α_ic·K(·, i).
var logisticLearner = Learner{
	Spec: param.Spec{
		Name: "logistic", Title: "multinomial logistic regression with a bias",
		Source: "Hastie, Tibshirani and Friedman, The elements of statistical learning, 2009, sections 4.4 and 18.3.2",
		Params: []param.Param{{
			Name: "lambda", Symbol: "λ", Meaning: "ridge λ of logistic regression",
			Range: param.Above(0), Default: param.Of(1.0),
			Grid: param.Grid(0.001, 0.01, 0.1, 1, 10, 100),
		}, WeightsParam},
	},
	Fit:     logisticSoftmax.fit,
	Compare: logisticSoftmax.compare,
	Linear: func(ctx context.Context, f *sparse.Block[float32], y []int, classes int, v param.Values) (*LinearModel, error) {
		models, err := LogisticPath(ctx,
			&Logistic{Tolerance: 1e-11, Weights: WeightsOf(v, y, classes)}, f, y,
			classes, []float64{v.Number("lambda")})
		if models == nil {
			return nil, err
		}
		return models[0], err
	},
	Parameter:     "lambda",
	Ridge:         true,
	Dual:          true,
	Probabilities: Softmax,
	Workspace:     logisticWorkspace,
}

// Logistic is multinomial logistic regression on explicit features: the class of item i is c with the probability
// softmax(z_i)_c of the logits
//
//	z_ic = b_c + ⟨w_c, x_i⟩ + Σ_s u_s·S_s(i, c)
//
// where the last term, columns whose weights all classes share, may be absent. Fitting minimises
//
//	−Σ_i v_y_i·log p_i,y_i + λ/2·Σ‖w_c‖² + ν/2·Σb_c² + μ/2·‖u − u⁰‖²
//
// over items with a class, for some λ. The zero value is the default; [LogisticPath] fits it.
type Logistic struct {
	// BiasRidge is ν. If it is 0, biases are free, and classes without an item have no
	// logits; otherwise all classes have logits.
	BiasRidge float64
	// Weights holds the weight v of the items of each class; nil means 1.
	Weights []float64
	// Shared are the columns whose weights all classes share; nil: none.
	Shared *SharedColumns
	// Tolerance is the norm of the gradient at which the fit stops, relative to its norm at zero logits; 0 means
	// 1e-6.
	Tolerance float64
	// MaxSteps limits the steps of Newton's method; 0 means 200.
	MaxSteps int
	// Enough, if not nil, is called with each model of a path. If it returns true, the path ends with this model.
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

func (s *SharedColumns) count(classes int) int {
	if s == nil {
		return 0
	}
	return s.Values.Cols / classes
}

// LogisticPath returns a model for each λ, fitted to the features of the items with y ≥ 0. A nil s means defaults. Each fit
// starts from the previous solution, so that decreasing λ take the fewest steps. It returns the errors of [FitLinearRLS],
// and [ErrIterationLimit]. Cost: some tens of products of the features with weights for each λ.
func LogisticPath[T float32 | float64](ctx context.Context, s *Logistic,
	f *sparse.Block[T], y []int, classes int,
	lambdas []float64) ([]*LinearModel, error) {
	if s == nil {
		s = new(Logistic)
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
	items := LabelledItems(y)
	if len(g.present) < manyClasses || len(items) >= f.Cols {
		return logisticPath(ctx, s,
			&softmaxFit[T]{features: f, rows: items, items: items}, g, lambdas)
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

func logisticPath[T sparse.Float](ctx context.Context, s *Logistic,
	fit *softmaxFit[T], g *groups, lambdas []float64) ([]*LinearModel, error) {
	classes := len(g.start) - 1
	fit.y = g.positions(fit.items)
	fit.class = g.present
	fit.classes = classes
	fit.biases = len(g.present)
	fit.weight = g.weights(s.Weights)
	fit.shared, fit.q, fit.tolerance, fit.limit = s.Shared, s.Shared.count(classes),
		cmp.Or(s.Tolerance, 1e-6), cmp.Or(s.MaxSteps, 200)
	fit.begin()
	if s.Shared != nil {
		fit.ridge[2] = s.Shared.Ridge
		if err := fit.startAt(ctx, s.Shared.Prior); err != nil {
			return nil, err
		}
	}
	if len(g.present) >= manyClasses { // a cheap start, close to the minimum for large λ
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
		m := fit.model(g.againstRest())
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

// startAt makes prior the origin of the shared weights: θ then holds their differences from prior, and the offset holds the
// logits of prior.
func (s *softmaxFit[T]) startAt(ctx context.Context, prior []float64) error {
	if prior == nil {
		return nil
	}
	s.offset = make([]float64, len(s.z))
	copy(s.step[len(s.step)-s.q:], prior)
	return s.logitsTo(ctx, s.offset, s.step)
}

func (s *softmaxFit[T]) model(pairs Pairs) *LinearModel {
	weights, biases, shared := s.split(s.theta)
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

func (g *groups) all(classes int) {
	g.present = g.present[:0]
	for c := range classes {
		g.present = append(g.present, c)
	}
}

// logisticWorkspace declares the memory of [LogisticPath], without the features and the models. If features is 0, it
// declares the memory of a fit to a kernel.
func logisticWorkspace(items, features, classes int) budget.Workspace {
	if features == 0 {
		return kernelSoftmaxWorkspace(items, 0, classes)
	}
	w := softmaxWorkspace(items, features, classes)
	if m := min(items, features); classes >= manyClasses {
		// Features and their products, each twice, their factor and its rows, and the memory of turn.
		w = w.Or(softmaxWorkspace(m, m, classes).AndHeld(budget.Vector[float64](m * (2*features + 5*m))))
	}
	return w
}

// triangle holds features L that replace features X if there are fewer items than features: X = LQ with a lower triangle L
// and orthonormal rows Q. The weights θ of L and Qᵀθ of X have the same logits and the same norm, so that the minimum is
// the same.
type triangle struct {
	values *sparse.Block[float64] // L, by item
	order  []int                  // row order[a] has its last nonzero in column a
	turned *sparse.Block[float64] // Xᵀ, of the first L.Cols items in order
}

// With at least manyClasses classes, logistic regression uses a [triangle] if there are fewer items than features, and
// starts from biases and shared weights alone: five λ with 505 items and 1,461 features of 199 classes take 1.5 s in place
// of 5.5 s.
const manyClasses = 16

// newTriangle returns Cholesky's factor of XXᵀ, where the rows of X are the rows items of f. Cost: m²·p/2 products for m items and p
// features, and m³/3.
func newTriangle[T sparse.Float](ctx context.Context, f *sparse.Block[T],
	items []int) (*triangle, error) {
	x := sparse.NewBlock[T](len(items), f.Cols)
	for a, i := range items {
		copy(x.Row(a), f.Row(i))
	}
	gram, err := InnerProducts(ctx, x)
	if err != nil {
		return nil, err
	}
	t := &triangle{}
	var pivots []int
	if t.values, pivots, err = factor(ctx, DenseGram(gram), sched.UpTo(len(items))); err != nil {
		return nil, err
	}
	first := sched.Mark(len(items), pivots)
	t.order = pivots
	for a := range items {
		if !first[a] {
			t.order = append(t.order, a)
		}
	}
	t.turned = sparse.NewBlock[float64](f.Cols, t.values.Cols)
	for position, a := range t.order[:t.values.Cols] {
		for j, v := range x.Row(a) {
			t.turned.Row(j)[position] = float64(v)
		}
	}
	return t, nil
}

// turn replaces the weights θ of L in m by the weights Xᵀα of X, where Lᵀα = θ.
func (t *triangle) turn(ctx context.Context, m *LinearModel) error {
	r := t.values.Cols
	upper := make([]float64, r*r)
	for position, a := range t.order[:r] {
		copy(upper[position*r:], t.values.Row(a)[:position+1])
	}
	weights := sparse.BlockOf(len(m.Pairs), r, m.Weights)
	blas64.Trsm(blas.Right, blas.NoTrans, 1, blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: r, Stride: r, Data: upper},
		blas64.General{Rows: weights.Rows, Cols: r, Stride: r, Data: weights.Data})
	turned, err := rowProducts(ctx, weights, t.turned, 0)
	if err != nil {
		return err
	}
	m.Features = t.turned.Rows
	m.Weights = turned.Data
	return nil
}
