package sparse

import (
	"cmp"
	"context"
	"unsafe"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// dividedBytes is the largest width of a row in a step with a [Divided] matrix, in bytes. It bounds the memory of
// copied and transferred rows.
const dividedBytes = 128

// stepDivided does a step slab by slab: for columns of at most dividedBytes at a time.
func (o *Operator[T]) stepDivided(ctx context.Context, dst, x *Block[T],
	s Step[T]) error {
	slab := s
	slab.Visit = nil
	width := dividedBytes / sizeOf[T]()
	for lo := 0; lo < x.Cols; lo += width {
		hi := min(x.Cols, lo+width)
		if s.Delta != 0 {
			slab.Prev = s.Prev.Columns(lo, hi)
		}
		if err := o.StepTo(ctx, dst.Columns(lo, hi), x.Columns(lo, hi), slab); err != nil {
			return err
		}
	}
	f := o.newFused()
	f.step = s
	defer f.end()
	return f.visitRanges(ctx, sched.Workers(o.Workers), 0)
}

func (f *fused[T]) sweepDivided(ctx context.Context, workers int,
	m *Divided) error {
	finish, err := f.receiveGhosts(ctx, workers, m)
	compute := func(local *CSR, ranges []int) error {
		return sched.Run(ctx, workers, len(ranges), func(worker, i int) error {
			p := local.panel(ranges[i])
			defer sched.InRows(p.Lo, p.Hi)
			f.columns(worker, p, 0, f.width)
			f.visit(worker, p)
			return nil
		})
	}
	local, plain := m.local.(*CSR)
	if plain && err == nil {
		err = compute(local, m.interior)
	}
	err = cmp.Or(finish(), err)
	switch {
	case err != nil:
	case plain:
		err = compute(local, m.boundary)
	default:
		err = f.sweepTiles(ctx, workers, m.local.(*tiledMatrix))
	}
	if err != nil {
		return err
	}
	f.joinSplitRows()
	f.visitSplitRows(m.team.First)
	f.shareNamed(m)
	return f.visitRanges(ctx, workers, m.team.First)
}

// receiveGhosts begins the transfer of ghost rows. finish waits for the transfer and stores the ghost rows in f.source.
func (f *fused[T]) receiveGhosts(ctx context.Context, workers int,
	m *Divided) (finish func() error, err error) {
	b := &f.source
	cols := f.x.Cols
	offered := f.x.Data
	if f.o.Right != nil || f.x.Stride != cols {
		f.offered = grow(f.offered, m.team.Own*cols)
		offered = f.offered
		err = sched.Run(ctx, workers, len(m.batches), func(_, i int) error {
			for _, r := range m.batches[i] {
				for k := range min(r.rows, m.team.Own-r.row) {
					copy(offered[(r.row+k)*cols:], b.Row(r.column+k))
				}
			}
			return nil
		})
	}
	f.arrived = grow(f.arrived, m.arrivals*cols)
	m.ghosts.Begin(bytesOf(offered[:m.team.Own*cols]), bytesOf(f.arrived),
		cols*sizeOf[T]())
	return func() error {
		m.ghosts.End()
		return sched.Run(ctx, workers, len(m.arriving), func(_, i int) error {
			for _, r := range m.arriving[i] {
				for k := range r.rows {
					row := b.Data[(r.column+k)*b.Stride:][:b.Stride]
					copy(row, f.arrived[(r.row+k)*cols:][:cols])
					clear(row[cols:])
				}
			}
			return nil
		})
	}, err
}

func (f *fused[T]) shareNamed(m *Divided) {
	if m.team.Named == 0 {
		return
	}
	b := f.dst
	named := m.division.namedOf[m.team.Rank()]
	f.offered, f.arrived = grow(f.offered, len(named)*b.Cols),
		grow(f.arrived, (m.team.Named-len(named))*b.Cols)
	for i, row := range named {
		copy(f.offered[i*b.Cols:], b.Row(m.team.First+row))
	}
	m.shares.Begin(bytesOf(f.offered), bytesOf(f.arrived), b.Cols*sizeOf[T]())
	m.shares.End()
	width := b.Cols
	if b.ownsPadding() {
		width = b.Stride
	}
	rows := f.arrived
	for p, named := range m.division.namedOf {
		for _, i := range named {
			if p != m.team.Rank() {
				row := b.Data[(m.team.First+i)*b.Stride:][:width]
				copy(row, rows[:b.Cols])
				clear(row[b.Cols:])
				rows = rows[b.Cols:]
			}
		}
	}
}

func bytesOf[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))),
		len(s)*sizeOf[T]())
}

func (f *fused[T]) visitRanges(ctx context.Context, workers, lo int) error {
	if f.step.Visit == nil {
		return nil
	}
	ranges := f.o.A.Ranges()
	return sched.Run(ctx, workers, len(ranges), func(worker, i int) error {
		if r := ranges[i]; r.Piece == 0 && r.Lo >= lo {
			defer sched.InRows(r.Lo, r.Hi)
			f.step.Visit(Rows{Lo: r.Lo, Hi: r.Hi, Range: i, Worker: worker})
		}
		return nil
	})
}

// withGhosts calls visit once, with the rows of m in this process and a copy of x that has the ghost rows too. It then
// exchanges the named rows of y.
func withGhosts[T Float](ctx context.Context, m *Divided, y, x *Block[T],
	workers int, visit func(rows Matrix, x *Block[T]) error) error {
	workers = sched.Workers(workers)
	f := (&Operator[T]{A: m}).newFused()
	f.begin(y, x, Step[T]{}, workers)
	if err := f.scaleColumns(ctx, workers); err != nil {
		return err
	}
	finish, err := f.receiveGhosts(ctx, workers, m)
	if err = cmp.Or(finish(), err); err != nil {
		return err
	}
	if err = visit(m.local, &f.source); err != nil {
		return err
	}
	f.shareNamed(m)
	return nil
}
