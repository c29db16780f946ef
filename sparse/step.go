package sparse

import (
	"context"
	"slices"
	"unsafe"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
)

// Step is one fused step with an operator Ā:
//
//	Y = Alpha·Ā·X + Beta·X + Delta·Prev
//
// Prev is only read if Delta is not 0, Beta needs a square operator.
type Step[T Float] struct {
	Alpha, Beta, Delta float64
	Prev               *Block[T]

	// Visit, if not nil, is called with runs of finished rows of Y while they
	// are in cache: every row once, from several goroutines at a time. It may
	// read and change those rows of Y, and read X and Prev.
	Visit func(Rows)
}

// Rows tells a visitor which rows are finished.
type Rows struct {
	Lo, Hi int // the rows Lo ≤ i < Hi
	Range  int // the range they belong to (its first piece for a long row); for sums kept by range
	Worker int // the goroutine's number; for buffers
}

// workspace holds the buffers of one StepTo, kept between steps.
type workspace[T Float] struct {
	worker  []scratch[T]
	partial []T       // row sums of the pieces of long rows
	rankOne []float64 // α·γ·vᵀX
}

type scratch[T Float] struct {
	sums   []T // row sums of a batch
	values []T // factors of a panel's entries
}

// batchBytes bounds the row sums between the gather and the rest of the step,
// so that they stay in the nearest cache.
const batchBytes = 16 << 10

// StepTo stores the step's Y in dst: one sweep over A. dst may be s.Prev; it
// must not overlap x. On error the content of dst is undefined.
func (o *Operator[T]) StepTo(ctx context.Context, dst, x *Block[T], s Step[T]) error {
	rows, cols := o.A.Dims()
	if dst.Rows != rows || x.Rows != cols || dst.Cols != x.Cols {
		panic(badShape)
	}
	if (s.Beta != 0 || o.Diag != nil || o.RankOne != nil) && rows != cols {
		panic(badShape)
	}
	if s.Delta != 0 && (s.Prev == nil || s.Prev.Rows != rows || s.Prev.Cols != x.Cols) {
		panic(badShape)
	}
	if overlaps(dst, x) {
		panic(badOverlap)
	}
	o.once.Do(func() {
		for i, r := range o.A.Ranges() {
			if r.Pieces > 1 {
				o.splits = append(o.splits, i)
			}
		}
	})
	f := fused[T]{o: o, dst: dst, x: x, s: s, width: width(dst, x)}
	f.ws = o.workspace(f.width, x.Cols)
	defer o.pool.Put(f.ws)
	if o.RankOne != nil {
		if err := o.rankOneTo(ctx, f.ws.rankOne, x, s.Alpha); err != nil {
			return err
		}
	}
	if err := o.A.Sweep(ctx, o.Workers, f.panel); err != nil {
		return err
	}
	f.joinSplitRows()
	return nil
}

// width returns how many columns the loops work on: with the padding where
// both blocks own it, so that rows are whole registers.
func width[T Float](dst, x *Block[T]) int {
	owned := func(b *Block[T]) bool { return len(b.Data) == b.Rows*b.Stride }
	if owned(dst) && owned(x) && dst.Stride == x.Stride {
		return x.Stride
	}
	return x.Cols
}

func (o *Operator[T]) workspace(width, cols int) *workspace[T] {
	ws, _ := o.pool.Get().(*workspace[T])
	if ws == nil {
		ws = &workspace[T]{worker: make([]scratch[T], sched.Workers(o.Workers))}
	}
	ws.partial = grow(ws.partial, len(o.splits)*width)
	if o.RankOne != nil {
		ws.rankOne = grow(ws.rankOne, cols)
	}
	return ws
}

// grow returns a slice of length n, s itself if it is large enough.
func grow[E any](s []E, n int) []E {
	if cap(s) < n {
		return make([]E, n)
	}
	return s[:n]
}

// fused is one StepTo under way.
type fused[T Float] struct {
	o      *Operator[T]
	ws     *workspace[T]
	dst, x *Block[T]
	s      Step[T]
	width  int
}

