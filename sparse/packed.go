package sparse

import (
	"context"
	"sync"
	"unsafe"

	"github.com/heatwalk/heatwalk/internal/pages"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
)

// packed is a matrix in memory whose entries name places of a [Packing] in the
// stead of columns. A step first copies the rows of its block to their places,
// diag(Right) multiplied in, and gathers from the copy: the rows that most
// entries name then share cache lines, pages and caches with each other and not
// with rows that hardly any names. Rows of the matrix, and the order in which a
// row's entries are added, stay as they were, so that no bit changes.
//
// Other visitors of a sweep see columns, which costs a look-up for each entry.
// There is one copy at a time; a step that runs beside another one sweeps as
// these visitors do.
type packed struct {
	m        Matrix // its columns are places
	cols     int
	order    []uint32
	rowBytes int // of the copy

	mu   sync.Mutex
	room []float64 // of the copy; nil while a step has it
}

// Pack returns the matrix m with its columns packed. It takes over the memory of
// m, which must not be used any more. A step first copies the rows of its block to
// the places of p, and gathers from the copy; no bit changes. rowBytes is the width
// of the widest block to be planned for; rows of wider ones, or of more than 128
// bytes, are copied and gathered in several passes. Other visitors of a sweep see
// columns, which costs a look-up for each entry.
func Pack(m *CSR, p *Packing, rowBytes, workers int) Matrix {
	const chunk = 1 << 16
	places := p.Places(m.cols)
	_ = sched.Run(context.Background(), workers, (len(m.col)+chunk-1)/chunk, func(_, i int) error {
		part := m.col[i*chunk : min(len(m.col), (i+1)*chunk)]
		for e, c := range part {
			part[e] = places[c]
		}
		return nil
	})
	cols := m.cols
	m.cols = len(p.order)
	return NewPacked(m, cols, p, rowBytes)
}

// NewPacked is Pack for a matrix of cols columns of which m already has the places
// of p in their stead, see [Packing.Places]. Entries of m need not be in the order of
// places, but must be in that of columns.
func NewPacked(m Matrix, cols int, p *Packing, rowBytes int) Matrix {
	a := &packed{m: m, cols: cols, order: p.order, rowBytes: copiedBytes(rowBytes)}
	a.room = pages.Room[float64]((len(p.order)*a.rowBytes + 7) / 8)
	return a
}

// Dims returns the number of rows and columns.
func (a *packed) Dims() (r, c int) {
	r, _ = a.m.Dims()
	return r, a.cols
}

// NNZ returns the number of stored entries.
func (a *packed) NNZ() int64 { return a.m.NNZ() }

// Ranges returns the cut of the rows.
func (a *packed) Ranges() []Range { return a.m.Ranges() }

// Sweep implements [Matrix].
func (a *packed) Sweep(ctx context.Context, workers int, visit func(worker int, p Panel) error) error {
	buffers := make([][]uint32, sched.Workers(workers))
	return a.m.Sweep(ctx, len(buffers), func(worker int, p Panel) error {
		if buffers[worker] == nil {
			buffers[worker] = make([]uint32, MaxRange+spareIDs)
		}
		col := buffers[worker][:len(p.Col)]
		for e, place := range p.Col {
			col[e] = a.order[place]
		}
		p.Col = col
		return visit(worker, p)
	})
}

// take returns the room of the copy, or nil while another step has it.
func (a *packed) take() []float64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	room := a.room
	a.room = nil
	return room
}

func (a *packed) giveBack(room []float64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.room = room
}

// stepPacked makes the step with copies of x in room, of as many columns at a
// time as it holds.
func (f *fused[T]) stepPacked(ctx context.Context, workers int, a *packed, room []float64) error {
	data := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(room))), len(room)*8/sizeOf[T]())
	for lo, hi := 0, 0; lo < f.width; lo = hi {
		hi = min(lo+a.rowBytes/sizeOf[T](), f.width)
		f.source = Block[T]{Rows: len(a.order), Cols: hi - lo, Stride: hi - lo, Data: data[:len(a.order)*(hi-lo)]}
		f.first = lo
		if err := f.copyColumns(ctx, workers, a.order); err != nil {
			return err
		}
		err := f.sweepColumns(ctx, workers, a.m, lo, hi)
		if err != nil {
			return err
		}
	}
	f.joinSplitRows()
	f.visitSplitRows()
	return nil
}

// copyColumns stores the source's columns of diag(Right)·x at their places. It is
// a gather with one entry a row.
func (f *fused[T]) copyColumns(ctx context.Context, workers int, order []uint32) error {
	const chunk = len(singles) - 1
	return sched.Run(ctx, workers, (len(order)+chunk-1)/chunk, func(worker, i int) error {
		lo, hi := i*chunk, min(len(order), (i+1)*chunk)
		w := &f.worker[worker]
		w.factors = grow(w.factors, hi-lo)
		for r, c := range order[lo:hi] {
			w.factors[r] = 1
			if f.Right != nil {
				w.factors[r] = T(f.Right[c])
			}
		}
		simd.GatherSum(rowsOf(&f.source, lo, 0), f.source.Cols, w.factors, rowsOf(f.x, 0, f.first), singles[:hi-lo+1], order[lo:])
		return nil
	})
}

// singles are the pointers of rows with one entry each.
var singles = func() (ptr [1<<12 + 1]int64) {
	for i := range ptr {
		ptr[i] = int64(i)
	}
	return ptr
}()
