//go:build amd64 && !noasm

package simd

import "unsafe"

// GatherTile is GatherOnto without row factors:
//
//	dst[r][j] = dst[r][j] + Σ_e val[e]·x[col[e]][j]
//
// x must have at most 65,536 rows, which fit into a cache of the core, so that ids have 16 bits and nothing is
// prefetched.
func GatherTile[T Float](dst Rows[T], k int, x Rows[T], ptr []int64,
	col []uint16, val []T) {
	if !hasAVX2 {
		plainGatherTile(dst, k, x, ptr, col, val)
		return
	}
	rows := len(ptr) - 1
	size := sizeOf[T]()
	if rows < 1 || k < 1 {
		return
	}
	entries := int(ptr[rows] - ptr[0])
	_, _ = dst.Data[(rows-1)*dst.Stride+k-1], col[:entries]
	if val != nil {
		_ = val[:entries]
	}
	dstStride := dst.Stride * size
	stride := x.Stride * size
	split := 0
	first := &ptr[0]
	ids := unsafe.SliceData(col)
	values := pointer(val, 0)
	for column, width := 0, 0; column < k; column += width {
		width = passWidth(k-column, size)
		bytes := width * size
		dest := pointer(dst.Data, column)
		source := pointer(x.Data, column)
		single := size == 4
		pairs := x.Stride == width && bytes&(bytes-1) == 0 &&
			pairsPay(ptr, bytes, tileLength)
		if pairs {
			split = middle(ptr)
		}
		switch {
		case pairs && single && val == nil:
			gatherSumF32TilePairs((*float32)(dest), dstStride, (*float32)(source),
				first, split, rows, ids, nil, width)
		case pairs && single:
			gatherWeightedF32TilePairs((*float32)(dest), dstStride,
				(*float32)(source), first, split, rows, ids,
				(*float32)(values), width)
		case pairs && val == nil:
			gatherSumF64TilePairs((*float64)(dest), dstStride, (*float64)(source),
				first, split, rows, ids, nil, width)
		case pairs:
			gatherWeightedF64TilePairs((*float64)(dest), dstStride,
				(*float64)(source), first, split, rows, ids,
				(*float64)(values), width)
		case single && val == nil:
			gatherSumF32TileRows((*float32)(dest), dstStride, (*float32)(source),
				stride, first, rows, ids, nil, width)
		case single:
			gatherWeightedF32TileRows((*float32)(dest), dstStride,
				(*float32)(source), stride, first, rows, ids,
				(*float32)(values), width)
		case val == nil:
			gatherSumF64TileRows((*float64)(dest), dstStride, (*float64)(source),
				stride, first, rows, ids, nil, width)
		default:
			gatherWeightedF64TileRows((*float64)(dest), dstStride,
				(*float64)(source), stride, first, rows, ids,
				(*float64)(values), width)
		}
	}
}
