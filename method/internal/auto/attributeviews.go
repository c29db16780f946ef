package auto

import (
	"context"
	"math"

	"github.com/heatwalk/heatwalk/internal/blocks"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/internal/chunks"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
)

// A view is a linear map of the nodes through which attributes X are seen: X as it is,
//
//	P = (1−α)·Σ_{j<J} αʲ·S̃ʲX + α^J·S̃^J·X,  S̃ = (D + σI)^-½·(A + σI)·(D + σI)^-½,
//
// and TʰX. Where edges have a direction S̃ is (D + σI)⁻¹(A + σI), which follows them. σ is
// the mean weight of an entry, 1 without weights.
type view int

const (
	rankView  view = iota // P
	plainView             // X
	firstHop              // TX, and TʰX after it
)

const (
	rankDamping = 0.9 // α
	rankSteps   = 20  // J
	slabColumns = 64  // columns that are swept together
)

// lens shows attributes through views.
type lens struct {
	p       *problem.Problem
	a       *attributeTable
	workers int
	work    *problem.Work

	lazy *sparse.Operator[float32] // (D + σI)⁻¹(A + σI), a step of a lazy walk
	root []float32                 // (D + σI)^½
	step *sparse.Operator[float32] // T, with zero rows for nodes without edges
	back *sparse.Operator[float32] // Tᵀ
}

func newLens(p *problem.Problem, a *attributeTable, workers int, work *problem.Work) *lens {
	n := len(p.Degrees)
	l := &lens{p: p, a: a, workers: workers, work: work}
	total, loop := blocks.Total(sparse.TeamOf(p.A), p.Degrees), 1.0
	if total > 0 {
		loop = total / float64(sparse.EntriesOf(p.A))
	}
	left, diagonal, inverse := make([]float64, n), make([]float64, n), make([]float64, n)
	l.root = make([]float32, n)
	for v, d := range p.Degrees {
		left[v] = 1 / (d + loop)
		diagonal[v] = loop / (d + loop)
		if d > 0 {
			inverse[v] = 1 / d
		}
		l.root[v] = float32(math.Sqrt(d + loop))
	}
	l.lazy = &sparse.Operator[float32]{A: p.A, Left: left, Diag: diagonal, Workers: workers}
	l.step = &sparse.Operator[float32]{A: p.A, Left: inverse, Workers: workers}
	l.back = &sparse.Operator[float32]{A: p.A, Right: inverse, Workers: workers}
	return l
}

// lensBytes is the size of a lens.
func lensBytes(n, d int) int64 { return 28*int64(n) + 4*int64(d+unitFeatures(n, fewAttributes)) }

// views are those of attributes: with three hops of few real numbers, with two of
// others.
func (l *lens) views() int {
	if l.a.isNarrow {
		return int(firstHop) + 3
	}
	return int(firstHop) + 2
}

// sweep stores op·x in dst and counts it.
func (l *lens) sweep(ctx context.Context, op *sparse.Operator[float32], dst, x *sparse.Block[float32], s sparse.Step[float32]) error {
	l.work.Add(problem.Work{Sweeps: 1, EntryColumns: sparse.EntriesOf(l.p.A) * int64(x.Cols)})
	return op.StepTo(ctx, dst, x, s)
}

// scaleRows multiplies the rows of a block by the root of their degree, or divides them
// by it.
func (l *lens) scaleRows(ctx context.Context, x *sparse.Block[float32], divide bool) error {
	return chunks.Run(ctx, l.workers, x.Rows, func(_, lo, hi int) {
		for v := lo; v < hi; v++ {
			f := l.root[v]
			if divide {
				f = 1 / f
			}
			for j, y := range x.Row(v) {
				x.Row(v)[j] = y * f
			}
		}
	})
}

// rank stores P of x, which it changes, in one of two more blocks and returns it. It is
// Z_0 with Z_J = X and Z_j = (1−α)X + αS̃Z_{j+1}, in which the roots of degrees on either
// side of S̃ = D̃^½·(D̃⁻¹Ã)·D̃^-½ are taken at the ends.
func (l *lens) rank(ctx context.Context, x *sparse.Block[float32], room [2]*sparse.Block[float32]) (*sparse.Block[float32], error) {
	if err := l.scaleRows(ctx, x, true); err != nil {
		return nil, err
	}
	z := x
	for j := range rankSteps {
		s := sparse.Step[float32]{Alpha: rankDamping, Delta: 1 - rankDamping, Prev: x}
		if err := l.sweep(ctx, l.lazy, room[j%2], z, s); err != nil {
			return nil, err
		}
		z = room[j%2]
	}
	return z, l.scaleRows(ctx, z, false)
}

