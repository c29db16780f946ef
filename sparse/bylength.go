package sparse

import (
	"context"
	"slices"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// byLength is a matrix in memory for short rows. The sums of these take longest
// where rows end, if the processor cannot foresee it. So the entries of each batch
// of rows lie by the lengths of the rows, and a step stores their sums where they
// belong: many rows of one length follow each other. No bit changes.
//
// Other visitors of a sweep see the rows in their order, which costs a copy.
type byLength struct {
	m   *CSR    // its rows lie by length within each batch
	row []uint8 // which row of its batch each of them is
}

// sortedRows is how many rows of a range are a batch, from its first row on.
const sortedRows = 256

// shortRows is the mean length of rows up to which it pays to sort them.
const shortRows = 12

// ShortRows tells whether steps gain from [SortByLength]: not where rows of the
// block come from memory, which takes longer than where rows end.
func (m *CSR) ShortRows() bool {
	return m.val == nil && len(m.col) <= shortRows*m.rows && m.cols < packedColumns
}

// SortByLength returns the matrix m, whose entries are all 1, by the lengths of its
// rows: a step then seldom meets a row's end where the processor does not foresee
// it, and no bit changes. It takes over the memory of m, which must not be used any
// more, and takes a byte for each row beside it. Other visitors of a sweep see the
// rows in their order, which costs a copy.
func SortByLength(m *CSR, workers int) Matrix {
	a := &byLength{m: m, row: make([]uint8, m.rows)}
	buffers := make([][]uint32, sched.Workers(workers))
	_ = sched.Run(context.Background(), workers, len(m.ranges), func(worker, i int) error {
		if r := m.ranges[i]; r.Pieces == 1 {
			for lo := r.Lo; lo < r.Hi; lo += sortedRows {
				buffers[worker] = a.sort(lo, min(lo+sortedRows, r.Hi), buffers[worker][:0])
			}
		}
		return nil
	})
	return a
}

// sort sorts the rows lo ≤ i < hi, a batch, and returns the buffer, which it may
// have to make longer.
func (a *byLength) sort(lo, hi int, buffer []uint32) []uint32 {
	ptr, col := a.m.ptr[lo:hi+1], a.m.col[a.m.ptr[lo]:a.m.ptr[hi]]
	var keys [sortedRows]uint32 // a row's length and, in the last byte, its place
	for i := range hi - lo {
		keys[i] = uint32(ptr[i+1]-ptr[i])<<8 | uint32(i)
	}
	slices.Sort(keys[:hi-lo])
	buffer = append(buffer, col...)
	at, start := ptr[0], [sortedRows]int64{}
	for i := range hi - lo {
		start[i] = ptr[i] - at
	}
	for i, key := range keys[:hi-lo] {
		row, n := uint8(key), int64(key>>8)
		a.row[lo+i] = row
		copy(a.m.col[at:at+n], buffer[start[row]:])
		at += n
		if i+1 < hi-lo { // where the batch ends it does as before, and others look there
			ptr[i+1] = at
		}
	}
	return buffer
}

// Dims returns the number of rows and columns.
func (a *byLength) Dims() (r, c int) { return a.m.Dims() }

// NNZ returns the number of stored entries.
func (a *byLength) NNZ() int64 { return a.m.NNZ() }

// Ranges returns the cut of the rows.
func (a *byLength) Ranges() []Range { return a.m.ranges }

// Sweep implements [Matrix].
func (a *byLength) Sweep(ctx context.Context, workers int, visit func(worker int, p Panel) error) error {
	buffers := make([]rowBuffer, sched.Workers(workers))
	return a.m.Sweep(ctx, len(buffers), func(worker int, p Panel) error {
		if p.Pieces == 1 {
			p = buffers[worker].inOrder(p, a.row[p.Lo:p.Hi])
		}
		return visit(worker, p)
	})
}

// rowBuffer holds a panel with its rows in their order.
type rowBuffer struct {
	ptr []int64
	col []uint32
	val []float64

	part []float64 // some of the values
}

// make makes the buffer, if that was not done.
func (b *rowBuffer) make() {
	if b.col == nil {
		b.ptr, b.col = make([]int64, MaxRange+1), make([]uint32, MaxRange+spareIDs)
	}
}

// inOrder returns the panel p, whose rows lie as row says.
func (b *rowBuffer) inOrder(p Panel, row []uint8) Panel {
	b.make()
	ptr, col := b.ptr[:len(p.Ptr)], b.col[:len(p.Col)]
	ptr[0] = 0
	for i, r := range row {
		ptr[i&^(sortedRows-1)+int(r)+1] = p.Ptr[i+1] - p.Ptr[i]
	}
	for i := range row {
		ptr[i+1] += ptr[i]
	}
	for i, r := range row {
		copy(col[ptr[i&^(sortedRows-1)+int(r)]:], p.Col[p.Ptr[i]-p.Ptr[0]:p.Ptr[i+1]-p.Ptr[0]])
	}
	p.Ptr, p.Col = ptr, col
	return p
}

// rows returns the matrix as steps sweep it.
func (f *fused[T]) rows() Matrix {
	if a, ok := f.A.(*byLength); ok {
		return a.m
	}
	return f.A
}
