//go:build amd64 && !noasm

package simd

import (
	"sort"
	"unsafe"
)

// Limits on the part of a row that one pass of a gather processes, in bytes. The sums of a pass stay in registers.
const (
	narrow    = 7   // columns, not bytes: passes of up to 7 columns have a loop for every width
	mostPass  = 320 // wider rows are cut into passes of passBytes
	passBytes = 256
	mostShort = 64 // widest pass of the loops for short rows
)

// Rows are short if their mean length is at most shortLength and x has at most shortBytes. Mispredicted ends of short
// rows dominate the time. The loops for short rows therefore add the first shortHeads entries without a branch, and may
// read as many ids behind a row.
const (
	shortLength = 12
	shortBytes  = 16 << 20
	shortHeads  = 6
)

// longLength is the mean row length from which two rows are summed at a time, because the sum of a single row waits for
// its own last addition. Shorter rows end too often for this. The limit is wideLength for unweighted sums of two
// registers, which wait less, and tileLength in a tile. pairEntries is the smallest number of entries for which the
// saving exceeds the cost of a second start in the middle.
const (
	longLength  = 64
	wideLength  = 512
	tileLength  = 16
	pairEntries = 1 << 10
	mostPairs   = 2 * registerBytes
)

// toFirst is the number of entries by which rows of several cache lines are prefetched into the first-level cache.
const toFirst = 20

// toSecond returns the number of entries by which rows are prefetched into the second-level cache.
func toSecond(rowBytes int) int {
	if rowBytes <= 128 {
		return 192
	}
	return 128
}

// zeroRow is the row of zeros that sums begin with if they do not begin with dst. It is as long as the longest pass.
var zeroRow [mostPass / 8]float64

// passWidth returns the number of columns of the next pass, if remainder columns of elements of size bytes are left.
func passWidth(remainder, size int) int {
	if remainder <= narrow {
		return remainder
	}
	bytes := remainder * size / registerBytes * registerBytes
	if bytes > mostPass {
		bytes = passBytes
	}
	return bytes / size
}

// run gathers k columns, pass by pass. Each pass takes two calls: the second call gathers the last few rows without
// prefetches, which would leave the memory of col.
func (g *gather[T]) run(k int) {
	if !hasAVX2 {
		g.plain(k)
		return
	}
	rows := len(g.ptr) - 1
	if rows < 1 || k < 1 {
		return
	}
	entries := int(g.ptr[rows] - g.ptr[0])
	if g.val != nil {
		_ = g.val[:entries]
	}
	_, _, _ = g.dst.Data[(rows-1)*g.dst.Stride+k-1], g.scale[:rows], g.col[:entries]
	size := len(g.x.Data) * sizeOf[T]()
	for column := 0; column < k; {
		width := passWidth(k-column, sizeOf[T]())
		bytes := width * sizeOf[T]()
		short := false
		ahead := toSecond(bytes)
		heads := 0
		first := rows
		if !g.onto && g.val == nil && bytes <= mostShort &&
			entries <= shortLength*rows && size <= shortBytes {
			short = true
			heads = shortHeads
		}
		if entries+ahead+heads > cap(g.col) {
			first = rowsBefore(g.ptr, cap(g.col)-ahead-heads)
		}
		if !short && g.x.Stride == width && bytes&(bytes-1) == 0 &&
			g.long(first, bytes) {
			g.pairs(width, first)
		} else {
			g.pass(column, width, 0, first, ahead, toFirst, short)
		}
		g.pass(column, width, first, rows, 0, 0, false)
		column += width
	}
}

// rowsBefore returns the number of rows that end within the first given number of entries.
func rowsBefore(ptr []int64, entries int) int {
	return sort.Search(len(ptr)-1,
		func(r int) bool { return int(ptr[r+1]-ptr[0]) > entries })
}

