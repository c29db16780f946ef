package classify

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
)

// float is the element type of kernel values and features.
type float interface{ float32 | float64 }

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
type DenseGram[T float32 | float64] struct {
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
// Data[i·Stride+j], for i < Rows and j < Cols. They are a [Gram], the linear kernel
// K(i, j) = ⟨f_i, f_j⟩, computed when it is asked for: a row costs Rows·Cols products.
// Products and sums are float64 whatever the features are.
type Features[T float32 | float64] struct {
	Rows, Cols, Stride int
	Data               []T
}

// Row returns the features of item i. The slice shares memory with f.
func (f Features[T]) Row(i int) []T { return f.Data[i*f.Stride:][:f.Cols] }

// Len returns the number of items.
func (f Features[T]) Len() int { return f.Rows }

// RowTo stores ⟨f_i, f_j⟩ in dst[j] for all items j.
func (f Features[T]) RowTo(dst []float64, i int) {
	if len(dst) != f.Rows {
		panic(badLength)
	}
	x := f.Row(i)
	for j := range dst {
		dst[j] = inner(x, f.Row(j))
	}
}

// PartTo stores ⟨f_i, f_items[j]⟩ in dst[j].
func (f Features[T]) PartTo(dst []float64, i int, items []int) {
	x := f.Row(i)
	dst = dst[:len(items)]
	for j, item := range items {
		dst[j] = inner(x, f.Row(item))
	}
}

// Gram returns the values of the kernel between all items, symmetric to the bit. Cost:
// Rows²·Cols/2 products and as many values as Rows²; the error is the context's.
func (f Features[T]) Gram(ctx context.Context, workers int) (*DenseGram[float64], error) {
	const rows, depth = 64, 256 // items of a piece, and features that are added at a time
	n := f.Rows
	k := &DenseGram[float64]{N: n, Stride: n, Data: make([]float64, n*n)}
	pieces := (n + rows - 1) / rows
	return k, sched.Run(ctx, workers, pieces, func(_, p int) error {
		p = pieces - 1 - p // the longest rows first
		top, bottom := p*rows, min((p+1)*rows, n)
		left, right := make([]float64, rows*depth), make([]float64, rows*depth)
		for at := 0; at < f.Cols; at += depth {
			end := min(at+depth, f.Cols)
			width := (end - at + 3) &^ 3
			f.widen(left, width, top, bottom, at, end)
			for lo := 0; lo < bottom; lo += rows {
				hi := min(lo+rows, n)
				f.widen(right, width, lo, hi, at, end)
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
func (f Features[T]) widen(dst []float64, width, from, to, lo, hi int) {
	clear(dst)
	for i := from; i < to; i++ {
		for j, v := range f.Row(i)[lo:hi] {
			dst[(i-from)*width+j] = float64(v)
		}
	}
}

// inner returns ⟨x, y⟩ as four partial sums, which the processor can add at
// the same time. The value does not depend on the order of x and y.
func inner[X, Y float](x []X, y []Y) float64 {
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
func addScaled[T float](dst []float64, a float64, x []T) {
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
