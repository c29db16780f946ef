package classify

import (
	"context"
	"math"

	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// Gram gives the values of a kernel between n items. It must be safe for concurrent use.
//
// If items occur more than once, a Gram may have a method Alike() []int. It numbers the distinct items from 0 and returns
// the number of each item.
type Gram interface {
	// Len returns the number of items.
	Len() int
	// RowTo stores K(i, j) in dst[j] for all items j.
	RowTo(dst []float64, i int)
	// PartTo stores K(i, items[j]) in dst[j]. Learners call no other method for values.
	PartTo(dst []float64, i int, items []int)
}

type denseGram[T sparse.Float] sparse.Block[T]

// DenseGram returns the values of a symmetric matrix as a Gram, K(i, j) = k_ij. It shares
// memory with k.
func DenseGram[T float32 | float64](k *sparse.Block[T]) Gram {
	if k.Rows != k.Cols {
		panic(badShape)
	}
	return (*denseGram[T])(k)
}

func (g *denseGram[T]) Len() int { return g.Rows }

func (g *denseGram[T]) row(i int) []T {
	return g.Data[i*g.Stride:][:g.Cols]
}

func (g *denseGram[T]) RowTo(dst []float64, i int) {
	if len(dst) != g.Cols {
		panic(badLength)
	}
	simd.ConvertTo(dst, g.row(i))
}

func (g *denseGram[T]) PartTo(dst []float64, i int, items []int) {
	takeTo(dst, g.row(i), items)
}

func (g *denseGram[T]) roundedTo(dst []float32, i int, items []int) {
	takeTo(dst, g.row(i), items)
}

// takeTo stores row[items[j]] in dst[j].
func takeTo[D, S sparse.Float](dst []D, row []S, items []int) {
	dst = dst[:len(items)]
	for j, item := range items {
		dst[j] = D(row[item])
	}
}

type linearGram[T sparse.Float] struct{ *sparse.Block[T] }

// LinearGram returns the linear kernel K(i, j) = ⟨f_i, f_j⟩ of the rows of f as a Gram. A row costs Rows·Cols products.
// Products and sums are float64. The Gram shares memory with f.
func LinearGram[T float32 | float64](f *sparse.Block[T]) Gram {
	return linearGram[T]{f}
}

func (f linearGram[T]) Len() int { return f.Rows }

func (f linearGram[T]) RowTo(dst []float64, i int) {
	if len(dst) != f.Rows {
		panic(badLength)
	}
	x := f.Row(i)
	for j := range dst {
		dst[j] = inner(x, f.Row(j))
	}
}

func (f linearGram[T]) PartTo(dst []float64, i int, items []int) {
	x := f.Row(i)
	dst = dst[:len(items)]
	for j, item := range items {
		dst[j] = inner(x, f.Row(item))
	}
}

// InnerProducts returns the values ⟨f_i, f_j⟩ of [LinearGram] between all rows of f, symmetric to the bit. The error is the
// error of ctx. Cost: Rows²·Cols/2 products and Rows² values.
func InnerProducts[T float32 | float64](ctx context.Context, f *sparse.Block[T]) (*sparse.Block[float64], error) {
	return rowProducts(ctx, f, f, 0)
}

func rowProducts[T sparse.Float](ctx context.Context, f, g *sparse.Block[T],
	workers int) (*sparse.Block[float64], error) {
	k := sparse.BlockOf(f.Rows, g.Rows, make([]float64, f.Rows*g.Rows))
	return k, blocks.AddProducts(ctx, k, f, g, workers)
}

// inner returns ⟨x, y⟩ as four partial sums, which the processor can compute in parallel. The value does not depend on the
// order of x and y.
func inner[X, Y sparse.Float](x []X, y []Y) float64 {
	var a, b, c, d float64
	y = y[:len(x)]
	for len(x) >= 4 && len(y) >= 4 {
		a += float64(x[0]) * float64(y[0])
		b += float64(x[1]) * float64(y[1])
		c += float64(x[2]) * float64(y[2])
		d += float64(x[3]) * float64(y[3])
		x, y = x[4:], y[4:]
	}
	y = y[:len(x)]
	for i, v := range x {
		a += float64(v) * float64(y[i])
	}
	return (a + b) + (c + d)
}

func addScaled[T sparse.Float](dst []float64, a float64, x []T) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] += a * float64(v)
	}
}

// roundedGram is a Gram with roundedTo, which is PartTo in single precision.
type roundedGram interface {
	roundedTo(dst []float32, i int, items []int)
}

const (
	badShape  = "classify: dimension mismatch"
	badLength = "classify: slice of the wrong length"
	badClass  = "classify: class out of range"
)

// Model is a fitted kernel model: for any item it computes the decision of every classifier in
// Pairs.
type Model struct {
	Classes  int // number of classes, with or without items
	Items    int // number of items of the Gram
	Pairs    Pairs
	Machines []Machine // nil: scores are not linear in kernel values
	Rule     Rule      // computes the scores if Machines is nil

	// IsIndefinite reports that the kernel is not positive semidefinite. The model may then not be optimal.
	IsIndefinite bool
}

