//go:build amd64 && !noasm

package simd

import "unsafe"

// placed is the work of one call of a gather whose sums lie in another order.
type placed[T Float] struct {
	dst, x Rows[T]
	scale  []T
	ptr    []int64
	col    []uint32
	place  []uint8
}

func gatherSumPlaced[T Float](dst Rows[T], k int, scale []T, x Rows[T], ptr []int64, col []uint32, place []uint8) {
	if !hasAVX2 {
		plainGatherSumPlaced(dst, k, scale, x, ptr, col, place)
		return
	}
	rows := len(ptr) - 1
	if rows < 1 || k < 1 {
		return
	}
	entries := int(ptr[rows] - ptr[0])
	_, _, _, _ = dst.Data[(rows-1)*dst.Stride+k-1], scale[:rows], col[:entries], place[:rows]
	g := placed[T]{dst: dst, x: x, scale: scale, ptr: ptr, col: col, place: place}
	cached := len(x.Data)*sizeOf[T]() <= cachedBytes
	for at := 0; at < k; {
		width := cutWidth(k-at, sizeOf[T](), mostAVX2, passAVX2)
		bytes, first := width*sizeOf[T](), rows
		if cached && bytes <= mostShort {
			g.pass(at, width, 0, rows, 0, true)
		} else {
			ahead := farClose(bytes)
			if entries+ahead > cap(col) {
				first = rowsBefore(ptr, cap(col)-ahead)
			}
			g.pass(at, width, 0, first, ahead, false)
			g.pass(at, width, first, rows, 0, false)
		}
		at += width
	}
}

// pass gathers the columns at ≤ j < at+width of the runs lo ≤ r < hi and
// prefetches so many entries ahead, unless x is in a near cache.
func (g *placed[T]) pass(at, width, lo, hi, far int, cached bool) {
	if lo == hi {
		return
	}
	size := sizeOf[T]()
	dst, x, scale, place := pointer(g.dst.Data, at), pointer(g.x.Data, at), pointer(g.scale, 0), &g.place[lo]
	ptr, col := &g.ptr[lo], unsafe.SliceData(g.col[g.ptr[lo]-g.ptr[0]:])
	dstStride, stride := g.dst.Stride*size, g.x.Stride*size
	switch single := size == 4; {
	case single && cached:
		gatherSumF32PlacedCached((*float32)(dst), dstStride, (*float32)(x), stride, ptr, hi-lo, col, far, (*float32)(scale), place, width)
	case single:
		gatherSumF32Placed((*float32)(dst), dstStride, (*float32)(x), stride, ptr, hi-lo, col, far, (*float32)(scale), place, width)
	case cached:
		gatherSumF64PlacedCached((*float64)(dst), dstStride, (*float64)(x), stride, ptr, hi-lo, col, far, (*float64)(scale), place, width)
	default:
		gatherSumF64Placed((*float64)(dst), dstStride, (*float64)(x), stride, ptr, hi-lo, col, far, (*float64)(scale), place, width)
	}
}
