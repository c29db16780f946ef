package cwk

import (
	"slices"
	"unsafe"

	"github.com/heatwalk/heatwalk/sparse"
)

// The work of a pick and a feature, that of a value of a block, in rows × columns, and that of a
// product of two features, in entries × columns; measured on R-MAT and block models.
const (
	pickWork    = 0.5
	valueWork   = 1
	productWork = 0.4
)

// FeaturesWork returns the work of [Walk.Features] within w.Memory.
func (w *Walk[T]) FeaturesWork(from int, picks []Pick, panels bool) sparse.Work {
	batch := len(picks)
	if panels {
		batch = w.panelRows(from, len(picks))
	}
	walks := (len(picks) + batch - 1) / max(1, batch)
	return w.pickedWork(from, walks, len(picks), w.walkerOf(picks).columns())
}

// GramWork returns the work of [Walk.Gram] within w.Memory.
func (w *Walk[T]) GramWork(from int, rows, cols []Pick) sparse.Work {
	k := w.walkerOf(rows, cols)
	plan, err := w.planGram(k.columns(), from, len(rows), len(cols), slices.Equal(rows, cols))
	if err != nil {
		return sparse.Work{} // the run is refused
	}
	values := float64(len(rows)) * float64(len(cols))
	product := sparse.Work{EntryColumns: productWork * float64(w.width(from)) * values, RowColumns: valueWork * values}
	return w.pickedWork(from, plan.walks(len(rows)), len(rows)+len(cols), k.columns()).Plus(product)
}

// pickedWork returns the work of walks with the given number of columns that collect picks.
func (w *Walk[T]) pickedWork(from, walks, picks, columns int) sparse.Work {
	all := float64(walks) * float64(w.Steps) * float64(columns)
	return sparse.Work{
		EntryColumns: all * float64(w.A.NNZ()) * float64(unsafe.Sizeof(T(0))) / 8, // a column of float32 is half as wide
		RowColumns:   all*float64(len(w.Degrees)) + pickWork*float64(picks)*float64(w.width(from)),
	}
}
