//go:build amd64 && !noasm

package simd

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// Features of the processor, read once. Tests set them to false.
var (
	hasAVX2   = cpu.X86.HasAVX2
	hasAVX512 = hasAVX2 && cpu.X86.HasAVX512F // all AVX-512 loops need both
	// The decoders spread selectors with PDEP.
	hasDecodeAVX2   = hasAVX2 && cpu.X86.HasBMI2
	hasDecodeAVX512 = hasDecodeAVX2 && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512BW &&
		cpu.X86.HasAVX512VBMI2 && cpu.X86.HasAVX512VBMI && cpu.X86.HasAVX512VNNI
	hasHashesAVX512    = hasAVX512 && cpu.X86.HasAVX512DQ && cpu.X86.HasBMI2
	hasDistancesAVX512 = hasAVX512 && cpu.X86.HasAVX512CD && cpu.X86.HasAVX512BW &&
		cpu.X86.HasPOPCNT
	hasChecksumAVX512 = hasAVX512 && cpu.X86.HasAVX512VPCLMULQDQ &&
		cpu.X86.HasSSE42
)

const registerBytes = 32

// addRows is AddRows by AVX2. It first reads the last elements, so that it panics on a slice that is too short before
// the assembly writes past it.
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
	size := sizeOf[T]()
	step := 0
	if len(scale) > 1 {
		_, step = scale[rows-1], size
	}
	d := pointer(dst.Data, 0)
	b := pointer(a.Data, 0)
	f := unsafe.Pointer(&scale[0])
	c := pointer(x.Data, 0)
	if size == 4 {
		addRowsF32((*float32)(d), dst.Stride*size, (*float32)(b), a.Stride*size,
			(*float32)(f), step, (*float32)(c), x.Stride*size, rows, k*size)
	} else {
		addRowsF64((*float64)(d), dst.Stride*size, (*float64)(b), a.Stride*size,
			(*float64)(f), step, (*float64)(c), x.Stride*size, rows, k*size)
	}
}

func sizeOf[T Float]() int {
	var t T
	return int(unsafe.Sizeof(t))
}

// pointer returns the address of s[index]. If s has no such element, the address must not be used.
func pointer[T Float](s []T, index int) unsafe.Pointer {
	return unsafe.Pointer(unsafe.SliceData(s[min(index, len(s)):]))
}

func scaleTo[T Float](dst []T, alpha float64, x []float64) {
	n := len(dst) / scaleLanes * scaleLanes
	if !hasAVX2 || n == 0 {
		plainScaleTo(dst, alpha, x)
		return
	}
	_ = x[len(dst)-1]
	if d := unsafe.Pointer(&dst[0]); sizeOf[T]() == 4 {
		scaleToF32AVX2((*float32)(d), alpha, &x[0], n)
	} else {
		scaleToF64AVX2((*float64)(d), alpha, &x[0], n)
	}
	plainScaleTo(dst[n:], alpha, x[n:])
}

const scaleLanes = 4

const checksumBytes = 256

// Checksum returns the CRC-32C of some bytes followed by data. sum must be the CRC-32C of these bytes, or 0 if there
// are none.
func Checksum(sum uint32, data []byte) uint32 {
	n := len(data) / checksumBytes * checksumBytes
	if !hasChecksumAVX512 || n == 0 {
		return plainChecksum(sum, data)
	}
	return plainChecksum(^checksumAVX512(^sum, &data[0], n), data[n:])
}

// leastHashes is the smallest number of ids for which a call of the assembly saves time.
const leastHashes = 4

// HashPairs returns the sum, modulo 2⁶⁴, of [PairHash] of the pairs number | id<<shift with the value 1. The hash of a
// pair x of two 32-bit numbers is
//
//	x ← (x ⊕ x≫32)·c,  x ← (x ⊕ x≫29 ⊕ bits of 1.0)·d,  x ⊕ x≫32
func HashPairs(number uint64, shift uint, ids []uint32) uint64 {
	if !hasHashesAVX512 || len(ids) < leastHashes {
		return plainHashPairs(number, shift, ids)
	}
	return hashPairsAVX512(number, uint64(shift), &ids[0], len(ids), oneBits,
		firstFactor, secondFactor)
}

const distanceGroup = 64

// distances computes whole groups by AVX-512. Plain Go computes the first distance, which depends on last, and the
// distances after the last group.
func distances(delta, id []uint32, last uint32, b uint, lengths *[32]int) {
	if n := (len(id) - 1) / distanceGroup * distanceGroup; hasDistancesAVX512 && n > 0 {
		plainDistances(delta, id[:1], last, b, lengths)
		distancesAVX512(&delta[1], &id[1], n, 1<<(b&31)-1, int(b), &lengths[0])
		delta, id, last = delta[n+1:], id[n+1:], id[n]
	}
	plainDistances(delta, id, last, b, lengths)
}

const lineLanes = 8

func cells(cell, row []uint32, head uint32, shift uint) (odd bool) {
	if n := len(row) / lineLanes * lineLanes; hasAVX2 && n > 0 {
		odd = cellsAVX2(&cell[0], &row[0], n, head, uint64(shift)) != 0
		cell = cell[n:]
		row = row[n:]
	}
	return plainCells(cell, row, head, shift) || odd
}

func entries[K uint32 | uint64](entry []K, line []uint32, column uint) {
	if narrow, ok := any(entry).([]uint32); ok && hasAVX2 && len(line) >= lineLanes {
		n := len(line) / lineLanes * lineLanes
		entriesAVX2(&narrow[0], &line[0], n, uint64(column))
		entry = entry[n:]
		line = line[n:]
	}
	plainEntries(entry, line, column)
}

const (
	numbersBytes = 64
	numbersCodes = 8
)

// Numbers reads lines at the beginning of text and stores the codes of their numbers in code. A line must have two
// numbers of one to eight digits without leading zeros. Numbers returns the number of bytes read and the number of
// codes. It stops before a line of another form. It also stops if fewer than 64 bytes of text or 8 codes of code are
// left. The caller must parse the rest.
//
// It assumes POPCNT and BMI1, because every processor with the features that the decoder requires has them.
func Numbers(code []uint32, text []byte, l NumberLines) (read, n int) {
	if !hasDecodeAVX512 || len(text) < numbersBytes || len(code) < numbersCodes {
		return 0, 0
	}
	return numbersAVX512(&code[0], len(code), &text[0], len(text), uint64(l.Sep),
		l.Base, l.Limit, l.Least)
}

const packGroup = 16

// pack is Pack. If two numbers of the widest width fit into a word, it packs whole groups by AVX-512. Plain Go packs
// the other numbers, after the bits of the last group.
func pack(sel, data []byte, delta []uint32, widths *[32]Width, widest uint32) {
	n := len(delta) / packGroup * packGroup
	if !hasDistancesAVX512 || !hasDecodeAVX512 || widest > pairBits || n == 0 {
		plainPack(packing{}, sel, data, delta, widths, widest)
		return
	}
	var form [32]uint32
	for length, w := range widths {
		form[length] = w.Bits | w.Selector<<8
	}
	_ = sel[n/4-1]
	word, used, position := packAVX512(&sel[0], &data[0], &delta[0], n, &form[0])
	plainPack(packing{word, uint32(used), position}, sel[n/4:], data, delta[n:],
		widths, widest)
}