// viewBlocks are the attributes of some nodes: a row for each of them, through each view.
type viewBlocks []*sparse.Block[float32]

// at returns the attributes of nodes through all views. Swept are slabs of columns of
// attributes, or of the nodes where that takes fewer operations:
//
//	rows of f(T)X = (f(Tᵀ)E)ᵀX,  E the columns of the identity of these nodes.
func (l *lens) at(ctx context.Context, nodes []int, report func(stage string, done, total int)) (viewBlocks, error) {
	d := l.a.Cols
	out := make(viewBlocks, l.views())
	for i := range out {
		out[i] = &sparse.Block[float32]{Rows: len(nodes), Cols: d, Stride: d, Data: make([]float32, len(nodes)*d)}
	}
	for i, v := range nodes {
		l.a.rowTo(out[plainView].Row(i), v, 0, d)
	}
	through, count := l.columnsAt, d
	if l.byNodes(len(nodes)) {
		through, count = l.nodesAt, len(nodes)
	}
	for lo := 0; lo < count; lo += slabColumns {
		hi := min(count, lo+slabColumns)
		if err := through(ctx, out, nodes, lo, hi); err != nil {
			return nil, err
		}
		report(stageFeatures, hi, count)
	}
	return out, nil
}

// byNodes reports whether sweeping the columns of the nodes takes fewer operations than sweeping
// those of the attributes.
func (l *lens) byNodes(nodes int) bool {
	n, d := l.p.Nodes(), l.a.Cols
	entries, views := float64(sparse.EntriesOf(l.p.A)), float64(l.views())
	sweeps := entries * float64(rankSteps+int(views)-int(firstHop))
	return float64(nodes)*(sweeps+views*float64(l.a.values)) < float64(d)*(sweeps+float64(n))
}

// slabBlocks returns three blocks for a slab of columns.
func (l *lens) slabBlocks(columns int) (x *sparse.Block[float32], room [2]*sparse.Block[float32]) {
	n := len(l.p.Degrees)
	return sparse.NewBlock[float32](n, columns), [2]*sparse.Block[float32]{sparse.NewBlock[float32](n, columns), sparse.NewBlock[float32](n, columns)}
}

// lensSlabBytes is their size.
func lensSlabBytes(n, columns int) int64 { return 3 * blocks.BlockBytes[float32](n, columns) }

// columnsAt stores the columns lo ≤ j < hi of the views that sweep.
func (l *lens) columnsAt(ctx context.Context, out viewBlocks, nodes []int, lo, hi int) error {
	x, room := l.slabBlocks(hi - lo)
	err := chunks.Run(ctx, l.workers, x.Rows, func(_, start, end int) {
		for v := start; v < end; v++ {
			l.a.rowTo(x.Row(v), v, lo, hi)
		}
	})
	if err != nil {
		return err
	}
	return l.through(ctx, x, room, l.step, func(hop view, seen *sparse.Block[float32]) error {
		for i, v := range nodes {
			copy(out[hop].Row(i)[lo:hi], seen.Row(v))
		}
		return nil
	})
}

// nodesAt stores the rows lo ≤ i < hi of the views that sweep.
func (l *lens) nodesAt(ctx context.Context, out viewBlocks, nodes []int, lo, hi int) error {
	x, room := l.slabBlocks(hi - lo)
	for i, v := range nodes[lo:hi] {
		x.Row(v)[i] = 1
	}
	return l.through(ctx, x, room, l.back, func(hop view, seen *sparse.Block[float32]) error {
		return l.productTo(ctx, out[hop], seen, lo)
	})
}

// through shows x, which it changes, through the hops of op and then through P.
func (l *lens) through(ctx context.Context, x *sparse.Block[float32], room [2]*sparse.Block[float32], op *sparse.Operator[float32], show func(hop view, seen *sparse.Block[float32]) error) error {
	z := x
	for h := range l.views() - int(firstHop) {
		if err := l.sweep(ctx, op, room[h%2], z, sparse.Step[float32]{Alpha: 1}); err != nil {
			return err
		}
		z = room[h%2]
		if err := show(firstHop+view(h), z); err != nil {
			return err
		}
	}
	z, err := l.rank(ctx, x, room)
	if err != nil {
		return err
	}
	return show(rankView, z)
}

