package expm

import (
	"math"

	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

type division struct {
	e                *evaluation
	m                *Map
	share            *blocks.Share // nil: the map has no null space
	inner            []float64     // divisors of the part outside the null space
	parts            []*part
	nullValues, lone []float64 // values of the parts at the eigenvalues of the null space
	scratch          []rowFactors
}

type rowFactors [blocks.ChunkRows]float64

func (d *division) fill(worker, lo, hi int) {
	scaleRows(d.e.w[0], d.e.b, lo, hi, unitFactor, d.e.zero)
}

func (d *division) inverses(worker int, v []float64) []float64 {
	factors := d.scratch[worker][:len(v)]
	for i, x := range v {
		factors[i] = 1 / x
	}
	return factors
}

// rows computes W = (W − P₀W)/inner and Y = f·P₀W/inner in rows lo ≤ i < hi, where P₀ projects on
// the null space, W is w[0] and Y is the result of each part.
func (d *division) rows(worker, lo, hi int) {
	sums := d.e.sums.of(lo/blocks.ChunkRows, lo)
	if d.share == nil {
		d.fill(worker, lo, hi)
		for _, p := range d.parts {
			for _, place := range d.e.rows(lo, hi) {
				clear(p.y.Row(place))
			}
		}
		simd.DotColumns(sums, hi-lo, simd.RowsOf(d.e.w[0].Data, d.e.w[0].Stride, lo),
			simd.RowsOf(d.e.w[0].Data, d.e.w[0].Stride, lo))
	} else {
		d.share.EachRun(lo, hi, func(r blocks.Run) { d.run(worker, r, sums) })
	}
	if d.inner != nil {
		scaleRows(d.e.w[0], d.e.w[0], lo, hi,
			d.inverses(worker, d.inner[lo:hi]), d.e.zero)
	}
}

func (d *division) run(worker int, r blocks.Run, sums []float64) {
	w := simd.RowsOf(d.e.w[0].Data, d.e.w[0].Stride, r.Lo)
	k := d.e.b.Cols
	if r.Total == nil {
		for i := r.Lo; i < r.Hi; i++ {
			d.single(i, r.Own, sums)
		}
		return
	}
	rows := r.Hi - r.Lo
	total := simd.Rows[float64]{Data: r.Total}
	factors := d.scratch[worker][:rows]
	for i, u := range r.Unit {
		factors[i] = -u
	}
	simd.AddRows(w, rows, k, w, factors, total)
	simd.DotColumns(sums, rows, w, w)
	// Norms are in the variables of the caller, sweeps in the variables of the map.
	square := 0.0
	for _, u := range r.Unit {
		square += float64(u * u)
	}
	for q, p := range d.parts {
		addSquares(p.sums.of(r.Lo/blocks.ChunkRows, r.Lo),
			d.nullValues[q]*math.Sqrt(square), r.Total)
		if d.e.listed != nil {
			for _, l := range d.e.rowsBetween(r.Lo, r.Hi) {
				scaleTo(p.y.Row(l.place), d.nullValues[q]*r.Unit[l.row-r.Lo]/blocks.Factor(d.inner, l.row), r.Total)
			}
			continue
		}
		for i, u := range r.Unit {
			factors[i] = d.nullValues[q] * u / blocks.Factor(d.inner, r.Lo+i)
		}
		simd.AddRows(simd.RowsOf(p.y.Data, p.y.Stride, r.Lo), rows, k,
			simd.Rows[float64]{Data: d.e.zero}, factors, total)
	}
}

func (d *division) single(i int, isNull bool, sums []float64) {
	w := d.e.w[0].Row(i)
	if !isNull {
		addSquares(sums, 1, w)
		for _, p := range d.parts {
			for _, place := range d.e.rows(i, i+1) {
				clear(p.y.Row(place))
			}
		}
		return
	}
	for q, p := range d.parts {
		value := d.nullValues[q]
		if d.m.lone != nil && d.m.lone[i] {
			value = d.lone[q]
		}
		addSquares(p.sums.of(i/blocks.ChunkRows, i), value, w)
		value /= blocks.Factor(d.inner, i)
		for _, place := range d.e.rows(i, i+1) {
			scaleTo(p.y.Row(place), value, w)
		}
	}
	clear(w)
}

func scaleRows(dst, x *sparse.Block[float64], lo, hi int, f, zero []float64) {
	simd.AddRows(simd.RowsOf(dst.Data, dst.Stride, lo), hi-lo, x.Cols,
		simd.Rows[float64]{Data: zero}, f, simd.RowsOf(x.Data, x.Stride, lo))
}
