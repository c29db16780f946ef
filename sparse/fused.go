package sparse

import (
	"context"
	"slices"
	"unsafe"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/internal/system"
)

// fused is the state of one step. The operator keeps its buffers between steps.
type fused[T Float] struct {
	o      *Operator[T]
	dst, x *Block[T]
	step   Step[T]
	width  int // number of columns that the loops compute, with padding if possible

	alpha   float64  // Alpha·Scale
	source  Block[T] // the gathered block: x or diag(Right)·x
	scaled  []T      // memory of diag(Right)·x
	zero    []T
	worker  []scratch[T] // buffers of each goroutine
	partial []T          // sums of the pieces of long rows, width for each piece
	rankOne []T          // Alpha·Gamma·Vᵀ·X
	chunks  []float64    // sums of Vᵀ·X over chunks of rows
	offered []T          // rows for other processes, see Divided
	arrived []T          // rows from other processes
}

// scratch holds the buffers of one goroutine.
type scratch[T Float] struct {
	sums     []T  // sums of a batch of rows
	tileSums []T  // sums of a unit, see tiledMatrix
	factors  []T  // factors of a batch of rows
	values   []T  // converted values of a panel
	read     byte // see readLines
}

const (
	// batchBytes is the size of a batch of sums. A batch is gathered and then gets the other terms of the step, while
	// it is in the first-level cache.
	batchBytes = 16 << 10

	// factorsBytes is the size of the factors of a batch if the step has no other terms. Large batches keep the
	// hardware prefetcher on the streams of factors and ids.
	factorsBytes = 16 << 10

	// slabBytes is the part of a row that one pass computes; the last pass computes up to mostSlabBytes. The sums stay
	// in registers, and all rows of x of a small matrix in the cache.
	slabBytes     = 256
	mostSlabBytes = slabBytes + slabBytes/4

	registerBytes = 32
)

func sizeOf[T any]() int {
	var t T
	return int(unsafe.Sizeof(t))
}

func (o *Operator[T]) newFused() *fused[T] {
	o.mu.Lock()
	defer o.mu.Unlock()
	if n := len(o.idle); n > 0 {
		f := o.idle[n-1]
		o.idle = o.idle[:n-1]
		return f
	}
	return &fused[T]{o: o}
}

func (f *fused[T]) begin(dst, x *Block[T], s Step[T], workers int) {
	f.dst = dst
	f.x = x
	f.step = s
	f.alpha = s.Alpha
	if f.o.Scale != 0 {
		f.alpha *= f.o.Scale
	}
	f.width = x.Cols
	if dst.ownsPadding() && x.ownsPadding() && dst.Stride == x.Stride &&
		(s.Delta == 0 || s.Prev.ownsPadding() && s.Prev.Stride == x.Stride) {
		f.width = x.Stride
	}
	f.source = *x
	if len(f.worker) < workers {
		f.worker = make([]scratch[T], workers)
	}
	f.partial = grow(f.partial, len(f.o.splits)*f.width)
}

func (f *fused[T]) end() {
	f.dst = nil
	f.x = nil
	f.source = Block[T]{}
	f.step = Step[T]{}
	f.o.mu.Lock()
	defer f.o.mu.Unlock()
	f.o.idle = append(f.o.idle, f)
}

// ownsPadding reports whether b has all elements up to the stride. Loops may then include the padding, which avoids
// partial vectors.
func (b *Block[T]) ownsPadding() bool {
	return len(b.Data) == b.Rows*b.Stride
}

func grow[E any](s []E, n int) []E {
	if cap(s) < n {
		return make([]E, n)
	}
	return s[:n]
}

// visit calls the visitor of the step for the rows of a panel. It skips pieces of long rows and named rows, because
// they are not finished yet.
func (f *fused[T]) visit(worker int, p Panel) {
	if f.step.Visit != nil && p.Pieces == 1 && !TeamOf(f.o.A).IsNamed(p.Lo) {
		f.step.Visit(Rows{Lo: p.Lo, Hi: p.Hi, Range: p.Index, Worker: worker})
	}
}

func (f *fused[T]) columns(worker int, p Panel, lo, hi int) {
	w := &f.worker[worker]
	g := gathering[T]{p: p, values: convertValues(weights{doubles: p.Val}, &w.values)}
	for ; lo < hi; lo = g.hi {
		g.lo, g.hi = lo, slabEnd[T](lo, hi, slabBytes, mostSlabBytes)
		f.slab(w, &g)
	}
}

// slabEnd returns the end of the slab of columns that begins at column lo: hi if at most limit bytes of a row remain,
// and otherwise the column after bytes bytes.
func slabEnd[T Float](lo, hi, bytes, limit int) int {
	if hi-lo <= limit/sizeOf[T]() {
		return hi
	}
	return lo + bytes/sizeOf[T]()
}

// gathering describes the gather of the columns lo ≤ j < hi of a panel.
type gathering[T Float] struct {
	p        Panel
	values   []T          // values of the panel as T
	slot     []int32      // row of tileSums that each sum begins with, or noSlot; nil without tiles
	tileSums simd.Rows[T] // sums over the tiles
	lo, hi   int
}

