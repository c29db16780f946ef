package classify

import (
	"context"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
)

// triangle has fewer features for fewer items than features X: X = LQ, where L is a lower
// triangle and the rows of Q are orthonormal, as many as X has rank. The logits of weights Qᵀθ
// are those of weights θ of L, and Qᵀθ has the norm of θ, so that a fit has the same minimum.
type triangle struct {
	values *sparse.Block[float64] // L, a row for each of the items
	order  []int                  // of these rows: the a-th of them ends with column a
	turned *sparse.Block[float64] // Xᵀ of as many rows as there are columns, the first in order
}

// manyClasses is the number of classes from which on logistic regression takes a triangle where
// there are fewer items than features, and starts from biases and shared weights alone: five λ
// with 505 items and 1,461 features of 199 classes take 1.5 s in place of 5.5. With fewer
// classes either way takes little.
const manyClasses = 16

// newTriangle returns that of some of the items, from Cholesky's factor of XXᵀ. Cost: m²·p/2
// products for m items and p features, and m³/3.
func newTriangle[T sparse.Float](ctx context.Context, f *sparse.Block[T], items []int) (*triangle, error) {
	x := sparse.NewBlock[T](len(items), f.Cols)
	for a, i := range items {
		copy(x.Row(a), f.Row(i))
	}
	gram, err := InnerProducts(ctx, x, 0)
	if err != nil {
		return nil, err
	}
	t := &triangle{}
	var pivots []int
	if t.values, pivots, err = factor(ctx, DenseGram(gram), sched.UpTo(len(items))); err != nil {
		return nil, err
	}
	first := make([]bool, len(items))
	for _, a := range pivots {
		first[a] = true
	}
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

// triangleBytes returns the memory of newTriangle, the result included: features and their
// products, each twice, their factor and its rows, and the memory of turn.
func triangleBytes(items, features int) int64 {
	m, p := int64(items), int64(features)
	return 8 * (2*m*p + 5*m*m)
}

// turn makes weights θ of L those of the features, Xᵀα with Lᵀα = θ for the first rows in
// order of both.
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
	m.Features, m.Weights = t.turned.Rows, turned.Data
	return nil
}
