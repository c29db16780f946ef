package classify

import (
	"context"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/sparse"
)

// Gram gives the values of a kernel between n items. It must be safe for
// concurrent use.
//
// Two optional methods save the values of equal items, for example of records of a table that
// occur more than once. Alike() []int numbers the distinct items from 0 and returns the number of
// each item; DistinctTo(dst []float64, i int) stores the values of item i with all distinct items,
// in their order.
type Gram interface {
	// Len returns the number of items n.
	Len() int
	// RowTo stores K(i, j) in dst[j] for all n items j.
	RowTo(dst []float64, i int)
	// PartTo stores K(i, items[j]) in dst[j]. It is all that learners ask for.
	PartTo(dst []float64, i int, items []int)
}

// denseGram is a Gram in memory.
type denseGram[T sparse.Float] sparse.Block[T]

// DenseGram returns the values of a symmetric matrix as a Gram, K(i, j) = k_ij. It shares
// memory with k.
func DenseGram[T float32 | float64](k *sparse.Block[T]) Gram {
	if k.Rows != k.Cols {
		panic(badShape)
	}
	return (*denseGram[T])(k)
}

// Len implements [Gram].
func (g *denseGram[T]) Len() int { return g.Rows }

func (g *denseGram[T]) row(i int) []T { return g.Data[i*g.Stride:][:g.Cols] }

// RowTo implements [Gram].
func (g *denseGram[T]) RowTo(dst []float64, i int) {
	if len(dst) != g.Cols {
		panic(badLength)
	}
	simd.ConvertTo(dst, g.row(i))
}

// PartTo implements [Gram].
func (g *denseGram[T]) PartTo(dst []float64, i int, items []int) { takeTo(dst, g.row(i), items) }

func (g *denseGram[T]) roundedTo(dst []float32, i int, items []int) { takeTo(dst, g.row(i), items) }

// takeTo stores row[items[j]] in dst[j], rounded to its type.
func takeTo[D, S sparse.Float](dst []D, row []S, items []int) {
	dst = dst[:len(items)]
	for j, item := range items {
		dst[j] = D(row[item])
	}
}

// linearGram is the linear kernel of features.
type linearGram[T sparse.Float] struct{ *sparse.Block[T] }

// LinearGram returns the linear kernel K(i, j) = ⟨f_i, f_j⟩ of the rows of f as a Gram,
// computed when it is asked for: a row costs Rows·Cols products. Products and sums are
// float64 whatever the features are. It shares memory with f.
func LinearGram[T float32 | float64](f *sparse.Block[T]) Gram { return linearGram[T]{f} }

// Len implements [Gram].
func (f linearGram[T]) Len() int { return f.Rows }

// RowTo implements [Gram].
func (f linearGram[T]) RowTo(dst []float64, i int) {
	if len(dst) != f.Rows {
		panic(badLength)
	}
	x := f.Row(i)
	for j := range dst {
		dst[j] = inner(x, f.Row(j))
	}
}

// PartTo implements [Gram].
func (f linearGram[T]) PartTo(dst []float64, i int, items []int) {
	x := f.Row(i)
	dst = dst[:len(items)]
	for j, item := range items {
		dst[j] = inner(x, f.Row(item))
	}
}

// InnerProducts returns the values ⟨f_i, f_j⟩ of [LinearGram] between all rows of f, symmetric
// to the bit. Cost: Rows²·Cols/2 products and as many values as Rows²; the error is the
// context's.
func InnerProducts[T float32 | float64](ctx context.Context, f *sparse.Block[T], workers int) (*sparse.Block[float64], error) {
	return rowProducts(ctx, f, f, workers)
}

// rowProducts returns the values ⟨f_i, g_j⟩ between all rows of f and g.
func rowProducts[T sparse.Float](ctx context.Context, f, g *sparse.Block[T], workers int) (*sparse.Block[float64], error) {
	k := &sparse.Block[float64]{Rows: f.Rows, Cols: g.Rows, Stride: g.Rows, Data: make([]float64, f.Rows*g.Rows)}
	return k, AddInnerProducts(ctx, k, f, g, workers)
}

// AddInnerProducts adds the values ⟨f_i, g_j⟩ between all rows of f and g to k, which has no
// padding, so that a kernel can be a sum over groups of features that are never all in memory.
// If f and g are the same block, it computes one side of the diagonal only, and k must be
// symmetric. A value does not depend on the other rows of f and g.
func AddInnerProducts[T float32 | float64](ctx context.Context, k *sparse.Block[float64], f, g *sparse.Block[T], workers int) error {
	const rows, depth = 64, 256 // items of a piece, and features that are added at a time
	n, symmetric := g.Rows, f == g
	if k.Rows != f.Rows || k.Cols != n || k.Stride != n || f.Cols != g.Cols {
		panic(badShape)
	}
	pieces := (f.Rows + rows - 1) / rows
	return sched.Run(ctx, workers, pieces, func(_, p int) error {
		p = pieces - 1 - p // the longest rows first
		top, bottom := p*rows, min((p+1)*rows, f.Rows)
		end := n
		if symmetric {
			end = bottom
		}
		left, right := make([]float64, rows*depth), make([]float64, rows*depth)
		for column := 0; column < f.Cols; column += depth {
			until := min(column+depth, f.Cols)
			width := (until - column + 3) &^ 3
			widen(left, f, width, top, bottom, column, until)
			for lo := 0; lo < end; lo += rows {
				hi := min(lo+rows, n)
				widen(right, g, width, lo, hi, column, until)
				row := func(panel []float64, i int) []float64 { return panel[i*width : (i+1)*width] }
				for i := 0; i < bottom-top; i += 2 {
					for j := 0; j < hi-lo; j += 4 {
						var sums [8]float64
						simd.DotPanels(&sums, row(left, i), row(left, i+1), row(right, j), row(right, j+1), row(right, j+2), row(right, j+3))
						for s, v := range sums {
							a, b := top+i+s/4, lo+j+s%4
							if a >= bottom || b >= hi || symmetric && b > a {
								continue
							}
							k.Data[a*n+b] += v
							if symmetric {
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

// widen stores the features lo ≤ j < hi of the items first ≤ i < last in dst, with zeros
// behind them up to the width, and behind the items.
func widen[T sparse.Float](dst []float64, f *sparse.Block[T], width, first, end, lo, hi int) {
	clear(dst)
	for i := first; i < end; i++ {
		for j, v := range f.Row(i)[lo:hi] {
			dst[(i-first)*width+j] = float64(v)
		}
	}
}

// inner returns ⟨x, y⟩ as four partial sums, which the processor can add at
// the same time. The value does not depend on the order of x and y.
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

// addScaled adds a·x to dst.
func addScaled[T sparse.Float](dst []float64, a float64, x []T) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] += a * float64(v)
	}
}

// roundedGram is a Gram that stores K(i, items[j]) in single precision.
type roundedGram interface {
	roundedTo(dst []float32, i int, items []int)
}

const (
	badShape  = "classify: dimension mismatch"
	badLength = "classify: slice of the wrong length"
	badClass  = "classify: class out of range"
)
