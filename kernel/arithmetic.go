package kernel

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/internal/symmetric"
	"github.com/heatwalk/heatwalk/sparse"
)

// ErrDiagonal is returned by [CosineTo] for a node whose value with itself is
// not positive.
var ErrDiagonal = errors.New("kernel: a diagonal value is not positive")

// SumTo stores a + b in dst, which may be either: the kernel of feature
// vectors side by side.
func SumTo(dst, a, b *sparse.Block[float64]) {
	combineTo(dst, a, b, func(x, y float64) float64 { return x + y })
}

// ProductTo stores the values of a times those of b in dst, which may be
// either: the kernel of all products of their features.
func ProductTo(dst, a, b *sparse.Block[float64]) {
	combineTo(dst, a, b, func(x, y float64) float64 { return x * y })
}

func combineTo(dst, a, b *sparse.Block[float64], f func(x, y float64) float64) {
	checkSame(dst, a)
	checkSame(dst, b)
	for i := range dst.Rows {
		to, x, y := dst.Row(i), a.Row(i), b.Row(i)
		for j := range to {
			to[j] = f(x[j], y[j])
		}
	}
}

// ScaleTo stores c·a in dst, which may be a. A kernel needs c ≥ 0.
func ScaleTo(dst *sparse.Block[float64], c float64, a *sparse.Block[float64]) {
	checkSame(dst, a)
	scaleRows(dst, a, func(int) float64 { return c })
}

// Rescale divides a block of nodes among themselves by the mean of its diagonal, if that is
// positive, and returns what it multiplied by.
func Rescale(k *sparse.Block[float64]) float64 {
	var trace float64
	for i := range k.Rows {
		trace += k.Row(i)[i]
	}
	if !(trace > 0) {
		return 1
	}
	f := float64(k.Rows) / trace
	ScaleTo(k, f, k)
	return f
}

// CosineTo stores k(x,y)/√(k(x,x)·k(y,y)) in dst, which may be a, given the
// diagonal values of the nodes of rows and columns. A block of nodes among
// themselves stays symmetric to the bit. The error wraps [ErrDiagonal].
func CosineTo(dst, a *sparse.Block[float64], rows, cols []float64) error {
	checkSame(dst, a)
	if len(rows) != a.Rows || len(cols) != a.Cols {
		panic(badShape)
	}
	for _, list := range [][]float64{rows, cols} {
		for i, v := range list {
			if !(v > 0) {
				return fmt.Errorf("%w: number %d is %g", ErrDiagonal, i, v)
			}
		}
	}
	for i := range dst.Rows {
		to, x, own := dst.Row(i), a.Row(i), math.Sqrt(rows[i])
		for j := range to {
			to[j] = x[j] / (own * math.Sqrt(cols[j]))
		}
	}
	return nil
}

// CentreTo stores J·K·J in dst, J = I − 11ᵀ/n, the kernel of features whose
// mean over the n nodes of k is 0. dst may be k, which must be symmetric.
func CentreTo(dst, k *sparse.Block[float64]) {
	checkSame(dst, k)
	checkSquare(k)
	n := float64(k.Rows)
	mean, all := make([]float64, k.Rows), 0.0
	for i := range mean {
		for _, v := range k.Row(i) {
			mean[i] += v
		}
		mean[i] /= n
		all += mean[i]
	}
	all /= n
	for i := range k.Rows {
		to := dst.Row(i)
		for j, v := range k.Row(i) {
			to[j] = v - (mean[i] + mean[j]) + all
		}
	}
}

// PositivePartTo stores in dst the nearest positive semidefinite matrix to the
// symmetric k, Σ max(λ, 0)·uuᵀ, symmetric to the bit. dst may be k. Cost: a
// dense eigenproblem, which ends by itself when ctx is done before.
func PositivePartTo(ctx context.Context, dst, k *sparse.Block[float64]) error {
	checkSame(dst, k)
	checkSquare(k)
	n := k.Rows
	sym := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			sym.SetSym(i, j, (k.Row(i)[j]+k.Row(j)[i])/2)
		}
	}
	values, u, err := symmetric.Eigen(ctx, sym, nil, 0)
	if err != nil {
		return err
	}
	f := newFeatures(n, n)
	for q, value := range values {
		root := math.Sqrt(max(value, 0))
		for i := range n {
			f.Row(i)[q] = root * u.At(i, q)
		}
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return rowProductsTo(ctx, 0, dst, f, all, all)
}

func checkSame(a, b *sparse.Block[float64]) {
	if a.Rows != b.Rows || a.Cols != b.Cols {
		panic(badShape)
	}
}

func checkSquare(a *sparse.Block[float64]) {
	if a.Rows != a.Cols {
		panic(badShape)
	}
}
