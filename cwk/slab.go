package cwk

import (
	"context"
	"slices"
	"unsafe"

	"github.com/heatwalk/heatwalk/internal/pages"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
)

const (
	cacheBytes = 512 << 10 // a block of this size stays in the cache of a core
	laneBytes  = 64        // rows of a block narrower than this waste sweeps
)

// lane is where slabs are walked one after the other: two blocks and an
// operator with its buffers.
type lane[T sparse.Float] struct {
	workers int
	op      *sparse.Operator[T]
	data    [2][]T
}

// block returns the lane's first or second block with the given shape. Its
// content is undefined, its padding zero.
func (l *lane[T]) block(which, rows, cols int) *sparse.Block[T] {
	stride := sparse.Stride[T](cols)
	if cap(l.data[which]) < rows*stride {
		l.data[which] = pages.Make[T](rows * stride)
	}
	data := l.data[which][:rows*stride]
	if stride > cols {
		clear(data)
	}
	return &sparse.Block[T]{Rows: rows, Cols: cols, Stride: stride, Data: data}
}

// layout returns the width of slabs and the number of lanes, in which slabs are walked at the same
// time, if blocks with fits columns fit into memory. On most graphs all workers share one lane.
// If the graph is so small that a slab stays in the cache of a core, every worker has a lane, so
// that workers do not wait for each other at the end of a step. Several processes that share the rows walk
// in one lane, because they must exchange rows in the same order.
func (k *walker[T]) layout(fits int) (width, lanes int) {
	narrow := int(cacheBytes / size[T]() / int64(max(1, len(k.w.Degrees))))
	narrowest := laneBytes / int(size[T]())
	lanes = min(sched.Workers(k.w.Workers), fits/narrowest)
	if narrow < narrowest || lanes < 2 || sparse.TeamOf(k.w.A) != nil {
		return max(1, fits), 1 // of no column at all there is no slab
	}
	// As many slabs for each lane, all about as wide.
	rounds := (k.columns() + lanes*narrow - 1) / (lanes * narrow)
	width = (k.columns() + lanes*rounds - 1) / (lanes * rounds)
	width = (width + narrowest - 1) / narrowest * narrowest
	return min(width, fits/lanes/narrowest*narrowest), lanes
}

// sweepsAt returns the number of sweeps of a walk if blocks with fits columns fit into memory.
func (k *walker[T]) sweepsAt(fits int) int {
	width, _ := k.layout(fits)
	return (k.columns() + width - 1) / width * k.w.Steps
}

// walkSlabs walks all columns in slabs lo ≤ j < hi. No more than the given
// number of columns is walked at a time.
func (k *walker[T]) walkSlabs(ctx context.Context, fits int,
	visit func(lo, hi, t int, rows sparse.Rows, p *sparse.Block[T])) error {
	columns := k.columns()
	width, lanes := k.layout(fits)
	workers := k.w.Workers
	if lanes > 1 {
		workers = 1
	}
	lane := make([]lane[T], lanes)
	return sched.Run(ctx, lanes, (columns+width-1)/width, func(worker, slab int) error {
		lo, hi := slab*width, min((slab+1)*width, columns)
		lane[worker].workers = workers
		return k.run(ctx, &lane[worker], lo, hi, func(t int, rows sparse.Rows, p *sparse.Block[T]) {
			visit(lo, hi, t, rows, p)
		})
	})
}

// bytes returns the memory of a walk if blocks with fits columns fit into memory.
func (k *walker[T]) bytes(fits int) int64 {
	width, lanes := k.layout(fits)
	return k.memory.walks(min(width, k.columns()), lanes)
}

// memory is the memory that walks take.
type memory[T sparse.Float] struct {
	rows    int
	vectors int64 // bytes of a walker in addition to its blocks
	limit   int64 // 0: none
}

// memoryOf returns the memory of w: the vectors are a factor for each row, and another if there are rows
// without entries or if other processes may have such rows.
func memoryOf[T sparse.Float](w *Walk[T]) memory[T] {
	m := memory[T]{rows: len(w.Degrees), vectors: 8 * int64(len(w.Degrees)),
		limit: w.Memory}
	if sparse.TeamOf(w.A) != nil || slices.Contains(w.Degrees, 0) {
		m.vectors *= 2
	}
	return m
}

// walks returns the bytes of walks in the given number of lanes, each with cols columns.
func (m memory[T]) walks(cols, lanes int) int64 {
	return m.vectors + int64(lanes)*m.blocks(cols)
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
		return 0, memoryError(m.limit, used+m.walks(1, 1))
	}
	return cols, nil
}

func size[T sparse.Float]() int64 {
	return int64(unsafe.Sizeof(T(0)))
}
