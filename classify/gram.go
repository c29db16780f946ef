package classify

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
)

// Float is the element type of kernel values and features.
type Float interface{ float32 | float64 }

// Gram gives the values of a kernel between n items. It must be safe for
// concurrent use.
//
// If it also has a method PartTo(dst []float64, i int, items []int) that stores
// K(i, items[j]) in dst[j], learners ask for the parts of rows that they need
// rather than for whole rows. With the methods Alike() []int, which numbers the distinct
// items from 0 and returns the number of each item, and DistinctTo(dst []float64, i int),
// which stores the values of item i with all distinct ones in their order, what is the
// same for items that are alike is computed once.
type Gram interface {
	// Len returns the number of items n.
	Len() int
	// RowTo stores K(i, j) in dst[j] for all n items j.
	RowTo(dst []float64, i int)
}

// DenseGram is a Gram in memory: K(i, j) = Data[i·Stride+j] for i, j < N.
// Data is shared, not copied, and must be symmetric.
type DenseGram[T Float] struct {
	N, Stride int
	Data      []T
}

// NewDenseGram returns the values of a symmetric matrix as a Gram. It shares
// memory with k if k is stored densely by rows ([mat.RawMatrixer]), as is what
// sparse.DenseOf makes of a block, and copies otherwise.
func NewDenseGram(k mat.Matrix) *DenseGram[float64] {
	n, c := k.Dims()
	if n != c {
		panic(badShape)
	}
	if raw, ok := k.(mat.RawMatrixer); ok {
		m := raw.RawMatrix()
		return &DenseGram[float64]{N: n, Stride: m.Stride, Data: m.Data}
	}
	data := make([]float64, n*n)
	for i := range n {
		for j := range n {
			data[i*n+j] = k.At(i, j)
		}
	}
	return &DenseGram[float64]{N: n, Stride: n, Data: data}
}

// Len returns N.
func (g *DenseGram[T]) Len() int { return g.N }

func (g *DenseGram[T]) row(i int) []T { return g.Data[i*g.Stride:][:g.N] }

// RowTo stores row i in dst, which has length N.
func (g *DenseGram[T]) RowTo(dst []float64, i int) {
	if len(dst) != g.N {
		panic(badLength)
	}
	for j, v := range g.row(i) {
		dst[j] = float64(v)
	}
}

// PartTo stores K(i, items[j]) in dst[j].
func (g *DenseGram[T]) PartTo(dst []float64, i int, items []int) {
	simd.Take(dst, g.row(i), items)
}

func (g *DenseGram[T]) roundedTo(dst []float32, i int, items []int) {
	simd.Take(dst, g.row(i), items)
}

// Features holds the feature vectors of items: feature j of item i is
// Data[i·Stride+j], for i < Rows and j < Cols.
type Features[T Float] struct {
	Rows, Cols, Stride int
	Data               []T
}

// Row returns the features of item i. The slice shares memory with f.
func (f Features[T]) Row(i int) []T { return f.Data[i*f.Stride:][:f.Cols] }

// FeatureGram is the linear kernel K(i, j) = ⟨f_i, f_j⟩ of feature vectors,
// computed when it is asked for: a row costs Rows·Cols products. Products and
// sums are float64 whatever the features are.
type FeatureGram[T Float] struct{ Features[T] }

// Len returns the number of items.
func (g FeatureGram[T]) Len() int { return g.Rows }

// RowTo stores ⟨f_i, f_j⟩ in dst[j] for all items j.
func (g FeatureGram[T]) RowTo(dst []float64, i int) {
	if len(dst) != g.Rows {
		panic(badLength)
	}
	f := g.Row(i)
	for j := range dst {
		dst[j] = inner(f, g.Row(j))
	}
}

// PartTo stores ⟨f_i, f_items[j]⟩ in dst[j].
func (g FeatureGram[T]) PartTo(dst []float64, i int, items []int) {
	f := g.Row(i)
	dst = dst[:len(items)]
	for j, item := range items {
		dst[j] = inner(f, g.Row(item))
	}
}

