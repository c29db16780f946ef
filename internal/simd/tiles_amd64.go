//go:build amd64 && !noasm

package simd

import "unsafe"

// Loops of sums that go on from what dst holds. The first take rows of any stride, the
// second two rows at a time.
type (
	nearLoop[T Float]  func(dst *T, dstStride int, x *T, stride int, ptr *int64, rows int, col *uint16, far, near int, val *T, width int)
	nearPairs[T Float] func(dst *T, dstStride int, x *T, ptr *int64, split, rows int, col *uint16, val *T, width int)
)

// tileLoops are those for entries of one kind.
type tileLoops[T Float] struct {
	near, soon           [2]nearLoop[T] // avx2 and avx512
	nearPairs, soonPairs nearPairs[T]
}

// The first are for entries that are all 1, the second for those with values.
var (
	tileLoopsF32 = [2]tileLoops[float32]{{
		near:      [2]nearLoop[float32]{gatherSumF32NearAVX2, gatherSumF32NearAVX512},
		soon:      [2]nearLoop[float32]{gatherSumF32SoonAVX2, gatherSumF32SoonAVX512},
		nearPairs: gatherSumF32NearPairs, soonPairs: gatherSumF32SoonPairs,
	}, {
		near:      [2]nearLoop[float32]{gatherWeightedF32NearAVX2, gatherWeightedF32NearAVX512},
		soon:      [2]nearLoop[float32]{gatherWeightedF32SoonAVX2, gatherWeightedF32SoonAVX512},
		nearPairs: gatherWeightedF32NearPairs, soonPairs: gatherWeightedF32SoonPairs,
	}}
	tileLoopsF64 = [2]tileLoops[float64]{{
		near:      [2]nearLoop[float64]{gatherSumF64NearAVX2, gatherSumF64NearAVX512},
		soon:      [2]nearLoop[float64]{gatherSumF64SoonAVX2, gatherSumF64SoonAVX512},
		nearPairs: gatherSumF64NearPairs, soonPairs: gatherSumF64SoonPairs,
	}, {
		near:      [2]nearLoop[float64]{gatherWeightedF64NearAVX2, gatherWeightedF64NearAVX512},
		soon:      [2]nearLoop[float64]{gatherWeightedF64SoonAVX2, gatherWeightedF64SoonAVX512},
		nearPairs: gatherWeightedF64NearPairs, soonPairs: gatherWeightedF64SoonPairs,
	}}
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

func gatherSumNear[T Float](dst Rows[T], k int, x Rows[T], ptr []int64, col []uint16, val []T, seldom bool) {
	if !hasAVX2 {
		plainGatherSumNear(dst, k, x, ptr, col, val)
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
		var by loop
		width, by = passWidth(k-at, size)
		to, from, ahead := (*T)(pointer(dst.Data, at)), (*T)(pointer(x.Data, at)), far(width*size)
		paired, one, two := tilePairs(x, width, ptr), loops.near[by], loops.nearPairs
		if seldom && entries+ahead <= cap(col) {
			one, two = loops.soon[by], loops.soonPairs
		}
		if paired {
			two(to, dstStride, from, &ptr[0], middle(ptr), rows, ids, values, width)
		} else {
			one(to, dstStride, from, stride, &ptr[0], rows, ids, ahead, near, values, width)
		}
	}
}

// tilePairs reports whether it pays to take two rows of a tile at a time: sooner than
// elsewhere, since their rows of x are near or come as fast as they can.
func tilePairs[T Float](x Rows[T], width int, ptr []int64) bool {
	bytes := width * sizeOf[T]()
	return x.Stride == width && bytes&(bytes-1) == 0 && pairsPay(ptr, bytes, tileLength)
}
