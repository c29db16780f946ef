package auto

import (
	"context"
	"math"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

const (
	rankDamping = 0.9 // α
	rankSteps   = 20  // J
)

// lens computes two views of attributes X: X itself, and the sums P of X over near nodes,
//
//	P = (1−α)·Σ_{j<J} αʲ·S̃ʲX + α^J·S̃^J·X,  S̃ = (D + σI)^-½·(A + σI)·(D + σI)^-½,
//
// where σ is the mean weight of an entry of A, 1 in graphs without weights.
type lens struct {
	p       *problem.Problem
	a       *attributeTable
	workers int
	work    *graph.Work

	steps  int
	memory int64 // limit in bytes for the blocks of a slab, columns that are swept together; 0: none
	files  *tempFiles
	ranked *rowStore // P, stored if it has at most as many columns as there are classes

	loop float64                   // σ
	lazy *sparse.Operator[float32] // (D + σI)⁻¹(A + σI), a step of a lazy walk
	root []float32                 // (D + σI)^½; nil: P uses the lazy walk in place of S̃
}

// newLens returns a lens of a. A self-loop of weight σ at every node defines S̃ at isolated nodes.
func newLens(p *problem.Problem, a *attributeTable, workers int,
	work *graph.Work) *lens {
	n := len(p.Degrees)
	l := &lens{p: p, a: a, workers: workers, work: work, steps: rankSteps,
		root: make([]float32, n), loop: 1}
	total := blocks.Total(p.Team(), p.Degrees)
	if total > 0 {
		l.loop = total / float64(sparse.EntriesOf(p.A))
	}
	left := make([]float64, n)
	diagonal := make([]float64, n)
	for v, d := range p.Degrees {
		left[v] = 1 / (d + l.loop)
		diagonal[v] = l.loop / (d + l.loop)
		l.root[v] = float32(math.Sqrt(d + l.loop))
	}
	l.lazy = &sparse.Operator[float32]{A: p.A, Left: left, Diag: diagonal,
		Workers: workers}
	return l
}

// scaleRows multiplies each row of x by l.root of its node, or divides it if divide is set.
func (l *lens) scaleRows(ctx context.Context, x *featureBlock,
	divide bool) error {
	if l.root == nil {
		return nil
	}
	return blocks.EachNodeChunk(ctx, l.workers, x.Rows, func(_, lo, hi int) {
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

// rank returns P of the attributes x, in one of the blocks of room. It overwrites x and room. P is Z_0, where Z_J = X and
// Z_j = (1−α)X + αS̃Z_{j+1}. Since S̃ = D̃^½·(D̃⁻¹Ã)·D̃^-½, roots of degrees scale X and Z_0 alone.
func (l *lens) rank(ctx context.Context, x *featureBlock,
	room [2]*featureBlock) (*featureBlock, error) {
	if err := l.scaleRows(ctx, x, true); err != nil {
		return nil, err
	}
	z := x
	for j := range l.steps {
		s := sparse.Step[float32]{Alpha: rankDamping,
			Delta: 1 - rankDamping, Prev: x}
		if err := l.lazy.StepTo(ctx, room[j%2], z, s); err != nil {
			return nil, err
		}
		z = room[j%2]
	}
	l.work.Sweeps += l.steps
	return z, l.scaleRows(ctx, z, false)
}

// at returns the rows of X and of P for the given nodes. It applies f(S̃) to slabs of the columns of X. If store is nil
// and this takes fewer operations, it applies f(S̃) to the columns E of the identity for the nodes:
//
//	rows of f(S̃)X = (f(S̃)E)ᵀX.
//
// If store is not nil, at stores P of all nodes in it.
func (l *lens) at(ctx context.Context, nodes []int, store *rowStore,
	report func(stage string, done, total int)) (plain, ranked *featureBlock, err error) {
	d := l.a.Cols
	plain = newBlock(len(nodes), d)
	ranked = newBlock(len(nodes), d)
	rows := readerOf(l.a)
	for i, v := range nodes {
		rows.rowTo(plain.Row(i), v, 0, d)
	}
	byNodes := store == nil && l.root != nil && l.byNodes(len(nodes))
	count := d
	width := slabWidth(l.memory, len(l.p.Degrees), rankBlocks)
	if byNodes {
		count = len(nodes)
	}
	for lo := 0; lo < count; lo += width {
		hi := min(count, lo+width)
		x, room := l.slabBlocks(hi - lo)
		if byNodes {
			for j, v := range nodes[lo:hi] {
				x.Row(v)[j] = 1
			}
		} else if err := blocks.EachNodeChunk(ctx, l.workers, x.Rows, func(_, first, last int) {
			rows := readerOf(l.a)
			for v := first; v < last; v++ {
				rows.rowTo(x.Row(v), v, lo, hi)
			}
		}); err != nil {
			return nil, nil, err
		}
		z, err := l.rank(ctx, x, room)
		if err != nil {
			return nil, nil, err
		}
		if byNodes {
			if err := l.productTo(ctx, ranked, z, lo); err != nil {
				return nil, nil, err
			}
		} else {
			for i, v := range nodes {
				copy(ranked.Row(i)[lo:hi], z.Row(v))
			}
			if store != nil {
				if err := store.putSlab(lo, d, z); err != nil {
					return nil, nil, err
				}
			}
		}
		report(stageFeatures, hi, count)
	}
	return plain, ranked, nil
}

// byNodes reports whether sweeping a column for each node takes fewer operations than sweeping the columns of X.
func (l *lens) byNodes(nodes int) bool {
	sweeps := float64(l.steps) * float64(sparse.EntriesOf(l.p.A))
	return float64(nodes)*(sweeps+float64(l.a.values)) < float64(l.a.Cols)*(sweeps+
		float64(l.p.Nodes()))
}

func (l *lens) slabBlocks(columns int) (x *featureBlock, room [2]*featureBlock) {
	n := len(l.p.Degrees)
	return sparse.NewBlock[float32](n, columns),
		[2]*featureBlock{sparse.NewBlock[float32](n, columns),
			sparse.NewBlock[float32](n, columns)}
}

// productTo stores QᵀX, for a block q = Q of columns, in the rows of dst from row lo on. Sums are over the nodes of each
// process in order, then over processes. Workers divide the attributes, so that each normal score is searched once.
func (l *lens) productTo(ctx context.Context, dst, q *featureBlock,
	lo int) error {
	d := dst.Cols
	k := q.Cols
	sums := make([]float64, (d+1)*k) // one row per attribute, and a last row for the nodes with attributes
	present := sums[d*k:]
	groups := min(d, sched.Workers(l.workers))
	err := sched.Run(ctx, l.workers, groups, func(_, group int) error {
		start, end := group*d/groups, (group+1)*d/groups
		rows := readerOf(l.a)
		for first, last := range l.a.team.CountingRows(0, q.Rows) {
			for v := first; v < last; v++ {
				if !l.a.Has(v) {
					continue
				}
				factors := q.Row(v)
				columns, features := rows.features(v, start, end)
				for e, x := range features {
					sum := sums[int(columns[e])*k:][:k]
					for i, y := range factors {
						sum[i] += float64(x * y)
					}
				}
				if group > 0 {
					continue
				}
				for i, y := range factors {
					present[i] += float64(y)
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	l.a.team.Sum(sums)
	for i := range k {
		for j := range d {
			dst.Row(lo + i)[j] = float32(sums[j*k+i] -
				float64(l.a.shift[j])*sums[d*k+i])
		}
	}
	return nil
}

func (l *lens) productOf(w *featureBlock) nodeScores {
	d := l.a.Cols
	k := w.Cols
	constant := make([]float64, k)
	for j := range d {
		for c, y := range w.Row(j) {
			constant[c] += float64(l.a.shift[j]) * float64(y)
		}
	}
	return func(dst *featureBlock, lo int) {
		attributes := readerOf(l.a)
		for i := range dst.Rows {
			row := dst.Row(i)
			clear(row)
			if !l.a.Has(lo + i) {
				continue
			}
			columns, features := attributes.features(lo+i, 0, d)
			addProduct(row, w, columns, features)
			for c, y := range constant {
				row[c] -= float32(y)
			}
		}
	}
}

// rankedProduct returns PW for weights w = W. If P is not stored, it computes P for slabs of the columns of XW, see
// [lens.rank]. Cost: l.steps sweeps for each slab.
func (l *lens) rankedProduct(ctx context.Context,
	w *featureBlock) (nodeScores, error) {
	if l.ranked != nil {
		return func(dst *featureBlock, lo int) {
			rows := newBlock(dst.Rows, l.a.Cols)
			l.ranked.readRowsTo(rows, lo)
			productTo(dst, rows, w)
		}, nil
	}
	store, err := l.files.newStore(w.Cols)
	width := slabWidth(l.memory, l.a.Rows, rankBlocks)
	for lo := 0; lo < w.Cols && err == nil; lo += width {
		hi := min(w.Cols, lo+width)
		x, room := l.slabBlocks(hi - lo)
		products := l.productOf(w.Columns(lo, hi))
		err = blocks.EachNodeChunk(ctx, l.workers, x.Rows,
			func(_, first, last int) { products(blocks.Range(x, first, last), first) })
		if err == nil {
			x, err = l.rank(ctx, x, room)
		}
		if err == nil {
			err = store.putSlab(lo, w.Cols, x)
		}
	}
	return store.readRowsTo, err
}

// extension returns the extension of scores PW.
func (l *lens) extension(w *featureBlock) *ridgeExtension {
	return &ridgeExtension{Form: ofLazyWalk, Weights: w, Width: w.Cols, Loop: l.loop, unit: func(v int) float64 { return 1 / float64(l.root[v]) }}
}

const rankBlocks = 3

func productTo(dst, x, w *featureBlock) {
	columns := countTo(w.Rows)
	for i := range dst.Rows {
		clear(dst.Row(i))
		addProduct(dst.Row(i), w, columns, x.Row(i))
	}
}

// addProduct adds xW to dst, where x has the given values in the given columns.
func addProduct(dst []float32, w *featureBlock, columns []uint32,
	x []float32) {
	one := []float32{1}
	simd.Gather(simd.Rows[float32]{Data: dst, Stride: w.Cols}, w.Cols, one,
		simd.RowsOf(w.Data, w.Stride, 0), []int64{0, int64(len(x))}, columns, x)
}

func countTo(n int) (list []uint32) {
	for j := range n {
		list = append(list, uint32(j))
	}
	return list
}
