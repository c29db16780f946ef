//go:build amd64 && !noasm

package simd

import (
	"sort"
	"unsafe"

	"golang.org/x/sys/cpu"
)

// What the processor has, looked at once. Tests switch it off.
var (
	hasAVX2 = cpu.X86.HasAVX2
	// The decoders spread selectors with PDEP.
	hasDecodeAVX2   = cpu.X86.HasAVX2 && cpu.X86.HasBMI2
	hasDecodeAVX512 = hasDecodeAVX2 && cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VBMI2
)

const (
	registerBytes = 32
	maxRegisters  = 10 // row sums one pass of a gather can hold
	passRegisters = 8  // and what it takes if there are more
)

// ahead returns how many entries before their use rows of so many bytes are
// prefetched: about two hundred cache lines are then under way.
func ahead(rowBytes int) int {
	switch {
	case rowBytes <= 64:
		return 192
	case rowBytes <= 128:
		return 128
	case rowBytes <= 256:
		return 96
	}
	return 56
}

// passWidth returns how many of the remaining columns the next pass takes.
func passWidth(rest, size int) int {
	lanes := registerBytes / size
	switch registers := rest / lanes; {
	case registers > maxRegisters:
		return passRegisters * lanes
	case registers > 0:
		return registers * lanes
	}
	return rest
}

func gatherSum[T Float](dst Rows[T], k int, scale []T, x Rows[T], ptr []int64, col []uint32) {
	if !hasAVX2 {
		plainGatherSum(dst, k, scale, x, ptr, col)
		return
	}
	g := gather[T]{dst: dst, x: x, scale: scale, ptr: ptr, col: col}
	g.run(k)
}

func gatherWeighted[T Float](dst Rows[T], k int, scale []T, x Rows[T], ptr []int64, col []uint32, val []T) {
	if !hasAVX2 {
		plainGatherWeighted(dst, k, scale, x, ptr, col, val)
		return
	}
	g := gather[T]{dst: dst, x: x, scale: scale, ptr: ptr, col: col, val: val[:ptr[len(ptr)-1]-ptr[0]]}
	g.run(k)
}

// gather is the work of one call of a gather loop.
type gather[T Float] struct {
	dst, x Rows[T]
	scale  []T
	ptr    []int64
	col    []uint32
	val    []T // nil: ones
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
	for at := 0; at < k; {
		width := passWidth(k-at, sizeOf[T]())
		distance, first := ahead(width*sizeOf[T]()), rows
		if entries+distance > cap(g.col) {
			first = sort.Search(rows, func(r int) bool { return int(g.ptr[r+1]-g.ptr[0])+distance > cap(g.col) })
		}
		g.pass(at, width, 0, first, distance)
		g.pass(at, width, first, rows, 0)
		at += width
	}
}

// pass gathers the columns at ≤ j < at+width of the rows lo ≤ r < hi and
// prefetches so many entries ahead.
func (g *gather[T]) pass(at, width, lo, hi, distance int) {
	if lo == hi {
		return
	}
	entry, size := int(g.ptr[lo]-g.ptr[0]), sizeOf[T]()
	dst, x, scale := pointer(g.dst.Data, lo*g.dst.Stride+at), pointer(g.x.Data, at), pointer(g.scale, lo)
	ptr, col := &g.ptr[lo], unsafe.SliceData(g.col[entry:])
	dstStride, stride := g.dst.Stride*size, g.x.Stride*size
	switch single := size == 4; {
	case g.val != nil && single:
		gatherWeightedF32((*float32)(dst), dstStride, (*float32)(x), stride, ptr, hi-lo, col, distance, (*float32)(pointer(g.val, entry)), (*float32)(scale), width)
	case g.val != nil:
		gatherWeightedF64((*float64)(dst), dstStride, (*float64)(x), stride, ptr, hi-lo, col, distance, (*float64)(pointer(g.val, entry)), (*float64)(scale), width)
	case single:
		gatherSumF32((*float32)(dst), dstStride, (*float32)(x), stride, ptr, hi-lo, col, distance, (*float32)(scale), width)
	default:
		gatherSumF64((*float64)(dst), dstStride, (*float64)(x), stride, ptr, hi-lo, col, distance, (*float64)(scale), width)
	}
}

func addRows[T Float](dst Rows[T], rows, k int, a Rows[T], scale []T, x Rows[T]) {
	if !hasAVX2 {
		plainAddRows(dst, rows, k, a, scale, x)
		return
	}
	if rows < 1 || k < 1 {
		return
	}
	last := func(m Rows[T]) int { return (rows-1)*m.Stride + k - 1 }
	_, _, _ = dst.Data[last(dst)], a.Data[last(a)], x.Data[last(x)]
	size, step := sizeOf[T](), 0
	if len(scale) > 1 {
		_, step = scale[rows-1], size
	}
	d, b, f, c := pointer(dst.Data, 0), pointer(a.Data, 0), unsafe.Pointer(&scale[0]), pointer(x.Data, 0)
	if size == 4 {
		addRowsF32((*float32)(d), dst.Stride*size, (*float32)(b), a.Stride*size, (*float32)(f), step, (*float32)(c), x.Stride*size, rows, k*size)
	} else {
		addRowsF64((*float64)(d), dst.Stride*size, (*float64)(b), a.Stride*size, (*float64)(f), step, (*float64)(c), x.Stride*size, rows, k*size)
	}
}

// decodeTable is what the decoders look up: see the generator for its words.
type decodeTable struct {
	masks [16]uint32
	terms [4]uint64
}

func decodeFourWidths(dst []uint32, n int, sel, data []byte, widths [4]uint8, bits uint8) {
	if !hasDecodeAVX2 || n < 1 || max(widths[0], widths[1], widths[2], widths[3]) > 31 {
		plainDecodeFourWidths(dst, n, sel, data, widths, bits)
		return
	}
	const eachByte, countUp = 0x0101010101010101, 0x0807060504030201
	var t decodeTable
	for i := range t.masks {
		t.masks[i] = 1<<widths[i%4] - 1
	}
	w0, w1, w2, w3 := uint64(widths[0]), uint64(widths[1]), uint64(widths[2]), uint64(widths[3])
	t.terms = [4]uint64{(w1 - w0) * eachByte, (w2 - w0) * eachByte, (w3 - w2 - w1 + w0) * eachByte, w0 * countUp}
	const spare = 64
	_, _ = dst[n+15], sel[(n+3)/4+spare-1]
	modulus := uint32(1)<<bits - 1
	if hasDecodeAVX512 {
		decodeFourWidthsAVX512(&dst[0], &sel[0], &data[0], (n+15)/16, modulus, &t.masks[0])
	} else {
		decodeFourWidthsAVX2(&dst[0], &sel[0], &data[0], (n+7)/8, modulus, &t.masks[0])
	}
}

func sizeOf[T Float]() int {
	var t T
	return int(unsafe.Sizeof(t))
}

// pointer returns the address of s[at], or of nothing if s ends before.
func pointer[T Float](s []T, at int) unsafe.Pointer {
	return unsafe.Pointer(unsafe.SliceData(s[min(at, len(s)):]))
}