// Rule computes scores that are not linear in kernel values. It must be safe for concurrent use.
type Rule interface {
	// ScoresTo stores the scores of an item x in dst, which has the length of
	// Model.Pairs. row[i] is K(x, i) for all items i of the Gram, and self is K(x, x).
	ScoresTo(dst, row []float64, self float64)
}

// Machine is a binary kernel classifier with the decision Σ_j Coef[j]·K(x, Index[j]) − Rho.
type Machine struct {
	Index      []int     // support vectors, positive class first
	Coef       []float64 // y·α of each support vector, not 0
	Rho        float64
	Objective  float64 // Σα − ½ΣΣ α_i·α_j·y_i·y_j·K_ij, the dual objective
	Iterations int
	Bounded    int // support vectors with α = C
}

// ScoresTo stores the score of each of Pairs for an item x in dst, and returns dst. row[i] is
// K(x, i) for all items i of the Gram, and self is K(x, x). If dst is nil, ScoresTo allocates
// it. Cost: one product for each support vector of each classifier.
func (m *Model) ScoresTo(dst, row []float64, self float64) []float64 {
	if len(row) != m.Items {
		panic(badLength)
	}
	dst = destination(dst, len(m.Pairs))
	if m.Rule != nil {
		m.Rule.ScoresTo(dst, row, self)
		return dst
	}
	for i := range m.Machines {
		k := &m.Machines[i]
		sum := 0.0
		coef := k.Coef[:len(k.Index)]
		for j, item := range k.Index {
			sum += coef[j] * row[item]
		}
		dst[i] = sum - k.Rho
	}
	return dst
}

// Support returns the number of distinct items that are support vectors. Only classifiers with Iterations > 0 count: in
// other classifiers every item has a coefficient. If the model has a Rule, Support returns the result of its method
// Support() int, or 0 if the Rule has no such method.
func (m *Model) Support() (items int) {
	if m.Rule != nil {
		if machine, ok := m.Rule.(interface{ Support() int }); ok {
			return machine.Support()
		}
		return 0
	}
	counted := make([]bool, m.Items)
	for i := range m.Machines {
		if m.Machines[i].Iterations == 0 {
			continue // every item has a coefficient
		}
		for _, item := range m.Machines[i].Index {
			if !counted[item] {
				counted[item] = true
				items++
			}
		}
	}
	return items
}

// LinearWeights returns the classifiers of m with the kernel K(i, j) = ⟨f_i, f_j⟩ as linear functions of features: weights w
// = Σ_j Coef[j]·f_Index[j] and bias −Rho. f holds the features of the items.
func LinearWeights[T float32 | float64](m *Model, f *sparse.Block[T]) *LinearModel {
	if f.Rows != m.Items {
		panic(badShape)
	}
	l := newLinearModel(m.Classes, m.Pairs, f.Cols)
	for i := range m.Machines {
		k := &m.Machines[i]
		w := l.machine(i)
		for j, item := range k.Index {
			addScaled(w, k.Coef[j], f.Row(item))
		}
		l.Bias[i] = -k.Rho
	}
	return l
}

// LinearModel holds a linear function of p features for each of Pairs.
type LinearModel struct {
	Classes  int
	Features int // p, the number of features
	Pairs    Pairs
	// Weights has a row of p weights for each classifier.
	Weights []float64
	Bias    []float64
	// Shared are the weights of [SharedColumns]; nil: none.
	Shared []float64
}

func newLinearModel(classes int, pairs Pairs, p int) *LinearModel {
	return &LinearModel{
		Classes:  classes,
		Features: p,
		Pairs:    pairs,
		Weights:  make([]float64, len(pairs)*p),
		Bias:     make([]float64, len(pairs)),
	}
}

func (l *LinearModel) machine(i int) []float64 {
	return l.Weights[i*l.Features : (i+1)*l.Features : (i+1)*l.Features]
}

// ScoresTo stores in dst, and returns, the decision ⟨w, x⟩ + bias of every classifier for an item with the features x. If
// l.Shared is set, shared must hold the item's row of [SharedColumns].Values and its weighted sum is added; otherwise
// shared is nil. If dst is nil, ScoresTo allocates it.
func (l *LinearModel) ScoresTo(dst, x, shared []float64) []float64 {
	if len(x) != l.Features || len(shared) != len(l.Shared)*l.Classes {
		panic(badLength)
	}
	dst = destination(dst, len(l.Pairs))
	for i := range dst {
		dst[i] = inner(x, l.machine(i)) + l.Bias[i]
	}
	for s, u := range l.Shared {
		for a, p := range l.Pairs {
			dst[a] += u * shared[s*l.Classes+p.Positive]
		}
	}
	return dst
}

func destination(dst []float64, n int) []float64 {
	if dst == nil {
		return make([]float64, n)
	}
	if len(dst) != n {
		panic(badLength)
	}
	return dst
}

func finite(v float64) bool {
	return !math.IsNaN(v) && !math.IsInf(v, 0)
}
