package sparse

import (
	"context"
	"slices"
	"sync"
	"unsafe"

	"github.com/heatwalk/heatwalk/internal/pages"
	"github.com/heatwalk/heatwalk/internal/reorder"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
)

// columnOrder numbers the columns of a matrix by how many entries they have, most first,
// as positions 0, 1, 2 …; those with as many keep their order, and those without entries
// have no position.
type columnOrder struct {
	order        []uint32 // the column at each position
	given, ideal int      // groups of columns that are named, see [columnOrder.pays]
}

const (
	// reorderedBytes of a row are copied and gathered at a time. Twice as many
	// leave less of the copy in cache, half as many read the ids twice as often.
	reorderedBytes = 128

	lineBytes = 64 // of a cache

	countWorkers = 4 // each counts in memory of its own
)

// reorderedColumns is the least number of columns for which a copy of rows of any width
// pays: the rows of smaller blocks are soon in the last cache wherever they lie.
const reorderedColumns = 1 << 19

// findColumnOrder returns the order of the columns of a by count if it pays for blocks with rows
// of so many bytes, see [columnOrder.pays], and otherwise nil; fewer than least columns are
// not looked at, unless rows are narrow. Cost: one sweep, and 20
// bytes a column until it returns.
func findColumnOrder(ctx context.Context, a Matrix, rowBytes, least, workers int) (*columnOrder, error) {
	_, cols := a.Dims()
	// Rows that share lines with each other leave more of them in a core's own cache.
	narrow := 2*rowBytes <= lineBytes && cols*rowBytes > ownCacheBytes
	if !narrow && cols < least || a.NNZ() < reorder.Stretches*reorder.StretchEntries {
		return nil, nil
	}
	p, err := newColumnOrder(ctx, a, workers)
	if err != nil || !p.pays() {
		return nil, err
	}
	return p, nil
}

// newColumnOrder returns the order of the columns of a, whether it pays or not.
func newColumnOrder(ctx context.Context, a Matrix, workers int) (*columnOrder, error) {
	_, cols := a.Dims()
	s := sampleOf(a.Ranges(), reorder.Stretch(cols))
	counts := make([][]uint32, min(sched.Workers(workers), countWorkers))
	err := a.Sweep(ctx, len(counts), func(worker int, p Panel) error {
		if counts[worker] == nil {
			counts[worker] = make([]uint32, cols)
		}
		count := counts[worker]
		for _, c := range p.Col {
			count[c]++
		}
		s.take(p)
		return nil
	})
	if err != nil {
		return nil, err
	}
	total := make([]uint32, cols)
	for _, count := range counts {
		for c, n := range count {
			total[c] += n
		}
	}
	p, stretches := &columnOrder{order: byCount(total)}, s.stretches()
	p.given = reorder.Groups(stretches, cols)
	positions := p.positions(cols)
	for i, c := range s.ids {
		s.ids[i] = positions[c]
	}
	p.ideal = reorder.Groups(stretches, cols)
	return p, nil
}

// byCount returns the columns with entries, those with most of them first and
// those with as many in their order.
func byCount(count []uint32) []uint32 {
	rank, named := slices.Clone(count), 0
	reorder.RanksByCount(rank)
	for _, n := range count {
		if n > 0 {
			named++
		}
	}
	order := make([]uint32, named, named+spareIDs)
	for c, p := range rank {
		if count[c] > 0 {
			order[p] = uint32(c)
		}
	}
	return order
}

// positions returns the position of each of cols columns, 0 for those without entries.
func (p *columnOrder) positions(cols int) []uint32 {
	positions := make([]uint32, cols)
	for i, c := range p.order {
		positions[c] = uint32(i)
	}
	return positions
}

// pays tells whether steps gain from the copy of a [reordered] matrix: the entries
// of a stretch would name by a third fewer groups of neighbouring columns. They
// do where few columns have most of the entries and are scattered among the others,
// and not where rows of a neighbourhood name neighbouring columns.
func (p *columnOrder) pays() bool { return reorder.Pays(p.given, p.ideal) }

// bytes returns the memory that a reordered matrix takes beside what it was made of,
// for the order of the columns and for copies of so many bytes of each row.
func (p *columnOrder) bytes(rowBytes int) (order, copies int64) {
	n := int64(len(p.order))
	return 4 * n, n * int64(copiedBytes(rowBytes))
}

// copiedBytes returns how many bytes of a row are copied at a time.
func copiedBytes(rowBytes int) int { return min(max(rowBytes, registerBytes), reorderedBytes) }

// sample is a copy of the entries of some stretches.
type sample struct {
	ids    []uint32
	starts []int       // where stretches begin in ids
	at     map[int]int // where the entries of a range go, by its index
}

