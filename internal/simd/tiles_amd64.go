//go:build amd64 && !noasm

package simd

import "unsafe"

// Loops of sums that go on from what dst holds, for 16-bit ids. The first take rows of
// any stride, the second two rows at a time.
type (
	tileLoop[T Float]  func(dst *T, dstStride int, x *T, stride int, ptr *int64, rows int, col *uint16, val *T, width int)
	tilePairs[T Float] func(dst *T, dstStride int, x *T, ptr *int64, split, rows int, col *uint16, val *T, width int)
)

// tileLoops are those for entries of one kind.
type tileLoops[T Float] struct {
	rows  tileLoop[T]
	pairs tilePairs[T]
}

// The first are for entries that are all 1, the second for those with values.
var (
	tileLoopsF32 = [2]tileLoops[float32]{
		{gatherSumF32TileRows, gatherSumF32TilePairs},
		{gatherWeightedF32TileRows, gatherWeightedF32TilePairs},
	}
	tileLoopsF64 = [2]tileLoops[float64]{
		{gatherSumF64TileRows, gatherSumF64TilePairs},
		{gatherWeightedF64TileRows, gatherWeightedF64TilePairs},
	}
)

func tileLoopsFor[T Float](weighted bool) *tileLoops[T] {
	kind := 0
	if weighted {
		kind = 1
	}
	if l, ok := any(&tileLoopsF32[kind]).(*tileLoops[T]); ok {
		return l
	}
	return any(&tileLoopsF64[kind]).(*tileLoops[T])
}

func gatherTile[T Float](dst Rows[T], k int, x Rows[T], ptr []int64, col []uint16, val []T) {
	if !hasAVX2 {
		plainGatherTile(dst, k, x, ptr, col, val)
		return
	}
	rows, size := len(ptr)-1, sizeOf[T]()
	if rows < 1 || k < 1 {
		return
	}
	entries := int(ptr[rows] - ptr[0])
	_, _ = dst.Data[(rows-1)*dst.Stride+k-1], col[:entries]
	if val != nil {
		_ = val[:entries]
	}
	loops, dstStride, stride := tileLoopsFor[T](val != nil), dst.Stride*size, x.Stride*size
	ids, values := unsafe.SliceData(col), unsafe.SliceData(val)
	for at, width := 0, 0; at < k; at += width {
		width = passWidth(k-at, size)
		bytes := width * size
		to, from := (*T)(pointer(dst.Data, at)), (*T)(pointer(x.Data, at))
		if x.Stride == width && bytes&(bytes-1) == 0 && pairsPay(ptr, bytes, tileLength) {
			loops.pairs(to, dstStride, from, &ptr[0], middle(ptr), rows, ids, values, width)
		} else {
			loops.rows(to, dstStride, from, stride, &ptr[0], rows, ids, values, width)
		}
	}
}
