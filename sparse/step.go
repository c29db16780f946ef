package sparse

import (
	"context"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// Step is one fused step with an operator Ā:
//
//	Y = Alpha·Ā·X + Beta·X + Delta·Prev
//
// Prev is read only if Delta is not 0. Beta ≠ 0 requires a square operator.
type Step[T Float] struct {
	Alpha, Beta, Delta float64
	Prev               *Block[T]

	// Visit, if not nil, is called once for every row of Y, from several goroutines, for most rows while they are in
	// the cache. Visit may read and change these rows of Y, and read X and Prev.
	Visit func(Rows)
}

// Rows describes finished rows for a visitor.
type Rows struct {
	Lo, Hi int // the rows Lo ≤ i < Hi
	Range  int // index of their range, for sums by range; of the first piece for a long row
	Worker int // number of the goroutine, for buffers
}

// StepTo stores Y in dst. dst must not overlap x. dst may be s.Prev, but must not overlap it otherwise. Different
// columns of one block do not overlap. If StepTo returns an error, the content of dst is undefined.
//
// Cost: one sweep over A; each stored entry reads one row of x. After the first step, a step allocates nothing that
// grows with A or the blocks.
func (o *Operator[T]) StepTo(ctx context.Context, dst, x *Block[T],
	s Step[T]) error {
	o.check(dst, x, &s)
	o.once.Do(o.prepare)
	if _, divided := o.A.(*Divided); divided && x.Cols*sizeOf[T]() > dividedBytes {
		return o.stepDivided(ctx, dst, x, s)
	}
	workers := o.countWorkers(x.Cols)
	f := o.newFused()
	f.begin(dst, x, s, workers)
	defer f.end()
	if o.U != nil {
		if err := f.sumRankOne(ctx, workers); err != nil {
			return err
		}
	}
	divided, _ := f.o.A.(*Divided)
	if o.Right != nil || divided != nil {
		if err := f.scaleColumns(ctx, workers); err != nil {
			return err
		}
	}
	if divided != nil {
		return f.sweepDivided(ctx, workers, divided)
	}
	if groups := f.groupCount(workers); groups > 1 {
		return f.sweepGroups(ctx, workers, groups)
	}
	var err error
	if a, ok := f.o.A.(*tiledMatrix); ok {
		err = f.sweepTiles(ctx, workers, a)
	} else {
		err = Sweep(ctx, f.o.A, workers, func(worker int, p Panel) error {
			f.columns(worker, p, 0, f.width)
			f.visit(worker, p)
			return nil
		})
	}
	if err == nil {
		f.joinSplitRows()
		f.visitSplitRows(f.dst.Rows)
	}
	return err
}

// countWorkers returns the number of goroutines of a step. It is 1 for a small step, because starting goroutines takes
// up to 20 µs.
func (o *Operator[T]) countWorkers(cols int) int {
	const rowEntries = 8   // entries that take as long as the other work of a row
	const little = 1 << 19 // elements, 0.1 ms
	rows, _ := o.A.Dims()
	elements := (EntriesOf(o.A) + rowEntries*int64(rows)) * int64(cols)
	if o.Workers <= 0 && elements < little {
		return 1
	}
	return sched.Workers(o.Workers)
}

func (o *Operator[T]) prepare() {
	for i, r := range o.A.Ranges() {
		if r.Pieces > 1 {
			o.splits = append(o.splits, i)
		}
	}
}

func (o *Operator[T]) check(dst, x *Block[T], s *Step[T]) {
	rows, cols := o.A.Dims()
	square := s.Beta == 0 && o.Diag == nil && o.U == nil || rows == cols
	length := func(v []float64, n int) bool { return v == nil || len(v) == n }
	vectors := length(o.Left, rows) && length(o.Right, cols) &&
		length(o.Diag, rows) &&
		length(o.U, rows) && length(o.V, cols) && (o.U == nil) == (o.V == nil)
	prev := s.Delta == 0 ||
		s.Prev != nil && s.Prev.Rows == rows && s.Prev.Cols == x.Cols
	if dst.Rows != rows || x.Rows != cols || dst.Cols != x.Cols || !square ||
		!vectors || !prev {
		panic(badShape)
	}
	if overlaps(dst, x) {
		panic(badOverlap)
	}
	if s.Delta != 0 && overlaps(dst, s.Prev) &&
		(&dst.Data[0] != &s.Prev.Data[0] || dst.Stride != s.Prev.Stride) {
		panic(badPrev)
	}
}

// groupCount returns the number of groups of columns that are computed in parallel. It is 1 if there are enough ranges
// for the workers.
func (f *fused[T]) groupCount(workers int) int {
	ranges := len(f.o.A.Ranges())
	groups := min(workers, f.width*sizeOf[T]()/slabBytes)
	if ranges >= 4*workers || groups < min(ranges, workers) {
		return 1
	}
	return groups
}

// sweepGroups runs one sweep for each group of columns in parallel. The bits do not change, because an element of Y
// depends on one column of X only.
func (f *fused[T]) sweepGroups(ctx context.Context, workers, groups int) error {
	register := registerBytes / sizeOf[T]() // columns
	bound := func(group int) int {
		if group == groups {
			return f.width
		}
		return group * (f.width / register) / groups * register
	}
	err := sched.Run(ctx, workers, groups, func(worker, group int) error {
		return Sweep(ctx, f.o.A, 1, func(_ int, p Panel) error {
			f.columns(worker, p, bound(group), bound(group+1))
			return nil
		})
	})
	if err != nil {
		return err
	}
	f.joinSplitRows()
	return f.visitRanges(ctx, workers, 0)
}