// sampleOf chooses stretches of so many entries.
func sampleOf(ranges []Range, entries int) *sample {
	s := &sample{at: make(map[int]int)}
	size := 0
	for i := range reorder.Stretches {
		s.starts = append(s.starts, size)
		end := (i + 1) * len(ranges) / reorder.Stretches
		for r := i * len(ranges) / reorder.Stretches; r < end && size < s.starts[i]+entries; r++ {
			s.at[r] = size
			size += ranges[r].Entries
		}
	}
	s.ids = make([]uint32, size)
	return s
}

// take copies the entries of a panel, if they belong to the sample.
func (s *sample) take(p Panel) {
	if at, ok := s.at[p.Index]; ok {
		copy(s.ids[at:], p.Col)
	}
}

// stretches returns the columns of each stretch.
func (s *sample) stretches() (all [][]uint32) {
	for i, start := range s.starts {
		end := len(s.ids)
		if i+1 < len(s.starts) {
			end = s.starts[i+1]
		}
		all = append(all, s.ids[start:end])
	}
	return all
}

// reordered is a matrix in memory whose entries name positions in a [columnOrder]
// instead of columns. A step first copies the rows of its block to their positions,
// diag(Right) multiplied in, and gathers from the copy: the rows that most entries name
// then share cache lines, pages and caches with each other and not with rows that hardly
// any names. Rows of the matrix, and the order in which a row's entries are added, stay
// as they were, so that no bit changes.
//
// Other visitors of a sweep see columns, which costs a look-up for each entry. There is
// one copy at a time; a step that runs beside another one sweeps as these visitors do.
type reordered struct {
	m        *CSR // columns are positions in the order
	cols     int
	order    []uint32
	rowBytes int // of the copy

	mu   sync.Mutex
	room []float64 // of the copy; nil while a step has it
}

// newReordered returns the matrix m with its columns in the order o. It takes over the
// memory of m, which must not be used any more. rowBytes is the width of the widest
// block to be planned for; rows of wider ones, or of more than 128 bytes, are copied and
// gathered in several passes.
func newReordered(m *CSR, o *columnOrder, rowBytes, workers int) Matrix {
	const chunk = 1 << 16
	a := &reordered{m: m, cols: m.cols, order: o.order, rowBytes: copiedBytes(rowBytes)}
	positions := o.positions(m.cols)
	_ = sched.Run(context.Background(), workers, (len(m.col)+chunk-1)/chunk, func(_, i int) error {
		part := m.col[i*chunk : min(len(m.col), (i+1)*chunk)]
		for e, c := range part {
			part[e] = positions[c]
		}
		return nil
	})
	m.cols = len(o.order)
	a.room = pages.Room[float64]((len(o.order)*a.rowBytes + 7) / 8)
	return a
}

// Dims returns the number of rows and columns.
func (a *reordered) Dims() (r, c int) {
	r, _ = a.m.Dims()
	return r, a.cols
}

// NNZ returns the number of stored entries.
func (a *reordered) NNZ() int64 { return a.m.NNZ() }

// Ranges returns the cut of the rows.
func (a *reordered) Ranges() []Range { return a.m.Ranges() }

// Sweep implements [Matrix].
func (a *reordered) Sweep(ctx context.Context, workers int, visit func(worker int, p Panel) error) error {
	buffers := make([][]uint32, sched.Workers(workers))
	return a.m.Sweep(ctx, len(buffers), func(worker int, p Panel) error {
		if buffers[worker] == nil {
			buffers[worker] = make([]uint32, MaxRange+spareIDs)
		}
		col := buffers[worker][:len(p.Col)]
		for e, i := range p.Col {
			col[e] = a.order[i]
		}
		p.Col = col
		return visit(worker, p)
	})
}

// take returns the room of the copy, or nil while another step has it.
func (a *reordered) take() []float64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	room := a.room
	a.room = nil
	return room
}

func (a *reordered) giveBack(room []float64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.room = room
}

// stepReordered makes the step with copies of x in room, of as many columns at a
// time as it holds.
func (f *fused[T]) stepReordered(ctx context.Context, workers int, a *reordered, room []float64) error {
	data := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(room))), len(room)*8/sizeOf[T]())
	for lo, hi := 0, 0; lo < f.width; lo = hi {
		hi = min(lo+a.rowBytes/sizeOf[T](), f.width)
		f.source = Block[T]{Rows: len(a.order), Cols: hi - lo, Stride: hi - lo, Data: data[:len(a.order)*(hi-lo)]}
		f.first = lo
		if err := f.copyColumns(ctx, workers, a.order); err != nil {
			return err
		}
		if err := f.sweepColumns(ctx, workers, a.m, lo, hi); err != nil {
			return err
		}
	}
	f.joinSplitRows()
	f.visitSplitRows()
	return nil
}

// copyColumns stores the source's columns of diag(Right)·x at their positions. It is
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
		simd.Gather(rowsOf(&f.source, lo, 0), f.source.Cols, w.factors, rowsOf(f.x, 0, f.first), singles[:hi-lo+1], order[lo:], nil)
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
