package sparse

import (
	"context"
	"unsafe"

	"github.com/heatwalk/heatwalk/internal/sched"
)

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
	f.store(&f.source, m.local.rows, ghosts)
	if err == nil {
		err = m.sweep(ctx, workers, m.boundary, compute)
	}
	if err != nil {
		return err
	}
	f.joinSplitRows()
	f.visitSplitRows(0, m.First)
	if m.Named == 0 {
		return nil
	}
	lo, hi := m.shareOf(m.Rank())
	named := f.transfer(m.shares, f.dst, m.First+lo, m.First+hi, m.Named-(hi-lo))
	m.shares.End()
	f.store(f.dst, m.First, named[:lo*f.x.Cols])
	f.store(f.dst, m.First+hi, named[lo*f.x.Cols:])
	return f.visitRanges(ctx, workers, m.First)
}

// transfer begins the transfer of the rows lo ≤ i < hi of b, and returns the memory in which wanted rows
// arrive. Rows are transferred without padding.
func (f *fused[T]) transfer(e Exchange, b *Block[T], lo, hi, wanted int) []T {
	cols := f.x.Cols
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
func (f *fused[T]) store(b *Block[T], at int, rows []T) {
	cols := f.x.Cols
	width := cols
	if f.width > cols { // The loops include the padding.
		width = f.width
	}
	for i := range len(rows) / cols {
		row := b.Data[(at+i)*b.Stride:][:width]
		copy(row, rows[i*cols:][:cols])
		clear(row[cols:])
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
