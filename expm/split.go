package expm

import (
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/sparse"
)

// division divides a block into its part in the null space and the rest.
type division struct {
	*evaluation
	source      *sparse.Block[float64]
	share       *iterative.Share // of source; nil: there is no null space
	inner       []float64        // what the rest is divided by
	parts       []*part
	known, lone []float64 // values of the parts at the eigenvalues of the null space
	scratch     []rowFactors
}

// rowFactors holds a factor for each row of a chunk.
type rowFactors [chunkRows]float64

// rows divides a chunk of rows: W = (B − P₀B)/inner, Y = f·P₀B/inner.
func (d *division) rows(worker, lo, hi int) {
	sums := d.sums.Of(lo / chunkRows)
	if d.share == nil {
		for i := lo; i < hi; i++ {
			copy(d.w[0].Row(i), d.source.Row(i))
			for _, p := range d.parts {
				clear(p.y.Row(i))
			}
		}
		simd.DotColumns(sums, hi-lo, rowsOf(d.w[0], lo), rowsOf(d.w[0], lo))
	} else {
		d.share.EachRun(lo, hi, func(r iterative.Run) { d.run(worker, r, sums) })
	}
	if d.inner != nil {
		factors := d.scratch[worker][:hi-lo]
		for i := range factors {
			factors[i] = 1 / d.inner[lo+i]
		}
		d.scaleRows(d.w[0], d.w[0], lo, hi, factors)
	}
}

// run divides a run of rows, but for the scaling of W.
func (d *division) run(worker int, r iterative.Run, sums []float64) {
	w, k := d.w[0], d.b.Cols
	if r.Total == nil {
		for i := r.Lo; i < r.Hi; i++ {
			d.single(i, r.Own, sums)
		}
		return
	}
	rows, total := r.Hi-r.Lo, simd.Rows[float64]{Data: r.Total}
	factors := d.scratch[worker][:rows]
	for i, u := range r.Unit {
		factors[i] = -u
	}
	simd.AddRows(rowsOf(w, r.Lo), rows, k, rowsOf(d.source, r.Lo), factors, total)
	simd.DotColumns(sums, rows, rowsOf(w, r.Lo), rowsOf(w, r.Lo))
	for q := len(d.parts) - 1; q >= 0; q-- {
		p := d.parts[q]
		// First as the caller sees it, for the norms, then as sweeps do.
		for i, u := range r.Unit {
			factors[i] = d.known[q] * u * factor(d.outer, r.Lo+i)
		}
		y := rowsOf(p.y, r.Lo)
		simd.AddRows(y, rows, k, simd.Rows[float64]{Data: d.zero}, factors, total)
		simd.DotColumns(p.sums.Of(r.Lo/chunkRows), rows, y, y)
		if d.outer == nil && d.inner == nil {
			continue
		}
		for i, u := range r.Unit {
			factors[i] = d.known[q] * u / factor(d.inner, r.Lo+i)
		}
		simd.AddRows(y, rows, k, simd.Rows[float64]{Data: d.zero}, factors, total)
	}
}

// single divides a row that is in the null space, or has nothing of it.
func (d *division) single(i int, own bool, sums []float64) {
	w, from := d.w[0].Row(i), d.source.Row(i)
	if !own {
		copy(w, from)
		addSquares(sums, 1, w)
		for _, p := range d.parts {
			clear(p.y.Row(i))
		}
		return
	}
	for q := len(d.parts) - 1; q >= 0; q-- {
		value := d.known[q]
		if d.evaluation.lone != nil && d.evaluation.lone[i] {
			value = d.lone[q]
		}
		p := d.parts[q]
		addSquares(p.sums.Of(i/chunkRows), value*factor(d.outer, i), from)
		scaleTo(p.y.Row(i), value/factor(d.inner, i), from)
	}
	clear(w)
}

// scaleRows stores f·x in dst for the rows lo ≤ i < hi, f a factor for each;
// dst may be x.
func (e *evaluation) scaleRows(dst, x *sparse.Block[float64], lo, hi int, f []float64) {
	simd.AddRows(rowsOf(dst, lo), hi-lo, x.Cols, simd.Rows[float64]{Data: e.zero}, f, rowsOf(x, lo))
}
