// Package blocks computes sums over the rows of tall blocks in one fixed order: within chunks of rows, then chunk by
// chunk, then over the processes that share the rows, so that a sum has the same bits for any number of workers. Sums
// for each component of a graph are added in the order of the rows. The package also computes inner products of rows of
// features.
package blocks

import (
	"context"
	"iter"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
)

// ChunkRows is the number of rows in a chunk. Sums are added chunk by chunk, so that their bits depend on it.
const ChunkRows = 512

// Chunks returns the number of chunks of the given number of rows.
func Chunks(rows int) int {
	return (rows + ChunkRows - 1) / ChunkRows
}

// EachChunk calls do with the rows lo ≤ i < hi of each chunk. It cannot be cancelled, because a pass over the rows
// takes less time than a sweep.
func EachChunk(workers, rows int, do func(worker, chunk, lo, hi int)) {
	_ = sched.Run(context.Background(), workers, Chunks(rows), func(worker, chunk int) error {
		do(worker, chunk, chunk*ChunkRows, min((chunk+1)*ChunkRows, rows))
		return nil
	})
}

// Slabs yields consecutive intervals lo ≤ i < hi of at most the given width, which cover 0 ≤ i < n.
func Slabs(n, width int) iter.Seq2[int, int] {
	return func(yield func(lo, hi int) bool) {
		for lo := 0; lo < n; lo += width {
			if !yield(lo, min(lo+width, n)) {
				return
			}
		}
	}
}

// Copy stores x in dst.
func Copy[T sparse.Float](dst, x *sparse.Block[T]) {
	for i := range x.Rows {
		copy(dst.Row(i), x.Row(i))
	}
}

// Scale multiplies x by f.
func Scale(x *sparse.Block[float64], f float64) {
	if f == 1 {
		return
	}
	for i := range x.Rows {
		row := x.Row(i)
		for j := range row {
			row[j] *= f
		}
	}
}

// DivideRows divides row i of x by s[i]. If s is nil, x does not change.
func DivideRows(x *sparse.Block[float64], s []float64) {
	for i, f := range s {
		row := x.Row(i)
		for j := range row {
			row[j] /= f
		}
	}
}

// ScaleRows stores diag(s)·X in dst. dst may be x. A nil s means ones.
func ScaleRows(dst, x *sparse.Block[float64], s []float64) {
	for i := range x.Rows {
		f := Factor(s, i)
		target := dst.Row(i)
		for j, v := range x.Row(i) {
			target[j] = f * v
		}
	}
}

// Inverses returns 1/v for each element v > 0, and 0 for other elements.
func Inverses(elements []float64) []float64 {
	inverse := make([]float64, len(elements))
	for i, v := range elements {
		if v > 0 {
			inverse[i] = 1 / v
		}
	}
	return inverse
}

// Range returns the rows lo ≤ i < hi of a block, which share its memory.
func Range[T sparse.Float](b *sparse.Block[T], lo, hi int) *sparse.Block[T] {
	return &sparse.Block[T]{Rows: hi - lo, Cols: b.Cols, Stride: b.Stride,
		Data: b.Data[lo*b.Stride : (hi-1)*b.Stride+b.Cols]}
}

// Factor returns v[i], or 1 if v is nil.
func Factor(v []float64, i int) float64 {
	if v == nil {
		return 1
	}
	return v[i]
}

// AddScaled adds f·x to dst.
func AddScaled(dst []float64, f float64, x []float64) {
	dst = dst[:len(x)]
	for j, v := range x {
		dst[j] += float64(f * v)
	}
}

// Grow returns a slice of length n. If the capacity of s suffices, the slice shares the memory of s.
func Grow[E any](s []E, n int) []E {
	if cap(s) < n {
		return make([]E, n)
	}
	return s[:n]
}

// Reshape returns b if it has the given shape, and otherwise a zero block, in the memory of b if possible.
func Reshape(b *sparse.Block[float64], rows, cols int) *sparse.Block[float64] {
	if b != nil && b.Rows == rows && b.Cols == cols {
		return b
	}
	stride := sparse.Stride[float64](cols)
	if b == nil || cap(b.Data) < rows*stride {
		return sparse.NewBlock[float64](rows, cols)
	}
	data := b.Data[:rows*stride]
	clear(data)
	return &sparse.Block[float64]{Rows: rows, Cols: cols, Stride: stride,
		Data: data}
}

// ExactSum is a sum of numbers ≥ 0 with the sum of the rounding errors (Knuth). The relative error of Value is about
// ε².
type ExactSum struct{ Sum, Rest float64 }

// Add adds v.
func (s *ExactSum) Add(v float64) {
	sum := s.Sum + v
	rounded := sum - s.Sum
	s.Rest += (s.Sum - (sum - rounded)) + (v - rounded)
	s.Sum = sum
}

// Value returns the sum, rounded once.
func (s *ExactSum) Value() float64 { return s.Sum + s.Rest }

// Ones returns a vector of ones, with zeros in padding.
func Ones(team *sparse.Team, n int) *sparse.Block[float64] {
	b := sparse.NewBlock[float64](n, 1)
	for i := range n {
		if !team.IsPadding(i) {
			b.Row(i)[0] = 1
		}
	}
	return b
}

const badShape = "blocks: dimension mismatch"
