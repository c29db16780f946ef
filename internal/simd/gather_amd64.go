//go:build amd64 && !noasm

package simd

import (
	"sort"
	"unsafe"
)

// What a pass of a gather takes of a row, in bytes: its sums stay in
// registers, more columns are left to another pass.
const (
	narrow       = 7   // columns, not bytes, up to which every width has a loop
	mostAVX2     = 320 // if a row has more, passes take passAVX2
	passAVX2     = 256
	leastAVX512  = 256 // less is faster with registers of 32 bytes
	mostAVX512   = 544
	passAVX512   = 512
	mostByLength = 64 // and only powers of two
)

// near is how many entries before their use rows of several lines are brought
// to the first cache, far how many before all rows are brought to the second.
const near = 20

func far(rowBytes int) int {
	if rowBytes <= 128 {
		return 192
	}
	return 128
}

// passWidth returns how many of the remaining columns the next pass takes, and
// whether it takes them with AVX-512.
func passWidth(rest, size int) (width int, wide bool) {
	most, pass := mostAVX2, passAVX2
	if wide = hasAVX512 && rest*size >= leastAVX512; wide {
		most, pass = mostAVX512, passAVX512
	}
	if rest <= narrow {
		return rest, false
	}
	bytes := rest * size / registerBytes * registerBytes
	if bytes > most {
		bytes = pass
	}
	return bytes / size, wide
}

func gatherSum[T Float](dst Rows[T], k int, scale []T, x Rows[T], ptr []int64, col []uint32, order []uint16) {
	if !hasAVX2 {
		plainGatherSum(dst, k, scale, x, ptr, col)
		return
	}
	g := gather[T]{dst: dst, x: x, scale: scale, ptr: ptr, col: col, order: order}
	g.run(k)
}

func gatherWeighted[T Float](dst Rows[T], k int, scale []T, x Rows[T], ptr []int64, col []uint32, val []T, order []uint16) {
	if !hasAVX2 {
		plainGatherWeighted(dst, k, scale, x, ptr, col, val)
		return
	}
	g := gather[T]{dst: dst, x: x, scale: scale, ptr: ptr, col: col, val: val[:ptr[len(ptr)-1]-ptr[0]], order: order}
	g.run(k)
}

// gather is the work of one call of a gather loop.
type gather[T Float] struct {
	dst, x Rows[T]
	scale  []T
	ptr    []int64
	col    []uint32
	val    []T      // nil: ones
	order  []uint16 // of the rows; nil: as they stand
}

// run takes the columns in passes, and each pass in two calls: the prefetches
// of the first stay inside col's memory, those of the last few rows would not.
func (g *gather[T]) run(k int) {
	rows := len(g.ptr) - 1
	if rows < 1 || k < 1 {
		return
	}
	entries := int(g.ptr[rows] - g.ptr[0])
	_, _, _ = g.dst.Data[(rows-1)*g.dst.Stride+k-1], g.scale[:rows], g.col[:entries]
	if rowBytes := k * sizeOf[T](); g.order != nil && rowBytes <= mostByLength && rowBytes&(rowBytes-1) == 0 {
		_ = g.order[:rows]
		g.byLength(rows, k)
		return
	}
	for at := 0; at < k; {
		width, wide := passWidth(k-at, sizeOf[T]())
		distance, first := far(width*sizeOf[T]()), rows
		if entries+distance > cap(g.col) {
			first = sort.Search(rows, func(r int) bool { return int(g.ptr[r+1]-g.ptr[0])+distance > cap(g.col) })
		}
		g.pass(at, width, 0, first, distance, near, wide)
		g.pass(at, width, first, rows, 0, 0, wide)
		at += width
	}
}

// pass gathers the columns at ≤ j < at+width of the rows lo ≤ r < hi and
// prefetches so many entries ahead.
func (g *gather[T]) pass(at, width, lo, hi, far, near int, wide bool) {
	if lo == hi {
		return
	}
	entry, size := int(g.ptr[lo]-g.ptr[0]), sizeOf[T]()
	dst, x, scale := pointer(g.dst.Data, lo*g.dst.Stride+at), pointer(g.x.Data, at), pointer(g.scale, lo)
	ptr, col := &g.ptr[lo], unsafe.SliceData(g.col[entry:])
	dstStride, stride := g.dst.Stride*size, g.x.Stride*size
	single := size == 4
	if g.val == nil {
		switch {
		case single && wide:
			gatherSumF32AVX512((*float32)(dst), dstStride, (*float32)(x), stride, ptr, hi-lo, col, far, near, (*float32)(scale), width)
		case single:
			gatherSumF32AVX2((*float32)(dst), dstStride, (*float32)(x), stride, ptr, hi-lo, col, far, near, (*float32)(scale), width)
		case wide:
			gatherSumF64AVX512((*float64)(dst), dstStride, (*float64)(x), stride, ptr, hi-lo, col, far, near, (*float64)(scale), width)
		default:
			gatherSumF64AVX2((*float64)(dst), dstStride, (*float64)(x), stride, ptr, hi-lo, col, far, near, (*float64)(scale), width)
		}
		return
	}
	val := pointer(g.val, entry)
	switch {
	case single && wide:
		gatherWeightedF32AVX512((*float32)(dst), dstStride, (*float32)(x), stride, ptr, hi-lo, col, far, near, (*float32)(val), (*float32)(scale), width)
	case single:
		gatherWeightedF32AVX2((*float32)(dst), dstStride, (*float32)(x), stride, ptr, hi-lo, col, far, near, (*float32)(val), (*float32)(scale), width)
	case wide:
		gatherWeightedF64AVX512((*float64)(dst), dstStride, (*float64)(x), stride, ptr, hi-lo, col, far, near, (*float64)(val), (*float64)(scale), width)
	default:
		gatherWeightedF64AVX2((*float64)(dst), dstStride, (*float64)(x), stride, ptr, hi-lo, col, far, near, (*float64)(val), (*float64)(scale), width)
	}
}

// byLength gathers all columns of all rows in the given order.
func (g *gather[T]) byLength(rows, k int) {
	size := sizeOf[T]()
	dst, x, scale := pointer(g.dst.Data, 0), pointer(g.x.Data, 0), pointer(g.scale, 0)
	ptr, col, order := &g.ptr[0], unsafe.SliceData(g.col), &g.order[0]
	dstStride, stride := g.dst.Stride*size, g.x.Stride*size
	val := pointer(g.val, 0)
	switch single := size == 4; {
	case g.val != nil && single:
		gatherWeightedF32ByLength((*float32)(dst), dstStride, (*float32)(x), stride, ptr, rows, col, order, (*float32)(val), (*float32)(scale), k)
	case g.val != nil:
		gatherWeightedF64ByLength((*float64)(dst), dstStride, (*float64)(x), stride, ptr, rows, col, order, (*float64)(val), (*float64)(scale), k)
	case single:
		gatherSumF32ByLength((*float32)(dst), dstStride, (*float32)(x), stride, ptr, rows, col, order, (*float32)(scale), k)
	default:
		gatherSumF64ByLength((*float64)(dst), dstStride, (*float64)(x), stride, ptr, rows, col, order, (*float64)(scale), k)
	}
}
