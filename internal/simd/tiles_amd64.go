//go:build amd64 && !noasm

package simd

import "unsafe"

// Loops of sums that go on from what dst holds. The first take rows of any stride, the
// second two rows at a time.
type (
	nearLoop[T Float]  func(dst *T, dstStride int, x *T, stride int, ptr *int64, rows int, col *uint16, far, near int, val *T, width int)
	nearPairs[T Float] func(dst *T, dstStride int, x *T, ptr *int64, split, rows int, col *uint16, val *T, width int)
	ontoLoop[T Float]  func(dst *T, dstStride int, x *T, stride int, ptr *int64, rows int, col *uint32, far, near int, val, scale *T, width int)
	ontoPairs[T Float] func(dst *T, dstStride int, x *T, ptr *int64, split, rows int, col *uint32, val, scale *T, width int)
)

// tileLoops are those for entries of one kind.
type tileLoops[T Float] struct {
	near, soon           [2]nearLoop[T] // avx2 and avx512
	onto                 [2]ontoLoop[T]
	nearPairs, soonPairs nearPairs[T]
	ontoPairs            ontoPairs[T]
}

// The first are for entries that are all 1, the second for those with values.
var (
	tileLoopsF32 = [2]tileLoops[float32]{{
		near:      [2]nearLoop[float32]{gatherSumF32NearAVX2, gatherSumF32NearAVX512},
		soon:      [2]nearLoop[float32]{gatherSumF32SoonAVX2, gatherSumF32SoonAVX512},
		onto:      [2]ontoLoop[float32]{gatherSumF32OntoAVX2, gatherSumF32OntoAVX512},
		nearPairs: gatherSumF32NearPairs, soonPairs: gatherSumF32SoonPairs, ontoPairs: gatherSumF32OntoPairs,
	}, {
		near:      [2]nearLoop[float32]{gatherWeightedF32NearAVX2, gatherWeightedF32NearAVX512},
		soon:      [2]nearLoop[float32]{gatherWeightedF32SoonAVX2, gatherWeightedF32SoonAVX512},
		onto:      [2]ontoLoop[float32]{gatherWeightedF32OntoAVX2, gatherWeightedF32OntoAVX512},
		nearPairs: gatherWeightedF32NearPairs, soonPairs: gatherWeightedF32SoonPairs, ontoPairs: gatherWeightedF32OntoPairs,
	}}
	tileLoopsF64 = [2]tileLoops[float64]{{
		near:      [2]nearLoop[float64]{gatherSumF64NearAVX2, gatherSumF64NearAVX512},
		soon:      [2]nearLoop[float64]{gatherSumF64SoonAVX2, gatherSumF64SoonAVX512},
		onto:      [2]ontoLoop[float64]{gatherSumF64OntoAVX2, gatherSumF64OntoAVX512},
		nearPairs: gatherSumF64NearPairs, soonPairs: gatherSumF64SoonPairs, ontoPairs: gatherSumF64OntoPairs,
	}, {
		near:      [2]nearLoop[float64]{gatherWeightedF64NearAVX2, gatherWeightedF64NearAVX512},
		soon:      [2]nearLoop[float64]{gatherWeightedF64SoonAVX2, gatherWeightedF64SoonAVX512},
		onto:      [2]ontoLoop[float64]{gatherWeightedF64OntoAVX2, gatherWeightedF64OntoAVX512},
		nearPairs: gatherWeightedF64NearPairs, soonPairs: gatherWeightedF64SoonPairs, ontoPairs: gatherWeightedF64OntoPairs,
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

// gatherSumOnto takes each pass in two calls, as [gather.run] does.
func gatherSumOnto[T Float](dst Rows[T], k int, scale []T, x Rows[T], ptr []int64, col []uint32, val []T) {
	if !hasAVX2 {
		plainGatherSumOnto(dst, k, scale, x, ptr, col, val)
		return
	}
	rows, size := len(ptr)-1, sizeOf[T]()
	if rows < 1 || k < 1 {
		return
	}
	entries := int(ptr[rows] - ptr[0])
	_, _, _ = dst.Data[(rows-1)*dst.Stride+k-1], scale[:rows], col[:entries]
	if val != nil {
		_ = val[:entries]
	}
	loops, dstStride := tileLoopsFor[T](val != nil), dst.Stride*size
	for at, width := 0, 0; at < k; at += width {
		var by loop
		width, by = passWidth(k-at, size)
		first, ahead := rows, far(width*size)
		if entries+ahead > cap(col) {
			first = rowsBefore(ptr, cap(col)-ahead)
		}
		pass := func(lo, hi, ahead, near int) {
			if lo == hi {
				return
			}
			to, from := (*T)(pointer(dst.Data, lo*dst.Stride+at)), (*T)(pointer(x.Data, at))
			entry, part := int(ptr[lo]-ptr[0]), ptr[lo:hi+1]
			ids, factors, values := unsafe.SliceData(col[entry:]), &scale[lo], (*T)(nil)
			if val != nil {
				values = unsafe.SliceData(val[entry:])
			}
			if ahead > 0 && tilePairs(x, width, part) {
				loops.ontoPairs(to, dstStride, from, &part[0], middle(part), hi-lo, ids, values, factors, width)
			} else {
				loops.onto[by](to, dstStride, from, x.Stride*size, &part[0], hi-lo, ids, ahead, near, values, factors, width)
			}
		}
		pass(0, first, ahead, near)
		pass(first, rows, 0, 0)
	}
}

// tilePairs reports whether it pays to take two rows of a tile at a time: sooner than
// elsewhere, since their rows of x are near or come as fast as they can.
func tilePairs[T Float](x Rows[T], width int, ptr []int64) bool {
	bytes := width * sizeOf[T]()
	return x.Stride == width && bytes&(bytes-1) == 0 && pairsPay(ptr, bytes, tileLength)
}