func (f *fused[T]) slab(w *scratch[T], g *gathering[T]) {
	if g.p.Pieces > 1 {
		one := append(w.factors[:0], 1)
		slot, _ := slices.BinarySearch(f.o.splits, g.p.Index)
		sums := simd.Rows[T]{Data: f.partial[slot*f.width+g.lo:], Stride: f.width}
		f.gather(sums, one, g, 0, 1)
		w.factors = one
		return
	}
	width := g.hi - g.lo
	batch := max(1, batchBytes/(width*sizeOf[T]()))
	if f.step.Delta == 0 && f.step.Beta == 0 && f.o.Diag == nil && f.o.U == nil {
		batch = max(batch, factorsBytes/sizeOf[T]())
	}
	for lo := g.p.Lo; lo < g.p.Hi; lo += batch {
		hi := min(lo+batch, g.p.Hi)
		sums := f.dst.rowsOf(lo, g.lo)
		factors := f.factors(w, lo, hi)
		if f.step.Delta != 0 { // Prev may be dst, whose rows are still needed.
			w.sums = grow(w.sums, batch*width)
			sums = simd.Rows[T]{Data: w.sums, Stride: width}
		}
		f.gather(sums, factors, g, lo-g.p.Lo, hi-g.p.Lo)
		f.addTerms(w, sums, lo, hi, g.lo, g.hi)
	}
}

func (b *Block[T]) rowsOf(i, j int) simd.Rows[T] {
	return simd.Rows[T]{Data: b.Data[min(i*b.Stride+j, len(b.Data)):],
		Stride: b.Stride}
}

// gather stores in dst the sums over the entries of the rows lo ≤ i < hi of the panel, times scale.
func (f *fused[T]) gather(dst simd.Rows[T], scale []T, g *gathering[T],
	lo, hi int) {
	start := g.p.Ptr[lo] - g.p.Ptr[0]
	x := f.source.rowsOf(0, g.lo)
	ptr := g.p.Ptr[lo : hi+1]
	col := g.p.Col[start:]
	values := g.values
	if values != nil {
		values = values[start:]
	}
	if g.slot == nil {
		simd.Gather(dst, g.hi-g.lo, scale, x, ptr, col, values)
		return
	}
	g.begin(dst, lo, hi)
	simd.GatherOnto(dst, g.hi-g.lo, scale, x, ptr, col, values)
}

// begin stores in dst the sums over the tiles, or 0 for rows without tiles.
func (g *gathering[T]) begin(dst simd.Rows[T], lo, hi int) {
	slots := g.slot[lo:hi]
	width := g.hi - g.lo
	for i, n := 0, 0; i < len(slots); i += n {
		slot := slots[i]
		step := int32(1)
		if slot == noSlot {
			step = 0
		}
		for n = 1; dst.Stride == width && g.tileSums.Stride == width && i+n < len(slots) && slots[i+n] == slot+step*int32(n); n++ {
		}
		rows := dst.Data[i*dst.Stride:][:n*width]
		if slot == noSlot {
			clear(rows)
		} else {
			copy(rows, g.tileSums.Data[int(slot)*g.tileSums.Stride:])
		}
	}
}

func (f *fused[T]) factors(w *scratch[T], lo, hi int) []T {
	if left, ok := any(f.o.Left).([]T); ok && left != nil && f.alpha == 1 {
		return left[lo:hi]
	}
	w.factors = grow(w.factors, hi-lo)
	if f.o.Left != nil {
		simd.ScaleTo(w.factors, f.alpha, f.o.Left[lo:hi])
		return w.factors
	}
	for r := range w.factors {
		w.factors[r] = T(f.alpha)
	}
	return w.factors
}

// addTerms stores in dst sums plus the other terms of the step, for the rows lo ≤ i < hi and the columns first ≤ j <
// end.
func (f *fused[T]) addTerms(w *scratch[T], sums simd.Rows[T],
	lo, hi, first, end int) {
	dst := f.dst.rowsOf(lo, first)
	x := f.x.rowsOf(lo, first)
	width := end - first
	w.factors = grow(w.factors, hi-lo)
	if f.step.Delta != 0 {
		delta := append(w.factors[:0], T(f.step.Delta))
		simd.AddRows(dst, hi-lo, width, sums, delta, f.step.Prev.rowsOf(lo, first))
	}
	switch {
	case f.o.Diag != nil:
		for i, d := range f.o.Diag[lo:hi] {
			w.factors[i] = T(f.step.Beta + float64(f.step.Alpha*d))
		}
		addWhereNotZero(dst, width, w.factors, x)
	case f.step.Beta != 0:
		beta := append(w.factors[:0], T(f.step.Beta))
		simd.AddRows(dst, hi-lo, width, dst, beta, x)
	}
	if f.o.U != nil {
		for i, u := range f.o.U[lo:hi] {
			w.factors[i] = T(u)
		}
		simd.AddRows(dst, hi-lo, width, dst, w.factors,
			simd.Rows[T]{Data: f.rankOne[first:]})
	}
}

