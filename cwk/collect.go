package cwk

import (
	"context"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
)

// Pick is one row of the walk in one variant.
type Pick struct {
	Row, Variant int
}

// FoldVariants returns variants for cross-validation. Variant 0 hides no seed; variant 1+f hides the seeds i with
// fold[i] = f.
func FoldVariants(absorb float64, fold []int) []Variant {
	variants := []Variant{{Absorb: absorb}}
	if len(fold) == 0 {
		return variants
	}
	for f := range slices.Max(fold) + 1 {
		hidden := make([]bool, len(fold))
		for i := range fold {
			hidden[i] = fold[i] == f
		}
		variants = append(variants, Variant{Absorb: absorb, Hidden: hidden})
	}
	return variants
}

// Picks returns picks of the given rows from the variants of [FoldVariants]: a seed from the variant that hides its
// fold, any other row from variant 0. If fold is nil, all rows are from variant 0.
func Picks(rows []int, s Seeds, fold []int) []Pick {
	if fold != nil && len(fold) != len(s.Row) {
		panic(badShape)
	}
	index := make(map[int]int, len(fold))
	for i := range fold {
		index[s.Row[i]] = 1 + fold[i]
	}
	picks := make([]Pick, len(rows))
	for i, row := range rows {
		picks[i] = Pick{Row: row, Variant: index[row]}
	}
	return picks
}

// Features returns the features of the picked rows:
//
//	F[i, (t−start)·Classes + c] = P_t[i, c] / √(Steps−start+1),   start ≤ t ≤ Steps
//
// If sink is not nil, Features returns nil and passes the features to sink in panels of consecutive rows, from row lo
// on. Half of Memory is for a panel, and half for the walk, which is repeated for each panel. Cost: Steps sweeps for
// each slab.
func (w *Walk[T]) Features(ctx context.Context, start int, picks []Pick,
	sink func(lo int, panel *sparse.Block[T]) error) (*sparse.Block[T], error) {
	batch := len(picks)
	if sink != nil {
		batch = w.panelRows(start, len(picks))
	}
	for lo := 0; ; lo += batch {
		hi := min(lo+batch, len(picks))
		f, err := w.collect(ctx, start, picks[lo:hi], w.scale(start))
		if err != nil || sink == nil {
			return f, err
		}
		if err := sink(lo, f); err != nil || hi == len(picks) {
			return nil, err
		}
	}
}

func (w *Walk[T]) panelRows(start, picks int) int {
	return min(picks, budget.Widest(picks, w.Memory/2, func(rows int) budget.Size { return w.pickedBytes(start, rows) }))
}

func (w *Walk[T]) scale(start int) T {
	return T(1 / math.Sqrt(float64(w.Steps-start+1)))
}

// Collect returns the features of [Walk.Features] without the scale:
//
//	F[i, (t−start)·Classes + c] = P_t[i, c]
//
// The features of shorter walks are its first columns.
func (w *Walk[T]) Collect(ctx context.Context, start int,
	picks []Pick) (*sparse.Block[T], error) {
	return w.collect(ctx, start, picks, 1)
}

func (w *Walk[T]) collect(ctx context.Context, start int,
	picks []Pick, scale T) (*sparse.Block[T], error) {
	k, cols, err := w.planPicks(start, picks)
	if err != nil {
		return nil, err
	}
	k.prepare()
	dst := sparse.NewBlock[T](len(picks), w.width(start))
	k.sweeps = k.sweepsAt(cols)
	if err := k.collectTo(ctx, dst, start, picks, scale, cols); err != nil {
		return nil, err
	}
	return dst, nil
}

// planPicks returns a walker that is not yet prepared (see walker.prepare), and the number of columns to walk at a
// time.
func (w *Walk[T]) planPicks(start int,
	picks []Pick) (k *walker[T], cols int, err error) {
	if err := w.validate(start); err != nil {
		return nil, 0, err
	}
	k = w.walkerOf(picks)
	cols, err = k.slab(w.pickedBytes(start, len(picks)))
	return k, cols, err
}

// CollectBytes returns the memory of [Walk.Collect] with the given number of picks from all variants, including the
// result. A walk has as many of the start columns at a time as fit into w.Memory, at least one.
func (w *Walk[T]) CollectBytes(start, picks int) budget.Size {
	size := func(cols int) budget.Size { return budget.AllOf(w.pickedBytes(start, picks), w.bytes(cols)) }
	return size(budget.Widest(w.Seeds.Classes*len(w.Variants), w.Memory, size))
}

// FeaturesBytes returns the memory of [Walk.Features] with a sink within w.Memory, including a panel, and its number
// of sweeps. It returns an error if the limit is too low.
func (w *Walk[T]) FeaturesBytes(start int, picks []Pick) (bytes budget.Size, sweeps int, err error) {
	batch := w.panelRows(start, len(picks))
	k, cols, err := w.planPicks(start, picks[:batch])
	if err != nil {
		return 0, 0, err
	}
	return budget.AllOf(w.pickedBytes(start, batch), w.bytes(cols)),
		(len(picks) + batch - 1) / max(1, batch) * k.sweepsAt(cols), nil
}

// pickedBytes returns the memory of the picked rows, and of the lists of picks and their order.
func (w *Walk[T]) pickedBytes(start, picks int) budget.Size {
	const perPick = 16 + 8
	return budget.AllOf(budget.Block[T](picks, w.width(start)), budget.Times(picks, perPick))
}

func (w *Walk[T]) width(start int) int {
	return w.Seeds.Classes * (w.Steps - start + 1)
}

// walkerOf returns a walker over the variants that have picks. The walker is not yet prepared.
func (w *Walk[T]) walkerOf(picks ...[]Pick) *walker[T] {
	used := make([]bool, len(w.Variants))
	for _, list := range picks {
		for _, p := range list {
			if uint(p.Variant) >= uint(len(used)) ||
				uint(p.Row) >= uint(len(w.Degrees)) {
				panic(badPick)
			}
			used[p.Variant] = true
		}
	}
	variants := slices.DeleteFunc(sched.UpTo(len(used)),
		func(g int) bool { return !used[g] })
	return &walker[T]{w: w, variants: variants}
}

// collectTo stores in dst the probabilities of the picked rows at the steps from minSteps on, times scale. It walks
// at most cols columns at a time.
func (k *walker[T]) collectTo(ctx context.Context, dst *sparse.Block[T],
	minSteps int, picks []Pick, scale T, cols int) error {
	classes := k.w.Seeds.Classes
	order := sched.Order(len(picks), func(a, b int) int { return picks[a].Row - picks[b].Row })
	slot := make([]int, len(k.w.Variants))
	for s, g := range k.variants {
		slot[g] = s
	}
	err := k.walkSlabs(ctx, cols, func(lo, hi, t int, rows sparse.Rows, p *sparse.Block[T]) {
		if t < minSteps {
			return
		}
		first, _ := slices.BinarySearchFunc(order, rows.Lo,
			func(i, row int) int { return picks[i].Row - row })
		for _, i := range order[first:] {
			pick := picks[i]
			if pick.Row >= rows.Hi {
				return
			}
			start := slot[pick.Variant] * classes
			a, b := max(lo, start), min(hi, start+classes)
			if a < b {
				copy(dst.Row(i)[(t-minSteps)*classes+a-start:],
					p.Row(pick.Row)[a-lo:b-lo])
			}
		}
	})
	if err != nil || scale == 1 {
		return err
	}
	for i := range dst.Rows {
		row := dst.Row(i)
		for j, v := range row {
			row[j] = T(scale * v)
		}
	}
	return nil
}
