package sparse

import (
	"context"
	"unsafe"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// dividedBytes is the width of the columns of a step with a Divided matrix, which copies the rows that it gathers
// from and has buffers for transferred rows: this bounds their memory.
const dividedBytes = 128

// stepDivided computes a step of wide blocks as steps of some of their columns.
func (o *Operator[T]) stepDivided(ctx context.Context, dst, x *Block[T], s Step[T]) error {
	part := s
	part.Visit = nil
	width := dividedBytes / sizeOf[T]()
	for lo := 0; lo < x.Cols; lo += width {
		hi := min(x.Cols, lo+width)
		if s.Delta != 0 {
			part.Prev = s.Prev.Columns(lo, hi)
		}
		if err := o.StepTo(ctx, dst.Columns(lo, hi), x.Columns(lo, hi), part); err != nil {
			return err
		}
	}
	f := o.fused()
	f.step = s
	defer f.end()
	return f.visitRanges(ctx, sched.Workers(o.Workers), 0)
}

// sweepDivided computes a step with a matrix whose rows several processes share.
func (f *fused[T]) sweepDivided(ctx context.Context, workers int, m *Divided) error {
	compute := func(worker int, p Panel) {
		f.columns(worker, p, 0, f.width)
		if p.Lo < m.First {
			f.visit(worker, p)
		}
	}
	ghosts := f.transfer(m.ghosts, &f.source, 0, m.Own, m.Ghosts())
	err := m.sweep(ctx, workers, m.interior, compute)
	m.ghosts.End()
	store(&f.source, m.local.rows, ghosts)
	if err == nil {
		err = m.sweep(ctx, workers, m.boundary, compute)
	}
	if err != nil {
		return err
	}
	f.joinSplitRows()
	f.visitSplitRows(0, m.First)
	f.shareNamed(m)
	return f.visitRanges(ctx, workers, m.First)
}

// shareNamed exchanges the named rows of dst that the processes have computed.
func (f *fused[T]) shareNamed(m *Divided) {
	if m.Named == 0 {
		return
	}
	lo, hi := m.shareOf(m.Rank())
	named := f.transfer(m.shares, f.dst, m.First+lo, m.First+hi, m.Named-(hi-lo))
	m.shares.End()
	store(f.dst, m.First, named[:lo*f.dst.Cols])
	store(f.dst, m.First+hi, named[lo*f.dst.Cols:])
}

// transfer begins the transfer of the rows lo ≤ i < hi of b, and returns the memory in which wanted rows
// arrive. Rows are transferred without padding.
func (f *fused[T]) transfer(e Exchange, b *Block[T], lo, hi, wanted int) []T {
	cols := b.Cols
	offered := b.Data[min(lo*b.Stride, len(b.Data)):]
	if b.Stride != cols {
		f.offered = grow(f.offered, (hi-lo)*cols)
		for i := lo; i < hi; i++ {
			copy(f.offered[(i-lo)*cols:][:cols], b.Row(i))
		}
		offered = f.offered
	}
	f.arrived = grow(f.arrived, wanted*cols)
	e.Begin(bytesOf(offered[:(hi-lo)*cols]), bytesOf(f.arrived), cols*sizeOf[T]())
	return f.arrived
}

// store stores rows without padding in b, from row at on, with zeros in the padding.
func store[T Float](b *Block[T], at int, rows []T) {
	width := b.Cols
	if ownsPadding(b) {
		width = b.Stride
	}
	for i := range len(rows) / b.Cols {
		row := b.Data[(at+i)*b.Stride:][:width]
		copy(row, rows[i*b.Cols:][:b.Cols])
		clear(row[b.Cols:])
	}
}

// bytesOf returns the memory of a slice.
func bytesOf[T Float](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*sizeOf[T]())
}

// visitRanges calls the visitor with the rows of all ranges from row lo on.
func (f *fused[T]) visitRanges(ctx context.Context, workers, lo int) error {
	if f.step.Visit == nil {
		return nil
	}
	ranges := f.A.Ranges()
	return sched.Run(ctx, workers, len(ranges), func(worker, i int) error {
		if r := ranges[i]; r.Piece == 0 && r.Lo >= lo {
			defer sched.InRows(r.Lo, r.Hi)
			f.step.Visit(Rows{Lo: r.Lo, Hi: r.Hi, Range: i, Worker: worker})
		}
		return nil
	})
}

// SweepWith visits the entries of a as [Matrix.Sweep] does, with a block that has row c of x for each column c
// of a panel. visit stores the result for a row of the panel in y, or changes nothing there. Of a long row,
// the visits of several pieces run at the same time. If several processes share the rows of a, x includes
// rows of other processes, and the named rows of y are those of the process that has visited them.
func SweepWith[T Float](ctx context.Context, a Matrix, y, x *Block[T], workers int, visit func(worker int, p Panel, x *Block[T]) error) error {
	m, ok := a.(*Divided)
	if !ok {
		return a.Sweep(ctx, workers, func(worker int, p Panel) error { return visit(worker, p, x) })
	}
	workers = sched.Workers(workers)
	f := (&Operator[T]{A: a}).fused()
	f.begin(y, x, Step[T]{}, workers)
	if err := f.scaleColumns(ctx, workers); err != nil {
		return err
	}
	ghosts := f.transfer(m.ghosts, &f.source, 0, m.Own, m.Ghosts())
	m.ghosts.End()
	store(&f.source, m.local.rows, ghosts)
	err := sched.Run(ctx, workers, len(m.local.ranges), func(worker, i int) error {
		return visit(worker, m.local.panel(i), &f.source)
	})
	if err != nil {
		return err
	}
	f.shareNamed(m)
	return nil
}