// addWhereNotZero adds scale[i] times row i of x to dst. It skips rows with the factor 0, which are nearly all rows for
// a transition matrix.
func addWhereNotZero[T Float](dst simd.Rows[T], width int, scale []T,
	x simd.Rows[T]) {
	for lo := 0; lo < len(scale); lo++ {
		hi := lo
		for hi < len(scale) && scale[hi] != 0 {
			hi++
		}
		if hi > lo {
			rows := simd.Rows[T]{Data: dst.Data[lo*dst.Stride:], Stride: dst.Stride}
			simd.AddRows(rows, hi-lo, width, rows, scale[lo:hi],
				simd.Rows[T]{Data: x.Data[lo*x.Stride:], Stride: x.Stride})
		}
		lo = hi
	}
}

// joinSplitRows computes each long row from the sums of its pieces, which it adds in order.
func (f *fused[T]) joinSplitRows() {
	ranges := f.o.A.Ranges()
	w := &f.worker[0]
	for slot := 0; slot < len(f.o.splits); {
		r := ranges[f.o.splits[slot]]
		sum := f.partial[slot*f.width : (slot+1)*f.width]
		for p := 1; p < r.Pieces; p++ {
			for j, v := range f.partial[(slot+p)*f.width:][:f.width] {
				sum[j] += v
			}
		}
		factor := f.factors(w, r.Lo, r.Hi)[0]
		for j := range sum {
			sum[j] *= factor
		}
		if f.step.Delta == 0 {
			copy(f.dst.Data[r.Lo*f.dst.Stride:], sum)
		}
		f.addTerms(w, simd.Rows[T]{Data: sum, Stride: f.width}, r.Lo, r.Hi,
			0, f.width)
		slot += r.Pieces
	}
}

func (f *fused[T]) visitSplitRows(hi int) {
	if f.step.Visit == nil {
		return
	}
	ranges := f.o.A.Ranges()
	for _, index := range f.o.splits {
		if r := ranges[index]; r.Piece == 0 && r.Hi <= hi {
			f.step.Visit(Rows{Lo: r.Lo, Hi: r.Hi, Range: index})
		}
	}
}

// scaleColumns stores diag(Right)·x in f.source, with room for ghost rows. Scaling each entry instead would double the
// time of the gather.
func (f *fused[T]) scaleColumns(ctx context.Context, workers int) error {
	x, rows := f.x, f.x.Rows
	m, divided := f.o.A.(*Divided)
	if divided {
		rows = len(m.columns)
	}
	if size := rows * f.width; cap(f.scaled) < size {
		f.scaled = system.Make[T](size)
	}
	f.source = Block[T]{Rows: rows, Cols: x.Cols, Stride: f.width,
		Data: f.scaled[:rows*f.width]}
	f.zero = grow(f.zero, f.width)
	if divided {
		return sched.Run(ctx, workers, len(m.batches), func(worker, i int) error {
			for _, r := range m.batches[i] {
				f.scaleRun(worker, r)
			}
			return nil
		})
	}
	return sched.Run(ctx, workers, (rows+mostRun-1)/mostRun, func(worker, i int) error {
		f.scaleRun(worker, run{row: i * mostRun, column: i * mostRun,
			rows: min(mostRun, rows-i*mostRun)})
		return nil
	})
}

func (f *fused[T]) scaleRun(worker int, r run) {
	w := &f.worker[worker]
	w.factors = grow(w.factors, r.rows)
	for i := range w.factors {
		w.factors[i] = 1
		if f.o.Right != nil {
			w.factors[i] = T(f.o.Right[r.row+i])
		}
	}
	simd.AddRows(f.source.rowsOf(r.column, 0), r.rows, f.width,
		simd.Rows[T]{Data: f.zero}, w.factors, f.x.rowsOf(r.row, 0))
}

// sumRankOne stores Alpha·Gamma·Vᵀ·X in f.rankOne. It adds up in float64, over fixed chunks of rows and then over the
// chunks in order.
func (f *fused[T]) sumRankOne(ctx context.Context, workers int) error {
	const chunk = 4096
	x := f.x
	v := f.o.V
	team := TeamOf(f.o.A)
	chunks := (x.Rows + chunk - 1) / chunk
	f.chunks = grow(f.chunks, (chunks+1)*f.width)
	err := sched.Run(ctx, workers, chunks, func(_, i int) error {
		sum := f.chunks[i*f.width : (i+1)*f.width]
		clear(sum)
		for lo, hi := range team.CountingRows(i*chunk, min(x.Rows, (i+1)*chunk)) {
			simd.AddWeighted(sum[:x.Cols], v[lo:hi], x.rowsOf(lo, 0))
		}
		return nil
	})
	total := f.chunks[chunks*f.width:]
	clear(total)
	for i := range chunks {
		for j, s := range f.chunks[i*f.width : (i+1)*f.width] {
			total[j] += s
		}
	}
	team.Sum(total)
	f.rankOne = grow(f.rankOne, f.width)
	for j, s := range total {
		f.rankOne[j] = T(f.step.Alpha * f.o.Gamma * s)
	}
	return err
}
