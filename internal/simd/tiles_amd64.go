//go:build amd64 && !noasm

package simd

import "unsafe"

func gatherSumNear[T Float](dst Rows[T], k int, x Rows[T], ptr []int64, col []uint16, seldom bool) {
	if !hasAVX2 {
		plainGatherSumNear(dst, k, x, ptr, col)
		return
	}
	rows, size := len(ptr)-1, sizeOf[T]()
	if rows < 1 || k < 1 {
		return
	}
	entries := int(ptr[rows] - ptr[0])
	_, _ = dst.Data[(rows-1)*dst.Stride+k-1], col[:entries]
	ids, dstStride, stride := unsafe.SliceData(col), dst.Stride*size, x.Stride*size
	for at, width := 0, 0; at < k; at += width {
		var by loop
		width, by = passWidth(k-at, size)
		to, from := pointer(dst.Data, at), pointer(x.Data, at)
		ahead := far(width * size)
		if seldom && entries+ahead <= cap(col) {
			switch paired := tilePairs(x, width, ptr); {
			case paired && size == 4:
				gatherSumF32SoonPairs((*float32)(to), dstStride, (*float32)(from), &ptr[0], middle(ptr), rows, ids, width)
			case paired:
				gatherSumF64SoonPairs((*float64)(to), dstStride, (*float64)(from), &ptr[0], middle(ptr), rows, ids, width)
			case size == 4 && by == avx512:
				gatherSumF32SoonAVX512((*float32)(to), dstStride, (*float32)(from), stride, &ptr[0], rows, ids, ahead, near, width)
			case size == 4:
				gatherSumF32Soon((*float32)(to), dstStride, (*float32)(from), stride, &ptr[0], rows, ids, ahead, near, width)
			case by == avx512:
				gatherSumF64SoonAVX512((*float64)(to), dstStride, (*float64)(from), stride, &ptr[0], rows, ids, ahead, near, width)
			default:
				gatherSumF64Soon((*float64)(to), dstStride, (*float64)(from), stride, &ptr[0], rows, ids, ahead, near, width)
			}
			continue
		}
		switch paired := tilePairs(x, width, ptr); {
		case paired && size == 4:
			gatherSumF32NearPairs((*float32)(to), dstStride, (*float32)(from), &ptr[0], middle(ptr), rows, ids, width)
		case paired:
			gatherSumF64NearPairs((*float64)(to), dstStride, (*float64)(from), &ptr[0], middle(ptr), rows, ids, width)
		case size == 4 && by == avx512:
			gatherSumF32NearAVX512((*float32)(to), dstStride, (*float32)(from), stride, &ptr[0], rows, ids, width)
		case size == 4:
			gatherSumF32Near((*float32)(to), dstStride, (*float32)(from), stride, &ptr[0], rows, ids, width)
		case by == avx512:
			gatherSumF64NearAVX512((*float64)(to), dstStride, (*float64)(from), stride, &ptr[0], rows, ids, width)
		default:
			gatherSumF64Near((*float64)(to), dstStride, (*float64)(from), stride, &ptr[0], rows, ids, width)
		}
	}
}

// gatherSumOnto takes each pass in two calls, as [gather.run] does.
func gatherSumOnto[T Float](dst Rows[T], k int, scale []T, x Rows[T], ptr []int64, col []uint32) {
	if !hasAVX2 {
		plainGatherSumOnto(dst, k, scale, x, ptr, col)
		return
	}
	rows, size := len(ptr)-1, sizeOf[T]()
	if rows < 1 || k < 1 {
		return
	}
	entries := int(ptr[rows] - ptr[0])
	_, _, _ = dst.Data[(rows-1)*dst.Stride+k-1], scale[:rows], col[:entries]
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
			to, from, factors := pointer(dst.Data, lo*dst.Stride+at), pointer(x.Data, at), pointer(scale, lo)
			ids := unsafe.SliceData(col[ptr[lo]-ptr[0]:])
			part := ptr[lo : hi+1]
			switch paired := ahead > 0 && tilePairs(x, width, part); {
			case paired && size == 4:
				gatherSumF32OntoPairs((*float32)(to), dst.Stride*size, (*float32)(from), &part[0], middle(part), hi-lo, ids, (*float32)(factors), width)
			case paired:
				gatherSumF64OntoPairs((*float64)(to), dst.Stride*size, (*float64)(from), &part[0], middle(part), hi-lo, ids, (*float64)(factors), width)
			case size == 4 && by == avx512:
				gatherSumF32OntoAVX512((*float32)(to), dst.Stride*size, (*float32)(from), x.Stride*size, &part[0], hi-lo, ids, ahead, near, (*float32)(factors), width)
			case size == 4:
				gatherSumF32Onto((*float32)(to), dst.Stride*size, (*float32)(from), x.Stride*size, &part[0], hi-lo, ids, ahead, near, (*float32)(factors), width)
			case by == avx512:
				gatherSumF64OntoAVX512((*float64)(to), dst.Stride*size, (*float64)(from), x.Stride*size, &part[0], hi-lo, ids, ahead, near, (*float64)(factors), width)
			default:
				gatherSumF64Onto((*float64)(to), dst.Stride*size, (*float64)(from), x.Stride*size, &part[0], hi-lo, ids, ahead, near, (*float64)(factors), width)
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
