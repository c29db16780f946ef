package choose

import (
	"context"

	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/sparse"
)

// MaxWidth bounds the columns that are gathered at a time.
const MaxWidth = 4096

// extend adds the products of the columns lo ≤ j < hi of x to the kernel.
func (w *Tester) extend(ctx context.Context, x *sparse.Block[float32], t *Trial, lo, hi int) error {
	for ; lo < hi; lo += MaxWidth {
		if err := w.add(ctx, x, t, lo, min(hi, lo+MaxWidth)); err != nil {
			return err
		}
	}
	return nil
}

// testRows is the number of test rows that stay in cache while training rows
// pass.
const testRows = 32

// add is extend for at most MaxWidth columns.
func (w *Tester) add(ctx context.Context, x *sparse.Block[float32], t *Trial, lo, hi int) error {
	w.left = gather(w.left, x, t.Train, lo, hi)
	w.right = gather(w.right, x, t.Test, lo, hi)
	width, m, n := span(hi-lo), len(t.Train), span(len(t.Test))
	left := func(i int) []float64 { return w.left[i*width : (i+1)*width] }
	right := func(j int) []float64 { return w.right[j*width : (j+1)*width] }
	var sums [8]float64
	for i := 0; i < m; i += 2 {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for j := 0; j < i+2; j += 4 {
			sums = [8]float64{}
			simd.DotPanels(&sums, left(i), left(i+1), left(j), left(j+1), left(j+2), left(j+3))
			for s, v := range sums {
				if a, b := i+s/4, j+s%4; b <= a && a < m {
					w.gram[a*m+b] += v
					w.gram[b*m+a] = w.gram[a*m+b]
				}
			}
		}
	}
	for top := 0; top < n; top += testRows {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for i := 0; i < m; i += 2 {
			for j := top; j < min(top+testRows, n); j += 4 {
				sums = [8]float64{}
				simd.DotPanels(&sums, left(i), left(i+1), right(j), right(j+1), right(j+2), right(j+3))
				for s, v := range sums[:4*min(2, m-i)] {
					w.cross[(i+s/4)*n+j+s%4] += v
				}
			}
		}
	}
	return nil
}

// gather stores the columns lo ≤ j < hi of the given rows of x in dst, with
// zeros around them up to multiples of 4.
func gather(dst []float64, x *sparse.Block[float32], rows []int, lo, hi int) []float64 {
	width := span(hi - lo)
	dst = zeros(dst, span(len(rows))*width)
	for i, r := range rows {
		simd.ConvertTo(dst[i*width:], x.Row(r)[lo:hi])
	}
	return dst
}

// span returns n rounded up to a multiple of 4.
func span(n int) int { return (n + 3) &^ 3 }
