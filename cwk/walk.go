package cwk

import (
	"cmp"
	"context"
	"slices"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
)

// Seeds are the labelled nodes: row Row[i] has class Class[i], one of 0 … Classes−1.
type Seeds struct {
	Row, Class []int
	Classes    int
}

// Variant is one of several walks that are computed together.
type Variant struct {
	Absorb float64 // α, the probability that a seed absorbs at a step; in [0, 1]
	Hidden []bool  // Hidden[i]: seed i counts as unlabelled; nil: no seed
}

func (v Variant) hides(seed int) bool {
	return v.Hidden != nil && v.Hidden[seed]
}

// Walk is a partially absorbing random walk in one or more variants. Methods may run concurrently; the fields must
// not change meanwhile. Every method first calls [Walk.Validate].
//
// If several processes share the rows of A, see [sparse.Team], every process must call the same methods with the same
// seeds and pick the same number of rows. The seeds must be named rows. Degrees and Prior.Given have the rows of a
// block; their values in padding are ignored.
type Walk[T sparse.Float] struct {
	A        sparse.Matrix // n×n; entries ≥ 0
	Degrees  []float64     // A·1, see sparse.Degrees
	Seeds    Seeds
	Prior    Prior // P_0 where no seed is; zero value: 1/Classes each
	Variants []Variant
	Steps    int // T ≥ 0, the length of the walk

	// Memory limits the bytes that a method allocates, with its result; 0 means no limit. It never changes a result.
	Memory  int64
	Columns int // most columns of a slab, 0: no bound; never changes a result
	Workers int // goroutines, 0: one for each processor; never changes a result

	// Progress, if not nil, is called after every sweep with "walk", the sweeps done and the sweeps in all, by one
	// goroutine at a time.
	Progress func(stage string, done, total int64)
}

// Run walks all variants at once. For t = 0 … Steps it calls visit with runs of finished rows of P_t: every row once
// for each t, from several goroutines at a time, and all rows of t before t+1. Column g·Classes + c of the whole walk
// is class c in variant g. p has the columns lo ≤ j < hi, with the same bits as in the whole walk. visit may read the
// rows during the call, and must not change them.
//
// If enough is not nil, it is called when all rows of P_t, t ≥ 1, have been visited. The walk ends if enough returns
// true, which it must do at the same t in all processes. Run ignores Memory: it allocates two blocks of n×(hi−lo).
// Cost: at most Steps sweeps.
func (w *Walk[T]) Run(ctx context.Context, lo, hi int,
	visit func(t int, rows sparse.Rows, p *sparse.Block[T]),
	enough func(t int) bool) error {
	if err := w.Validate(); err != nil {
		return err
	}
	if lo < 0 || hi > w.Seeds.Classes*len(w.Variants) || lo >= hi {
		panic(badColumns)
	}
	k := newWalker(w, nil)
	k.sweeps = w.Steps
	k.enough = enough
	return k.run(ctx, lo, hi, visit)
}

type walker[T sparse.Float] struct {
	w        *Walk[T]
	op       *sparse.Operator[T] // T = D⁻¹A
	data     [2][]T
	variants []int            // indices in w.Variants, increasing
	priors   [][]float64      // P_0 away from seeds, for each of variants; nil if each node has its own
	seeds    []seed           // sorted by row
	enough   func(t int) bool // whether the walk may end; nil: never before Steps

	done, sweeps int
}

type seed struct {
	row, class int
	index      int // index in Seeds
}

func newWalker[T sparse.Float](w *Walk[T], variants []int) *walker[T] {
	if variants == nil {
		variants = sched.UpTo(len(w.Variants))
	}
	k := &walker[T]{w: w, variants: variants}
	k.prepare()
	return k
}

// prepare sets the operator, the priors and the seeds, which an estimate of the memory does not need.
func (k *walker[T]) prepare() {
	w := k.w
	k.op = sparse.NewOperator[T](sparse.Transition, w.A, w.Degrees)
	k.op.Workers = w.Workers
	for _, g := range k.variants {
		k.priors = append(k.priors, w.Prior.commonDistribution(w.Seeds, w.Variants[g]))
	}
	for i, row := range w.Seeds.Row {
		k.seeds = append(k.seeds, seed{row: row, class: w.Seeds.Class[i], index: i})
	}
	slices.SortFunc(k.seeds,
		func(a, b seed) int { return cmp.Compare(a.row, b.row) })
}

