package blocks

import (
	"context"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/sparse"
)

const (
	tileRows = 64   // rows of g that are multiplied at a time; with several workers also rows of f
	jobCols  = 1024 // rows of g in one piece of work
	depth    = 256  // features whose products are added in float64 before they are added to dst
)

// AddProducts adds the inner products of the rows of f and g to dst, which must not overlap f or g:
//
//	dst[i, j] += Σ_{e in chunk} f[i, e]·g[j, e]
//
// for one chunk of features after the other. Each chunk is added up in float64. An element of dst depends on its two
// rows only, so that any cut of f or g into parts gives the same bits. If f and g are the same block, dst must be
// symmetric, and AddProducts computes one triangle and copies it to the other. It returns the error of the context.
func AddProducts[D, T sparse.Float](ctx context.Context, dst *sparse.Block[D],
	f, g *sparse.Block[T], workers int) error {
	if dst.Rows != f.Rows || dst.Cols != g.Rows || f.Cols != g.Cols {
		panic(badShape)
	}
	piece := tileRows // rows of f at a time
	if workers == 1 {
		piece = 8 * tileRows // so that rows of g are converted less often
	}
	depth := min(depth, f.Cols+3) // and zeros behind them
	isSymmetric := f == g
	across := (g.Rows + jobCols - 1) / jobCols
	jobs := (f.Rows + piece - 1) / piece * across
	panels := make([][]float64, max(1, min(jobs, sched.Workers(workers)))) // panels of each worker
	return sched.Run(ctx, len(panels), jobs, func(worker, job int) error {
		if panels[worker] == nil {
			panels[worker] = make([]float64, (piece+tileRows)*depth)
		}
		left, right := panels[worker][:piece*depth], panels[worker][piece*depth:]
		job = jobs - 1 - job // the longest rows first
		top := job / across * piece
		bottom := min(top+piece, f.Rows)
		first := job % across * jobCols
		last := min(first+jobCols, g.Rows)
		if isSymmetric {
			last = min(last, bottom)
		}
		for column := 0; column < f.Cols && first < last; column += depth {
			end := min(column+depth, f.Cols)
			width := (end - column + 3) &^ 3
			widenTo(left, f, width, top, bottom, column, end)
			for lo := first; lo < last; lo += tileRows {
				hi := min(lo+tileRows, g.Rows)
				widenTo(right, g, width, lo, hi, column, end)
				row := func(panel []float64, i int) []float64 { return panel[i*width : (i+1)*width] }
				for i := 0; i < bottom-top; i += 2 {
					for j := 0; j < hi-lo && !(isSymmetric && lo+j > top+i+1); j += 4 {
						var sums [8]float64
						simd.DotPanels(&sums, row(left, i), row(left, i+1),
							row(right, j), row(right, j+1), row(right, j+2),
							row(right, j+3))
						for a := top + i; a < min(top+i+2, bottom); a++ {
							values := sums[4*(a-top-i):]
							for b := lo + j; b < min(lo+j+4, hi) && !(isSymmetric && b > a); b++ {
								dst.Row(a)[b] += D(values[b-lo-j])
								if isSymmetric {
									dst.Row(b)[a] = dst.Row(a)[b]
								}
							}
						}
					}
				}
			}
		}
		return sched.Cause(ctx)
	})
}

func widenTo[T sparse.Float](dst []float64, f *sparse.Block[T],
	width, first, end, lo, hi int) {
	for i := first; i < end; i++ {
		simd.ConvertTo(dst, f.Row(i)[lo:hi])
		clear(dst[hi-lo : width])
		dst = dst[width:]
	}
	clear(dst)
}
