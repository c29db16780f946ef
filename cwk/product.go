package cwk

import (
	"context"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
)

const (
	tileRows  = 2    // rows of a in registers at a time
	tileCols  = 4    // rows of b in registers at a time
	jobRows   = 32   // rows of a in one piece of work
	jobCols   = 1024 // rows of b in one piece of work
	blockCols = 128  // rows of b that stay in cache while the job's rows of a pass
	depth     = 256  // features added in registers before they are added to dst
)

// productTo stores a·bᵀ in dst, which must overlap neither:
//
//	dst[i, j] = Σ_chunk ( Σ_{f in chunk} a[i, f]·b[j, f] )
//
// over chunks of depth features, both sums in increasing order and every
// product rounded before it is added. An element depends on its two rows
// alone, so any cut of a or b into parts gives the same bits, and a·aᵀ is
// symmetric to the bit.
func productTo[T sparse.Float](ctx context.Context, dst, a, b *sparse.Block[T], workers int) error {
	if dst.Rows != a.Rows || dst.Cols != b.Rows || a.Cols != b.Cols {
		panic(badShape)
	}
	across := (b.Rows + jobCols - 1) / jobCols
	jobs := (a.Rows + jobRows - 1) / jobRows * across
	return sched.Run(ctx, workers, jobs, func(_, job int) error {
		top, left := job/across*jobRows, job%across*jobCols
		bottom, right := min(top+jobRows, a.Rows), min(left+jobCols, b.Rows)
		for j := left; j < right; j += blockCols {
			for f := 0; f < a.Cols; f += depth {
				multiply(dst, a, b, top, bottom, j, min(j+blockCols, right), f, min(f+depth, a.Cols))
			}
		}
		return nil
	})
}

// multiply adds one chunk of features to the elements of dst in rows
// lo ≤ i < hi and columns left ≤ j < right; the first chunk is stored.
func multiply[T sparse.Float](dst, a, b *sparse.Block[T], lo, hi, left, right, f, end int) {
	i := lo
	for ; i+tileRows <= hi; i += tileRows {
		j := left
		for ; j+tileCols <= right; j += tileCols {
			tile(dst, a, b, i, j, f, end)
		}
		for ; j < right; j++ {
			single(dst, a, b, i, j, f, end)
			single(dst, a, b, i+1, j, f, end)
		}
	}
	for ; i < hi; i++ {
		for j := left; j < right; j++ {
			single(dst, a, b, i, j, f, end)
		}
	}
}

// tile is multiply for tileRows×tileCols elements.
func tile[T sparse.Float](dst, a, b *sparse.Block[T], i, j, f, end int) {
	a0, a1 := a.Row(i)[f:end], a.Row(i + 1)[f:end]
	b0, b1, b2, b3 := b.Row(j)[f:end], b.Row(j + 1)[f:end], b.Row(j + 2)[f:end], b.Row(j + 3)[f:end]
	var s00, s01, s02, s03, s10, s11, s12, s13 T
	a1, b0, b1, b2, b3 = a1[:len(a0)], b0[:len(a0)], b1[:len(a0)], b2[:len(a0)], b3[:len(a0)]
	for e, x := range a0 {
		y := a1[e]
		v := b0[e]
		s00 += T(x * v)
		s10 += T(y * v)
		v = b1[e]
		s01 += T(x * v)
		s11 += T(y * v)
		v = b2[e]
		s02 += T(x * v)
		s12 += T(y * v)
		v = b3[e]
		s03 += T(x * v)
		s13 += T(y * v)
	}
	d0, d1 := dst.Row(i)[j:j+tileCols], dst.Row(i + 1)[j:j+tileCols]
	if f > 0 {
		s00, s01, s02, s03 = d0[0]+s00, d0[1]+s01, d0[2]+s02, d0[3]+s03
		s10, s11, s12, s13 = d1[0]+s10, d1[1]+s11, d1[2]+s12, d1[3]+s13
	}
	d0[0], d0[1], d0[2], d0[3] = s00, s01, s02, s03
	d1[0], d1[1], d1[2], d1[3] = s10, s11, s12, s13
}

// single is multiply for one element.
func single[T sparse.Float](dst, a, b *sparse.Block[T], i, j, f, end int) {
	x, y := a.Row(i)[f:end], b.Row(j)[f:end]
	y = y[:len(x)]
	var sum T
	for e, v := range x {
		sum += T(v * y[e])
	}
	d := &dst.Row(i)[j]
	if f > 0 {
		sum = *d + sum
	}
	*d = sum
}