// productGroup is the number of columns of a slab that a goroutine multiplies at a time.
const productGroup = 16

// productTo stores the columns of QᵀX in the rows of dst from lo on, for a slab Q. Each
// sum is in the order of the nodes of a process, and then of the processes.
func (l *lens) productTo(ctx context.Context, dst *sparse.Block[float32], q *sparse.Block[float32], lo int) error {
	d := dst.Cols
	total := make([]float64, (d+1)*q.Cols) // of each column the sums, and that of Q
	err := sched.Run(ctx, l.workers, (q.Cols+productGroup-1)/productGroup, func(_, group int) error {
		start := group * productGroup
		end := min(q.Cols, start+productGroup)
		width := end - start
		sums, constants := make([]float32, d*width), make([]float64, width)
		for first, last := range l.a.team.Counted(0, q.Rows) {
			for v := first; v < last; v++ {
				columns, values := l.a.entries(v)
				if values == nil {
					continue
				}
				factors := q.Row(v)[start:end]
				for i, y := range factors {
					constants[i] += float64(y)
				}
				for e, x := range values {
					j := int(columns[e])
					f, sum := l.a.value(v, j, x), sums[j*width:(j+1)*width]
					for i, y := range factors {
						sum[i] += float32(f * y)
					}
				}
			}
		}
		for i := range width {
			dest := total[(start+i)*(d+1):][:d+1]
			for j := range d {
				dest[j] = float64(sums[j*width+i])
			}
			dest[d] = constants[i]
		}
		return nil
	})
	if err != nil {
		return err
	}
	l.a.team.Sum(total)
	for i := range q.Cols {
		products, row := total[i*(d+1):][:d+1], dst.Row(lo+i)
		for j := range row {
			row[j] = float32(products[j] - float64(l.a.shift[j]*l.a.factor[j])*products[d])
		}
	}
	return nil
}

// applyTo stores XW in dst for weights W, a row for each column of attributes.
func (l *lens) applyTo(ctx context.Context, dst, w *sparse.Block[float32]) error {
	n, d := l.a.Rows, l.a.Cols
	k := w.Cols
	constant := make([]float32, k)
	for c := range k {
		sum := 0.0
		for j := range d {
			sum += float64(l.a.shift[j]*l.a.factor[j]) * float64(w.Row(j)[c])
		}
		constant[c] = float32(sum)
	}
	one, rows := []float32{1}, simd.Rows[float32]{Data: w.Data, Stride: w.Stride}
	return chunks.Run(ctx, l.workers, n, func(_, lo, hi int) {
		scaled := make([]float32, d)
		for v := lo; v < hi; v++ {
			row := dst.Row(v)
			columns, values := l.a.entries(v)
			if values == nil {
				clear(row)
				continue
			}
			for e, x := range values {
				scaled[e] = l.a.value(v, int(columns[e]), x)
			}
			simd.Gather(simd.Rows[float32]{Data: row, Stride: k}, k, one, rows, []int64{0, int64(len(values))}, columns, scaled)
			for c, s := range constant {
				row[c] -= s
			}
		}
	})
}

// rankTo stores P·W in dst.
func (l *lens) rankTo(ctx context.Context, dst, w *sparse.Block[float32]) error {
	x, room := l.slabBlocks(dst.Cols)
	if err := l.applyTo(ctx, x, w); err != nil {
		return err
	}
	z, err := l.rank(ctx, x, room)
	if err == nil {
		copyRows(dst, z)
	}
	return err
}

// hopsTo stores Σ_h TʰX·W_h in dst, by Horner's rule X·W_0 + T(X·W_1 + T(…)).
func (l *lens) hopsTo(ctx context.Context, dst *sparse.Block[float32], w []*sparse.Block[float32]) error {
	x, room := l.slabBlocks(dst.Cols)
	last := len(w) - 1
	z := room[last%2]
	if err := l.applyTo(ctx, z, w[last]); err != nil {
		return err
	}
	for h := last - 1; h >= 0; h-- {
		if err := l.applyTo(ctx, x, w[h]); err != nil {
			return err
		}
		if err := l.sweep(ctx, l.step, room[h%2], z, sparse.Step[float32]{Alpha: 1, Delta: 1, Prev: x}); err != nil {
			return err
		}
		z = room[h%2]
	}
	copyRows(dst, z)
	return nil
}

func copyRows(dst, src *sparse.Block[float32]) {
	for v := range dst.Rows {
		copy(dst.Row(v), src.Row(v))
	}
}
