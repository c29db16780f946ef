package sparse

import (
	"context"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// Step is one fused step with an operator Ā:
//
//	Y = Alpha·Ā·X + Beta·X + Delta·Prev
//
// Prev is only read if Delta is not 0, Beta needs a square operator.
type Step[T Float] struct {
	Alpha, Beta, Delta float64
	Prev               *Block[T]

	// Visit, if not nil, is called with runs of finished rows of Y, most of
	// them while they are in cache: every row once, from several goroutines at
	// a time. It may read and change those rows of Y, and read X and Prev.
	Visit func(Rows)
}

// Rows tells a visitor which rows are finished.
type Rows struct {
	Lo, Hi int // the rows Lo ≤ i < Hi
	Range  int // the range they belong to (its first piece for a long row); for sums kept by range
	Worker int // the goroutine's number; for buffers
}

// StepTo stores the step's Y in dst: one sweep over A. dst may be s.Prev; it
// must not overlap x, and s.Prev only by being the same block. Columns of one
// block side by side do not overlap. On error the content of dst is undefined.
//
// Cost: each stored entry reads one row of x; nothing is allocated that grows
// with A or the blocks once the operator's buffers are there.
func (o *Operator[T]) StepTo(ctx context.Context, dst, x *Block[T], s Step[T]) error {
	o.check(dst, x, &s)
	o.once.Do(o.prepare)
	workers := sched.Workers(o.Workers)
	f := o.fused()
	f.begin(dst, x, s, workers)
	defer f.end()
	if o.U != nil {
		if err := f.sumRankOne(ctx, workers); err != nil {
			return err
		}
	}
	if o.Right != nil {
		if err := f.scaleColumns(ctx, workers); err != nil {
			return err
		}
	}
	if groups := f.groups(workers); groups > 1 {
		return f.sweepGroups(ctx, workers, groups)
	}
	var err error
	if a, ok := f.A.(*tiled); ok {
		err = f.sweepTiles(ctx, workers, a)
	} else {
		err = f.A.Sweep(ctx, workers, func(worker int, p Panel) error {
			f.columns(worker, p, 0, f.width)
			f.visit(worker, p)
			return nil
		})
	}
	if err == nil {
		f.joinSplitRows()
		f.visitSplitRows()
	}
	return err
}

// prepare keeps what all steps need.
func (o *Operator[T]) prepare() {
	for i, r := range o.A.Ranges() {
		if r.Pieces > 1 {
			o.splits = append(o.splits, i)
		}
	}
}

// check panics if the shapes do not fit or blocks overlap.
func (o *Operator[T]) check(dst, x *Block[T], s *Step[T]) {
	rows, cols := o.A.Dims()
	square := s.Beta == 0 && o.Diag == nil && o.U == nil || rows == cols
	length := func(v []float64, n int) bool { return v == nil || len(v) == n }
	vectors := length(o.Left, rows) && length(o.Right, cols) && length(o.Diag, rows) &&
		length(o.U, rows) && length(o.V, cols) && (o.U == nil) == (o.V == nil)
	prev := s.Delta == 0 || s.Prev != nil && s.Prev.Rows == rows && s.Prev.Cols == x.Cols
	if dst.Rows != rows || x.Rows != cols || dst.Cols != x.Cols || !square || !vectors || !prev {
		panic(badShape)
	}
	if overlaps(dst, x) {
		panic(badOverlap)
	}
	if s.Delta != 0 && overlaps(dst, s.Prev) && (&dst.Data[0] != &s.Prev.Data[0] || dst.Stride != s.Prev.Stride) {
		panic(badPrev)
	}
}

// groups returns into how many groups of columns the block is cut, so that
// every worker has one, where the ranges alone are too few to keep them busy.
func (f *fused[T]) groups(workers int) int {
	ranges := len(f.A.Ranges())
	groups := min(workers, f.width*sizeOf[T]()/slabBytes)
	if ranges >= 4*workers || groups < min(ranges, workers) {
		return 1
	}
	return groups
}

// sweepGroups makes one sweep for each group of columns, all at the same time.
// A number of Y depends on one column of X only, so that its bits are those of
// one sweep over all columns.
func (f *fused[T]) sweepGroups(ctx context.Context, workers, groups int) error {
	register := registerBytes / sizeOf[T]() // columns
	bound := func(group int) int {
		if group == groups {
			return f.width
		}
		return group * (f.width / register) / groups * register
	}
	err := sched.Run(ctx, workers, groups, func(worker, group int) error {
		return f.A.Sweep(ctx, 1, func(_ int, p Panel) error {
			f.columns(worker, p, bound(group), bound(group+1))
			return nil
		})
	})
	if err != nil {
		return err
	}
	f.joinSplitRows()
	if f.step.Visit == nil {
		return nil
	}
	ranges := f.A.Ranges()
	return sched.Run(ctx, workers, len(ranges), func(worker, i int) error {
		if r := ranges[i]; r.Piece == 0 {
			defer sched.InRows(r.Lo, r.Hi)
			f.step.Visit(Rows{Lo: r.Lo, Hi: r.Hi, Range: i, Worker: worker})
		}
		return nil
	})
}
