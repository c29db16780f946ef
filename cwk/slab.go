package cwk

import (
	"cmp"
	"context"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/system"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// block returns a block in the memory k.data[which], which the next call for which reuses. Padding is zero; other
// elements are undefined.
func (k *walker[T]) block(which, rows, cols int) *sparse.Block[T] {
	stride := sparse.Stride[T](cols)
	if cap(k.data[which]) < rows*stride {
		k.data[which] = system.Make[T](rows * stride)
	}
	data := k.data[which][:rows*stride]
	if stride > cols {
		clear(data)
	}
	return &sparse.Block[T]{Rows: rows, Cols: cols, Stride: stride, Data: data}
}

func (k *walker[T]) sweepsAt(width int) int {
	width = max(1, width)
	return (k.columns() + width - 1) / width * k.w.Steps
}

func (k *walker[T]) walkSlabs(ctx context.Context, width int,
	visit func(lo, hi, t int, rows sparse.Rows, p *sparse.Block[T])) error {
	for lo, hi := range blocks.Slabs(k.columns(), width) {
		err := k.run(ctx, lo, hi, func(t int, rows sparse.Rows, p *sparse.Block[T]) {
			visit(lo, hi, t, rows, p)
		})
		if err != nil {
			return err
		}
	}
	return sched.Cause(ctx)
}

// bytes returns the memory of a walk of cols columns: two blocks, and two factors for each row, the second for rows
// without entries.
func (w *Walk[T]) bytes(cols int) budget.Size {
	n := len(w.Degrees)
	return budget.AllOf(budget.Block[float64](n, 2), budget.Times(2, budget.Block[T](n, cols)))
}

// slab returns the number of columns to walk at a time within the memory limit. used bytes are already in use.
func (k *walker[T]) slab(used budget.Size) (int, error) {
	size := func(cols int) budget.Size { return budget.AllOf(used, k.w.bytes(cols)) }
	if err := budget.Check(k.w.Memory, size(1), narrowest); err != nil || k.columns() == 0 {
		return 0, err
	}
	return budget.Widest(min(k.columns(), cmp.Or(k.w.Columns, k.columns())), k.w.Memory, size), nil
}

const narrowest = "the narrowest walk"
