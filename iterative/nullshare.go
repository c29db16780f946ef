package iterative

import (
	"github.com/heatwalk/heatwalk/internal/blocks"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/sparse"
)

// nullShare is the share of the null space in a preconditioned residual z, and behind it that in a residual r. In the
// scaled system they are s∘z and r/s, and the vectors are u.
type nullShare struct {
	blocks.Share
	scale []float64 // s; nil means ones
}

// total adds up the sums of all chunks, and negates them.
func (n *nullShare) total() {
	n.Share.Total()
	for i, v := range n.Totals {
		n.Totals[i] = -v
	}
}

// factors returns u∘s, or with divided u/s, in the rows of a chunk.
func (n *nullShare) factors(room *[blocks.ChunkRows]float64, lo, hi int, divided bool) []float64 {
	unit := n.Unit[lo:hi]
	if n.scale == nil {
		return unit
	}
	for i, s := range n.scale[lo:hi] {
		if divided {
			s = 1 / s
		}
		room[i] = unit[i] * s
	}
	return room[:hi-lo]
}

// add adds the rows lo ≤ i < hi of x that count, times their factors, to the sums, from a column of these on.
func (n *nullShare) add(team *sparse.Team, lo, hi, column int, factors []float64, x *sparse.Block[float64]) {
	for start, end := range team.Counted(lo, hi) {
		n.EachRun(start, end, func(run blocks.Run) {
			if run.Total != nil {
				sums := n.At(n.Slot[run.Lo])[column:][:x.Cols]
				simd.AddWeighted(sums, factors[run.Lo-lo:run.Hi-lo], blocks.Rows(x, run.Lo))
			}
		})
	}
}

// remove adds the negated share, from a column on, times the factors of rows, to the rows lo ≤ i < hi of x.
func (n *nullShare) remove(lo, hi, column int, factors []float64, x *sparse.Block[float64]) {
	n.EachRun(lo, hi, func(run blocks.Run) {
		rows := blocks.Rows(x, run.Lo)
		switch {
		case run.Total != nil:
			simd.AddRows(rows, run.Hi-run.Lo, x.Cols, rows, factors[run.Lo-lo:run.Hi-lo],
				simd.Rows[float64]{Data: run.Total[column:]})
		case run.Own:
			for i := run.Lo; i < run.Hi; i++ {
				clear(x.Row(i))
			}
		}
	})
}