func (k *walker[T]) columns() int {
	return k.w.Seeds.Classes * len(k.variants)
}

func (k *walker[T]) run(ctx context.Context, lo, hi int,
	visit func(t int, rows sparse.Rows, p *sparse.Block[T])) error {
	n := len(k.w.Degrees)
	next := k.block(1, n, hi-lo)
	p := k.block(0, n, hi-lo)
	ranges := k.w.A.Ranges()
	err := sched.Run(ctx, k.w.Workers, len(ranges), func(worker, i int) error {
		if r := ranges[i]; r.Piece == 0 {
			rows := sparse.Rows{Lo: r.Lo, Hi: r.Hi, Range: i, Worker: worker}
			k.start(rows, p, lo, hi)
			visit(0, rows, p)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for t := 1; t <= k.w.Steps; t++ {
		err := k.op.StepTo(ctx, next, p, sparse.Step[T]{Alpha: 1, Visit: func(rows sparse.Rows) {
			k.absorb(rows, next, lo, hi)
			visit(t, rows, next)
		}})
		if err != nil {
			return err
		}
		p, next = next, p
		k.done++
		if k.w.Progress != nil {
			k.w.Progress("walk", int64(k.done), int64(k.sweeps))
		}
		if k.enough != nil && k.enough(t) {
			break
		}
	}
	return nil
}

// start stores P_0 in the rows of p, whose columns are lo ≤ j < hi of the walk.
func (k *walker[T]) start(rows sparse.Rows, p *sparse.Block[T], lo, hi int) {
	classes := k.w.Seeds.Classes
	for i := rows.Lo; i < rows.Hi; i++ {
		row := p.Row(i)
		for slot := range k.variants {
			prior := k.priors[slot]
			if prior == nil {
				prior = k.w.Prior.Given.Row(i)
			}
			a, b := max(lo, slot*classes), min(hi, (slot+1)*classes)
			for j := a; j < b; j++ {
				row[j-lo] = T(prior[j-slot*classes])
			}
		}
	}
	k.forEachVisibleSeed(rows, lo, hi, func(row, slot, a, b, label int) {
		values := p.Row(row)[a-lo : b-lo]
		clear(values)
		if a <= label && label < b {
			values[label-a] = 1
		}
	})
}

// absorb turns rows of T·P_t into rows of P_{t+1}.
func (k *walker[T]) absorb(rows sparse.Rows, p *sparse.Block[T], lo, hi int) {
	k.forEachVisibleSeed(rows, lo, hi, func(row, slot, a, b, label int) {
		alpha := k.w.Variants[k.variants[slot]].Absorb
		walkOn := T(1 - alpha)
		stay := T(alpha)
		values := p.Row(row)[a-lo : b-lo]
		for j, v := range values {
			values[j] = T(walkOn * v)
		}
		if a <= label && label < b {
			values[label-a] += stay
		}
	})
}

// forEachVisibleSeed calls visit for every seed among the rows and every variant k.variants[slot] that does not hide
// the seed. a ≤ j < b are the variant's columns among lo ≤ j < hi. label is the column of the seed's class in this
// variant; it may lie outside a ≤ j < b.
func (k *walker[T]) forEachVisibleSeed(rows sparse.Rows, lo, hi int,
	visit func(row, slot, a, b, label int)) {
	classes := k.w.Seeds.Classes
	first, _ := slices.BinarySearchFunc(k.seeds, rows.Lo,
		func(s seed, row int) int { return cmp.Compare(s.row, row) })
	for _, s := range k.seeds[first:] {
		if s.row >= rows.Hi {
			return
		}
		for slot := lo / classes; slot*classes < hi; slot++ {
			if !k.w.Variants[k.variants[slot]].hides(s.index) {
				a, b := max(lo, slot*classes), min(hi, (slot+1)*classes)
				visit(s.row, slot, a, b, slot*classes+s.class)
			}
		}
	}
}

const (
	badColumns = "cwk: columns out of range"
	badPick    = "cwk: pick out of range"
	badShape   = "cwk: dimension mismatch"
)
