package cwk

import (
	"context"
	"slices"
	"unsafe"

	"github.com/heatwalk/heatwalk/internal/pages"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// block returns the walker's first or second block with the given shape. Its
// content is undefined, its padding zero.
func (k *walker[T]) block(which, rows, cols int) *sparse.Block[T] {
	stride := sparse.Stride[T](cols)
	if cap(k.data[which]) < rows*stride {
		k.data[which] = pages.Make[T](rows * stride)
	}
	data := k.data[which][:rows*stride]
	if stride > cols {
		clear(data)
	}
	return &sparse.Block[T]{Rows: rows, Cols: cols, Stride: stride, Data: data}
}

// sweepsAt returns the number of sweeps of a walk in slabs of the given width.
func (k *walker[T]) sweepsAt(width int) int {
	width = max(1, width) // of no column at all there is no slab
	return (k.columns() + width - 1) / width * k.w.Steps
}

// walkSlabs walks all columns in slabs lo ≤ j < hi of the given width, one after the other.
func (k *walker[T]) walkSlabs(ctx context.Context, width int,
	visit func(lo, hi, t int, rows sparse.Rows, p *sparse.Block[T])) error {
	for lo, hi := range blocks.Slabs(k.columns(), width) {
		err := k.run(ctx, lo, hi, func(t int, rows sparse.Rows, p *sparse.Block[T]) {
			visit(lo, hi, t, rows, p)
		})
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// memory is the memory that walks take.
type memory[T sparse.Float] struct {
	rows    int
	vectors int64 // bytes of a walker in addition to its blocks
	limit   int64 // 0: none
}

// memory returns the memory of w: the vectors are a factor for each row, and another if there are rows
// without entries or if other processes may have such rows.
func (w *Walk[T]) memory() memory[T] {
	m := memory[T]{rows: len(w.Degrees), vectors: 8 * int64(len(w.Degrees)),
		limit: w.Memory}
	if sparse.TeamOf(w.A) != nil || slices.Contains(w.Degrees, 0) {
		m.vectors *= 2
	}
	return m
}

// walk returns the bytes of a walk with cols columns.
func (m memory[T]) walk(cols int) int64 {
	return m.vectors + m.blocks(cols)
}

// blocks returns the bytes of the two blocks of a walk with the given number of columns.
func (m memory[T]) blocks(cols int) int64 {
	return 2 * int64(m.rows) * int64(sparse.Stride[T](cols)) * size[T]()
}

// slab returns how many of the given columns may be walked at once so that the
// walk takes no more bytes than the limit less used.
func (m memory[T]) slab(columns int, used int64) (int, error) {
	if m.limit <= 0 {
		return columns, nil
	}
	width := (m.limit - used - m.vectors) / max(1, m.blocks(1)) // columns without padding
	cols := int(min(int64(columns), max(0, width)))
	for cols > 0 && int64(sparse.Stride[T](cols)) > width {
		cols--
	}
	if cols == 0 && columns > 0 {
		return 0, memoryError(m.limit, used+m.walk(1))
	}
	return cols, nil
}

// size returns the bytes of an element, by which memory is counted.
func size[T sparse.Float]() int64 {
	return int64(unsafe.Sizeof(T(0)))
}
