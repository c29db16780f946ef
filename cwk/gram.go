package cwk

import (
	"context"
	"slices"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// panelBytes bounds the size of a panel of a Gram block, even without a memory limit.
const panelBytes = 32 << 20

// Gram streams the block K[rows, cols] = F_rows·F_colsᵀ of the kernel to sink, in panels of consecutive rows lo …
// lo+panel.Rows−1, without padding. A panel is valid during the call, and sink may change it. Gram returns the first
// error of sink.
//
// The features of cols stay in memory; the features of rows take the fewest walks that Memory allows. If rows and
// cols are the same, the block is symmetric to the bit.
func (w *Walk[T]) Gram(ctx context.Context, start int, rows, cols []Pick,
	sink func(lo int, panel *sparse.Block[T]) error) error {
	if len(rows) == 0 || len(cols) == 0 {
		panic(badShape)
	}
	k, plan, err := w.planGram(start, rows, cols)
	if err != nil {
		return err
	}
	k.prepare()
	k.sweeps = plan.walks(len(rows)) * k.sweepsAt(plan.slab)
	values := make([]T, plan.panel*len(cols))
	features := sparse.NewBlock[T](len(cols)+plan.rows, w.width(start)) // features of cols, then of some rows
	held := blocks.Range(features, 0, len(cols))
	if plan.rows == 0 {
		if err := k.collectTo(ctx, held, start, cols, w.scale(start), plan.slab); err != nil {
			return err
		}
		return panels(ctx, w.Workers, 0, held, held, values, sink)
	}
	for lo := 0; lo < len(rows); lo += plan.rows {
		picks := rows[lo:min(lo+plan.rows, len(rows))]
		computed := blocks.Range(features, len(cols), len(cols)+len(picks))
		dst := computed
		if lo == 0 {
			dst = blocks.Range(features, 0, len(cols)+len(picks))
			picks = slices.Concat(cols, picks)
		}
		if err := k.collectTo(ctx, dst, start, picks, w.scale(start), plan.slab); err != nil {
			return err
		}
		if err := panels(ctx, w.Workers, lo, computed, held, values, sink); err != nil {
			return err
		}
	}
	return nil
}

// GramBytes returns the memory of [Walk.Gram] within w.Memory, including a panel, and its number of sweeps. It
// returns an error if the limit is too low.
func (w *Walk[T]) GramBytes(start int,
	rows, cols []Pick) (bytes budget.Size, sweeps int, err error) {
	k, plan, err := w.planGram(start, rows, cols)
	if err != nil {
		return 0, 0, err
	}
	return plan.size, plan.walks(len(rows)) * k.sweepsAt(plan.slab), nil
}

type gramPlan struct {
	rows  int // rows whose features are in memory; 0 if rows are cols
	panel int
	slab  int // columns of a walk
	size  budget.Size
}

func (p gramPlan) walks(rows int) int {
	if p.rows == 0 {
		return 1
	}
	return (rows + p.rows - 1) / p.rows
}

// planGram divides the memory between features of rows, a panel and a walk. Each gets at least one row or column.
// Half of the remaining memory goes to rows of features. The walk then gets all columns that fit, because each slab
// costs a walk. Rows of features get what remains.
func (w *Walk[T]) planGram(start int,
	picked, across []Pick) (k *walker[T], plan gramPlan, err error) {
	if err := w.validate(start); err != nil {
		return nil, plan, err
	}
	k = w.walkerOf(picked, across)
	row := budget.Vector[T](len(across)) // bytes of a row of a panel
	isSquare := slices.Equal(picked, across)
	planOf := func(rows, slab int) gramPlan {
		p := gramPlan{rows: rows, panel: min(rows, int(max(1, panelBytes/row))), slab: slab}
		if isSquare {
			p.rows = 0
		}
		p.size = budget.AllOf(w.pickedBytes(start, len(across)+p.rows), budget.Times(p.panel, row), w.bytes(slab))
		return p
	}
	least := planOf(1, 1).size
	if err := budget.Check(w.Memory, least, narrowest); err != nil {
		return k, plan, err
	}
	rowsIn := func(limit budget.Size, slab int) int {
		return budget.Widest(len(picked), limit, func(rows int) budget.Size { return planOf(rows, slab).size })
	}
	rows := rowsIn((least+w.Memory)/2, 1)
	if w.Memory == 0 {
		rows = len(picked)
	}
	slab := budget.Widest(k.columns(), w.Memory, func(slab int) budget.Size { return planOf(rows, slab).size })
	return k, planOf(rowsIn(w.Memory, slab), slab), nil
}

func panels[T sparse.Float](ctx context.Context, workers, lo int,
	rows, cols *sparse.Block[T], values []T,
	sink func(lo int, panel *sparse.Block[T]) error) error {
	limit := len(values) / cols.Rows
	for i := 0; i < rows.Rows; i += limit {
		slice := blocks.Range(rows, i, min(i+limit, rows.Rows))
		panel := sparse.BlockOf(slice.Rows, cols.Rows,
			values[:slice.Rows*cols.Rows])
		clear(panel.Data)
		err := blocks.AddProducts(ctx, panel, slice, cols, workers)
		if err == nil {
			err = sink(lo+i, panel)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
