package classify

import (
	"cmp"
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// factor returns the pivoted Cholesky factor G of the kernel K between items, K = GGᵀ. Row a of G holds r features of
// items[a], where r is the rank of K. The factorisation ends when the rest of the diagonal is below 1e-15 of the largest
// value. If rounding errors are larger, this bound is raised up to 1e-6. The rows of G at the positions pivots, in this
// order, are a lower triangle. If K is not positive semidefinite, the error is [ErrIndefinite]. Cost: m·r² products for m
// items.
func factor(ctx context.Context, k Gram,
	items []int) (g *sparse.Block[float64], pivots []int, err error) {
	gram, err := between(ctx, k, items)
	if err != nil {
		return nil, nil, err
	}
	var largest float64
	for i := range items {
		largest = max(largest, gram.At(i, i))
	}
	for i := range items {
		for j := range items[:i+1] {
			bound := math.Sqrt(max(0, gram.At(i, i)) * max(0, gram.At(j, j)))
			if math.Abs(gram.At(i, j)) > bound+1e-5*largest {
				return nil, nil, ErrIndefinite
			}
		}
	}
	for _, share := range []float64{1e-15, 1e-12, 1e-9, 1e-6} {
		var c mat.PivotedCholesky
		if err := sched.Abandon(ctx, func() { c.Factorize(gram, share*largest) }); err != nil {
			return nil, nil, err
		}
		g = rowsOf(&c)
		left := 0.0 // least value of the diagonal, negative only by rounding
		for i := range items {
			left = min(left, gram.At(i, i)-inner(g.Row(i), g.Row(i)))
		}
		if left >= -10*share*largest {
			return g, c.ColumnPivots(nil)[:g.Cols], nil
		}
	}
	return nil, nil, ErrIndefinite
}

func rowsOf(c *mat.PivotedCholesky) *sparse.Block[float64] {
	m := c.SymmetricDim()
	rank := c.Rank()
	g := &sparse.Block[float64]{Rows: m, Cols: rank, Stride: rank,
		Data: make([]float64, m*rank)}
	upper := c.RawU()
	for j, i := range c.ColumnPivots(nil) {
		row := g.Row(i)
		for r := range row[:min(j+1, rank)] {
			row[r] = upper.At(r, j)
		}
	}
	return g
}

// kernelSoftmax is multinomial logistic regression with logits Σ_i α_ic·K(·, i), with or without free biases. At the minimum
// with a ridge λ, α is V(Y − π)/λ for one-hot classes Y, probabilities π and class weights V of the items.
type kernelSoftmax struct {
	ridge  func(v param.Values) float64 // λ
	biased bool
}

func (l kernelSoftmax) fit(ctx context.Context, k Gram, y []int, classes int, v param.Values) (*Model, error) {
	models, err := l.fitAll(ctx, k, y, classes, []param.Values{v}, 0)
	if err != nil {
		return nil, err
	}
	return models[0], nil
}

// compare fits a model with each setting, for comparison. A fit ends when the error of its weights is at most a hundredth
// of their norm.
func (l kernelSoftmax) compare(ctx context.Context, k Gram, y []int, classes int, settings []param.Values) ([]*Model, error) {
	return l.fitAll(ctx, k, y, classes, settings, 1e-2)
}

// fitAll fits a model with each setting. A fit ends when the relative error of its weights is at most enough. fitAll
// computes the features once, and starts each fit from the minimum with the next larger ridge.
func (l kernelSoftmax) fitAll(ctx context.Context, k Gram, y []int, classes int, settings []param.Values,
	enough float64) ([]*Model, error) {
	g, err := newGroupsOfTwo(k.Len(), y, classes)
	if err != nil {
		return nil, err
	}
	items := LabelledItems(y)
	features, _, err := factor(ctx, k, items)
	if err != nil {
		return nil, err
	}
	pivots := sched.UpTo(len(items))
	s := &softmaxFit[float64]{features: features, items: pivots, rows: pivots, y: g.positions(items),
		class: g.present, tolerance: 1e-12, enough: enough, limit: 200}
	if l.biased {
		s.biases = len(g.present)
	}
	s.begin()
	models := make([]*Model, len(settings))
	order := sched.Order(len(settings), func(a, b int) int { return cmp.Compare(l.ridge(settings[b]), l.ridge(settings[a])) })
	for _, i := range order {
		s.ridge[0] = l.ridge(settings[i])
		s.weight = g.weights(WeightsOf(settings[i], y, classes))
		if err := s.solve(ctx); err != nil {
			return nil, err
		}
		models[i] = &Model{Classes: classes, Items: k.Len(), Pairs: g.againstRest(), Machines: s.kernelMachines(items)}
	}
	return models, nil
}

func (s *softmaxFit[T]) kernelMachines(items []int) []Machine {
	s.predict()
	_, biases, _ := s.split(s.theta)
	machines := make([]Machine, len(s.class))
	for c := range machines {
		machine := Machine{Index: items, Coef: make([]float64, len(items))}
		for a := range items {
			weight := weightOf(s.weight, s.y[a]) / s.ridge[0]
			machine.Coef[a] = float64(-s.share[a*len(machines)+c] * weight)
			if s.y[a] == c {
				machine.Coef[a] += weight
			}
		}
		if len(biases) > 0 {
			machine.Rho = -biases[c]
		}
		machines[c] = machine
	}
	return machines
}

func (g *groups) weights(sums []float64) (list []float64) {
	if sums != nil {
		for _, c := range g.present {
			list = append(list, sums[c])
		}
	}
	return list
}

func (g *groups) positions(items []int) []int {
	offset := make([]int, len(g.start))
	for p, c := range g.present {
		offset[c] = p
	}
	y := make([]int, len(items))
	for a, i := range items {
		y[a] = offset[g.y[i]]
	}
	return y
}

func kernelSoftmaxWorkspace(items, _, classes int) budget.Workspace {
	return softmaxWorkspace(items, items, classes).AndHeld(budget.Vector[float64](3 * items * items))
}

var gpSoftmax = kernelSoftmax{ridge: func(v param.Values) float64 { return 1 / v.Number("variance") }}

// gpLearner is classification by Gaussian processes with several classes: Gärtner, Le, Smola, A short tour of kernel methods
// for graphs (2006), section 1.3.3. Latent values of a class have the covariance σ²K, and labels the softmax of latent
// values. At the mode of the posterior α minimises
//
//	Σ_i log Σ_c exp (Kα)_ic − tr YᵀKα + tr αᵀKα/(2σ²)
//
// over items with one-hot classes Y. Scores are the latent values Σ_i α_ic·K(x, i). There is no bias.
var gpLearner = Learner{
	Spec: param.Spec{
		Name: "gp", Title: "Gaussian processes of several classes, at the mode of their posterior",
		Source: "Gärtner, Le and Smola, A short tour of kernel methods for graphs, 2006, section 1.3.3, equation 1.8",
		Params: []param.Param{{
			Name: "variance", Symbol: "σ²",
			Meaning: "variance of Gaussian processes in addition to the kernel's",
			Range:   param.Above(0), Default: param.Of(1.0),
			Grid: param.Grid(0.01, 0.1, 1, 10, 100, 1000),
		}, WeightsParam},
	},
	Fit:           gpSoftmax.fit,
	Compare:       gpSoftmax.compare,
	Parameter:     "variance",
	Dual:          true,
	Probabilities: Softmax,
	Workspace:     kernelSoftmaxWorkspace,
}