// panel gathers the rows of one panel in batches and finishes each batch.
func (f *fused[T]) panel(worker int, p Panel) error {
	w := &f.ws.worker[worker]
	values := f.values(w, p)
	if p.Pieces > 1 {
		slot, _ := slices.BinarySearch(f.o.splits, p.Index)
		f.gather(f.ws.partial[slot*f.width:(slot+1)*f.width], p, values, 0, 1)
		return nil
	}
	var t T
	batch := max(1, batchBytes/(f.width*int(unsafe.Sizeof(t))))
	w.sums = grow(w.sums, batch*f.width)
	for lo := p.Lo; lo < p.Hi; lo += batch {
		hi := min(lo+batch, p.Hi)
		f.gather(w.sums, p, values, lo-p.Lo, hi-p.Lo)
		for i := lo; i < hi; i++ {
			f.finish(i, w.sums[(i-lo)*f.width:(i-lo+1)*f.width])
		}
	}
	if f.s.Visit != nil {
		f.s.Visit(Rows{Lo: p.Lo, Hi: p.Hi, Range: p.Index, Worker: worker})
	}
	return nil
}

// gather stores the sums of the panel's rows lo ≤ i < hi in dst.
func (f *fused[T]) gather(dst []T, p Panel, values []T, lo, hi int) {
	start := p.Ptr[lo] - p.Ptr[0]
	ptr, col := p.Ptr[lo:hi+1], p.Col[start:]
	if values == nil {
		simd.GatherSum(dst, f.width, f.x.Data, f.x.Stride, ptr, col)
		return
	}
	simd.GatherWeighted(dst, f.width, f.x.Data, f.x.Stride, ptr, col, values[start:])
}

// values returns the factor of each entry of the panel: the stored value times
// the column's factor, rounded to T. It is nil if all are 1.
func (f *fused[T]) values(w *scratch[T], p Panel) []T {
	right := f.o.Right
	if p.Val == nil && right == nil {
		return nil
	}
	if stored, ok := any(p.Val).([]T); ok && right == nil {
		return stored
	}
	w.values = grow(w.values, MaxRange)
	values := w.values[:len(p.Col)]
	switch {
	case right == nil:
		for e, v := range p.Val {
			values[e] = T(v)
		}
	case p.Val == nil:
		for e, c := range p.Col {
			values[e] = T(right[c])
		}
	default:
		for e, c := range p.Col {
			values[e] = T(p.Val[e] * right[c])
		}
	}
	return values
}

// finish stores the step's row i, given the sum of its gathered rows.
func (f *fused[T]) finish(i int, sum []T) {
	o, s := f.o, &f.s
	a, b := s.Alpha, s.Beta
	if o.Scale != 0 {
		a *= o.Scale
	}
	if o.Left != nil {
		a *= o.Left[i]
	}
	if o.Diag != nil {
		b += float64(s.Alpha * o.Diag[i])
	}
	y := f.dst.Data[i*f.dst.Stride:][:len(sum)]
	factor := T(a)
	// Prev may be dst: its row is read before the row is overwritten.
	if s.Delta != 0 {
		z, delta := s.Prev.Data[i*s.Prev.Stride:], T(s.Delta)
		for j, v := range sum {
			y[j] = T(factor*v) + T(delta*z[j])
		}
	} else {
		for j, v := range sum {
			y[j] = T(factor * v)
		}
	}
	if b != 0 {
		x, beta := f.x.Data[i*f.x.Stride:], T(b)
		for j := range y {
			y[j] += T(beta * x[j])
		}
	}
	if o.RankOne != nil {
		u := o.RankOne.U[i]
		for j, v := range f.ws.rankOne {
			y[j] += T(u * v)
		}
	}
}

// joinSplitRows adds the pieces of each long row in order and finishes it.
func (f *fused[T]) joinSplitRows() {
	ranges := f.o.A.Ranges()
	for slot := 0; slot < len(f.o.splits); {
		index := f.o.splits[slot]
		r := ranges[index]
		sum := f.ws.partial[slot*f.width : (slot+1)*f.width]
		for p := 1; p < r.Pieces; p++ {
			for j, v := range f.ws.partial[(slot+p)*f.width:][:f.width] {
				sum[j] += v
			}
		}
		f.finish(r.Lo, sum)
		if f.s.Visit != nil {
			f.s.Visit(Rows{Lo: r.Lo, Hi: r.Hi, Range: index})
		}
		slot += r.Pieces
	}
}