// Gram returns the values of the kernel between all items, symmetric to the bit. Cost:
// Rows²·Cols/2 products and as many values as Rows²; the error is the context's.
func (g FeatureGram[T]) Gram(ctx context.Context, workers int) (*DenseGram[float64], error) {
	const rows, depth = 64, 256 // items of a piece, and features that are added at a time
	n := g.Rows
	k := &DenseGram[float64]{N: n, Stride: n, Data: make([]float64, n*n)}
	pieces := (n + rows - 1) / rows
	return k, sched.Run(ctx, workers, pieces, func(_, p int) error {
		p = pieces - 1 - p // the longest rows first
		top, bottom := p*rows, min((p+1)*rows, n)
		left, right := make([]float64, rows*depth), make([]float64, rows*depth)
		for f := 0; f < g.Cols; f += depth {
			end := min(f+depth, g.Cols)
			width := (end - f + 3) &^ 3
			g.widen(left, width, top, bottom, f, end)
			for lo := 0; lo < bottom; lo += rows {
				hi := min(lo+rows, n)
				g.widen(right, width, lo, hi, f, end)
				of := func(part []float64, i int) []float64 { return part[i*width : (i+1)*width] }
				for i := 0; i < bottom-top; i += 2 {
					for j := 0; j < hi-lo; j += 4 {
						var sums [8]float64
						simd.DotPanels(&sums, of(left, i), of(left, i+1), of(right, j), of(right, j+1), of(right, j+2), of(right, j+3))
						for s, v := range sums {
							if a, b := top+i+s/4, lo+j+s%4; a < bottom && b <= a {
								k.Data[a*n+b] += v
								k.Data[b*n+a] = k.Data[a*n+b]
							}
						}
					}
				}
			}
		}
		return ctx.Err()
	})
}

// widen stores the features lo ≤ j < hi of the items from ≤ i < to in dst, with zeros
// behind them up to the width, and behind the items.
func (g FeatureGram[T]) widen(dst []float64, width, from, to, lo, hi int) {
	clear(dst)
	for i := from; i < to; i++ {
		for j, v := range g.Row(i)[lo:hi] {
			dst[(i-from)*width+j] = float64(v)
		}
	}
}

// inner returns ⟨x, y⟩ as four partial sums, which the processor can add at
// the same time. The value does not depend on the order of x and y.
func inner[X, Y Float](x []X, y []Y) float64 {
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

// addScaled adds a·x to dst.
func addScaled[T Float](dst []float64, a float64, x []T) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] += a * float64(v)
	}
}

// partGram is a Gram that gives parts of its rows.
type partGram interface {
	PartTo(dst []float64, i int, items []int)
}

// roundedGram is a Gram that stores K(i, items[j]) in single precision.
type roundedGram interface {
	roundedTo(dst []float32, i int, items []int)
}

// wholeRows gives parts of the rows of a Gram that only knows whole ones.
type wholeRows struct {
	gram Gram
	row  []float64
}

// PartTo implements [partGram].
func (w *wholeRows) PartTo(dst []float64, i int, items []int) {
	w.gram.RowTo(w.row, i)
	simd.Take(dst, w.row, items)
}

// parts returns k itself if it gives parts of rows. What it returns is for one
// goroutine.
func parts(k Gram) partGram {
	if p, ok := k.(partGram); ok {
		return p
	}
	return &wholeRows{gram: k, row: make([]float64, k.Len())}
}

const (
	badShape  = "classify: dimension mismatch"
	badLength = "classify: slice of the wrong length"
	badClass  = "classify: class out of range"
)

// AsymmetryError says that K(I, J) and K(J, I) differ.
type AsymmetryError struct {
	I, J   int
	IJ, JI float64 // K(I, J) and K(J, I)
}

// Error implements error.
func (e *AsymmetryError) Error() string {
	return fmt.Sprintf("classify: K(%d, %d) is %g, but K(%d, %d) is %g", e.I, e.J, e.IJ, e.J, e.I, e.JI)
}

// CheckSymmetric returns an [*AsymmetryError] unless |K(i, j) − K(j, i)| is at most
// 1e-5·max|K| everywhere: what is left of single precision or of an iteration.
func (g *DenseGram[T]) CheckSymmetric() error {
	var largest float64
	for i := range g.N {
		for _, v := range g.row(i) {
			largest = max(largest, math.Abs(float64(v)))
		}
	}
	for i := range g.N {
		for j, v := range g.row(i)[:i] {
			ij, ji := float64(v), float64(g.row(j)[i])
			if math.Abs(ij-ji) > 1e-5*largest {
				return &AsymmetryError{i, j, ij, ji}
			}
		}
	}
	return nil
}
