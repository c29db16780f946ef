package cwk

import (
	"context"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/sparse"
)

const (
	tileRows  = 2    // rows of a in registers at a time
	tileCols  = 4    // rows of b in registers at a time
	jobRows   = 32   // rows of a in one piece of work
	jobCols   = 1024 // rows of b in one piece of work
	blockCols = 128  // rows of b that stay in cache while the job's rows of a pass
	depth     = 256  // features added in float64 before they are added to dst
)

// productTo stores a·bᵀ in dst, which must overlap neither:
//
//	dst[i, j] = Σ_chunk ( Σ_{f in chunk} a[i, f]·b[j, f] )
//
// over chunks of depth features in increasing order, each added up in float64
// as [simd.DotPanels] does. An element depends on its two rows alone, so any
// cut of a or b into parts gives the same bits, and a·aᵀ is symmetric to the
// bit.
func productTo[T sparse.Float](ctx context.Context, dst, a, b *sparse.Block[T], workers int) error {
	if dst.Rows != a.Rows || dst.Cols != b.Rows || a.Cols != b.Cols {
		panic(badShape)
	}
	across := (b.Rows + jobCols - 1) / jobCols
	jobs := (a.Rows + jobRows - 1) / jobRows * across
	multipliers := make([]*multiplier, sched.Workers(workers))
	return sched.Run(ctx, workers, jobs, func(worker, job int) error {
		if multipliers[worker] == nil {
			multipliers[worker] = new(multiplier)
		}
		m := multipliers[worker]
		top := job / across * jobRows
		left := job % across * jobCols
		bottom := min(top+jobRows, a.Rows)
		right := min(left+jobCols, b.Rows)
		for j := left; j < right; j += blockCols {
			for f := 0; f < a.Cols; f += depth {
				end := min(f+depth, a.Cols)
				m.width = (end - f + 3) &^ 3
				widen(m.a[:], m.width, a, top, bottom, f, end)
				widen(m.b[:], m.width, b, j, min(j+blockCols, right), f, end)
				multiply(dst, m, top, bottom, j, min(j+blockCols, right), f > 0)
			}
		}
		return nil
	})
}

// multiplier holds a chunk of features of some rows in float64, width of them
// a row, with zeros behind them up to a multiple of 4.
type multiplier struct {
	width int
	a     [jobRows * depth]float64
	b     [blockCols * depth]float64
}

// widen stores the features f ≤ j < end of the rows lo ≤ i < hi in dst, and
// zeros in rows up to a multiple of tileCols.
func widen[T sparse.Float](dst []float64, width int, x *sparse.Block[T], lo, hi, f, end int) {
	for i := lo; i < hi; i++ {
		target := dst[(i-lo)*width : (i-lo+1)*width]
		for j, v := range x.Row(i)[f:end] {
			target[j] = float64(v)
		}
		clear(target[end-f:])
	}
	rows := (hi - lo + tileCols - 1) / tileCols * tileCols
	clear(dst[(hi-lo)*width : rows*width])
}

// multiply stores the products of the multiplier's rows in dst, in rows
// lo ≤ i < hi and columns left ≤ j < right, or adds them.
func multiply[T sparse.Float](dst *sparse.Block[T], m *multiplier, lo, hi, left, right int, add bool) {
	a := func(i int) []float64 { return m.a[(i-lo)*m.width : (i-lo+1)*m.width] }
	b := func(j int) []float64 { return m.b[(j-left)*m.width : (j-left+1)*m.width] }
	for i := lo; i < hi; i += tileRows {
		for j := left; j < right; j += tileCols {
			var sums [tileRows * tileCols]float64
			simd.DotPanels(&sums, a(i), a(i+1), b(j), b(j+1), b(j+2), b(j+3))
			for r := range min(tileRows, hi-i) {
				target := dst.Row(i + r)[j:min(j+tileCols, right)]
				for c := range target {
					sum := T(sums[r*tileCols+c])
					if add {
						sum = target[c] + sum
					}
					target[c] = sum
				}
			}
		}
	}
}