// pass gathers the columns column ≤ j < column+width of the rows lo ≤ r < hi. It prefetches rows of x toSecond and
// toFirst entries ahead. If short is set, it uses the loops for short rows.
func (g *gather[T]) pass(column, width, lo, hi, toSecond, toFirst int, short bool) {
	if lo == hi {
		return
	}
	rows := hi - lo
	entry := int(g.ptr[lo] - g.ptr[0])
	size := sizeOf[T]()
	dst := pointer(g.dst.Data, lo*g.dst.Stride+column)
	x := pointer(g.x.Data, column)
	scale := pointer(g.scale, lo)
	ptr := &g.ptr[lo]
	col := unsafe.SliceData(g.col[entry:])
	val := pointer(g.val, entry)
	dstStride := g.dst.Stride * size
	stride := g.x.Stride * size
	start, startStride := g.start(lo, column)
	switch single := size == 4; {
	case short && single:
		gatherSumF32Short((*float32)(dst), dstStride, (*float32)(x), stride, ptr,
			rows, col, toSecond, toFirst, (*float32)(scale), width)
	case short:
		gatherSumF64Short((*float64)(dst), dstStride, (*float64)(x), stride, ptr,
			rows, col, toSecond, toFirst, (*float64)(scale), width)
	case single && g.val == nil:
		gatherSumF32Rows((*float32)(dst), dstStride, (*float32)(x), stride, ptr,
			rows, col, toSecond, toFirst, (*float32)(start), startStride,
			(*float32)(scale), width)
	case single:
		gatherWeightedF32Rows((*float32)(dst), dstStride, (*float32)(x), stride,
			ptr, rows, col, toSecond, toFirst, (*float32)(start), startStride,
			(*float32)(val), (*float32)(scale), width)
	case g.val == nil:
		gatherSumF64Rows((*float64)(dst), dstStride, (*float64)(x), stride, ptr,
			rows, col, toSecond, toFirst, (*float64)(start), startStride,
			(*float64)(scale), width)
	default:
		gatherWeightedF64Rows((*float64)(dst), dstStride, (*float64)(x), stride,
			ptr, rows, col, toSecond, toFirst, (*float64)(start), startStride,
			(*float64)(val), (*float64)(scale), width)
	}
}

// start returns the address of the sums, at the given column, that row lo begins with, and the number of bytes to the
// sums of the next row.
func (g *gather[T]) start(lo, column int) (row unsafe.Pointer, stride int) {
	if g.onto {
		return pointer(g.dst.Data, lo*g.dst.Stride+column),
			g.dst.Stride * sizeOf[T]()
	}
	return unsafe.Pointer(&zeroRow), 0
}

// long reports whether the first rows are long enough to be summed two at a time. bytes is the width of a row of x.
func (g *gather[T]) long(rows, bytes int) bool {
	length := longLength
	switch {
	case g.onto:
		length = tileLength
	case bytes > registerBytes && g.val == nil:
		length = wideLength
	}
	return pairsPay(g.ptr[:rows+1], bytes, length)
}

// pairsPay reports whether summing two rows at a time is faster. It is if rows of x have few bytes, and rows of the
// matrix have at least length entries on average.
func pairsPay(ptr []int64, bytes, length int) bool {
	rows := len(ptr) - 1
	entries := int(ptr[rows] - ptr[0])
	return bytes <= mostPairs && rows > 1 &&
		entries >= max(pairEntries, length*rows)
}

// pairs gathers the first rows, two at a time: one row before the middle of the entries of all rows and one after it.
func (g *gather[T]) pairs(width, rows int) {
	split := middle(g.ptr[:rows+1])
	size := sizeOf[T]()
	dst := pointer(g.dst.Data, 0)
	x := pointer(g.x.Data, 0)
	scale := pointer(g.scale, 0)
	ptr := &g.ptr[0]
	col := &g.col[0]
	val := pointer(g.val, 0)
	dstStride := g.dst.Stride * size
	start, startStride := g.start(0, 0)
	switch single := size == 4; {
	case single && g.val == nil:
		gatherSumF32Pairs((*float32)(dst), dstStride, (*float32)(x), ptr, split,
			rows, col, (*float32)(start), startStride, (*float32)(scale), width)
	case single:
		gatherWeightedF32Pairs((*float32)(dst), dstStride, (*float32)(x), ptr,
			split, rows, col, (*float32)(start), startStride, (*float32)(val),
			(*float32)(scale), width)
	case g.val == nil:
		gatherSumF64Pairs((*float64)(dst), dstStride, (*float64)(x), ptr, split,
			rows, col, (*float64)(start), startStride, (*float64)(scale), width)
	default:
		gatherWeightedF64Pairs((*float64)(dst), dstStride, (*float64)(x), ptr,
			split, rows, col, (*float64)(start), startStride, (*float64)(val),
			(*float64)(scale), width)
	}
}

// middle returns the row that begins nearest to the middle of the entries. It is at least 1 and below the number of
// rows.
func middle(ptr []int64) int {
	rows := len(ptr) - 1
	middle := (ptr[0] + ptr[rows]) / 2
	split := 1 + sort.Search(rows-2, func(r int) bool { return ptr[r+1] >= middle })
	if split > 1 && middle-ptr[split-1] < ptr[split]-middle {
		split--
	}
	return split
}
