//go:build amd64 && !noasm

package simd

import "unsafe"

// wideDecoding is the argument of the AVX-512 decoder; the generator documents its fields.
type wideDecoding struct {
	masks           [16]uint32
	pairs, triples  [64]uint8
	base, position  [16]uint32
	quads           [32]uint32
	starts, skips   [32]uint32
	spread          [32]uint64
	dst             *uint32
	sel, data       *byte
	slot, left      int
	groups, modulus int
}

const (
	groupIDs   = 16
	spareBytes = 68
)

// Decode stores in dst[:n] the n ids of a four-widths stream.
//
// Value e has a selector, the bits 2e and 2e+1 of sel (little endian, four selectors in a byte). The value takes
// widths[selector] bits of data. Values follow each other without gaps from bit 0 of data[0] on, low bits first. A
// value is the distance to the previous id:
//
//	d = (id[e] − id[e−1] − 1) mod 2^bits, where id[−1] = 2^bits − 1
//
// Widths and bits are at most 32. The loops read and write whole registers: dst must have n+16 ids, of which the last
// 16 receive arbitrary values, and sel and data must have 68 readable bytes after their last byte in use.
func Decode(dst []uint32, n int, sel, data []byte, widths [4]uint8, bits uint8) {
	if !hasDecodeAVX2 || n < 1 ||
		max(widths[0], widths[1], widths[2], widths[3]) > 31 {
		plainDecode(dst, n, sel, data, widths, bits)
		return
	}
	_, _ = dst[n+groupIDs-1], sel[(n+3)/4+spareBytes-1]
	if !hasDecodeAVX512 {
		decodeEights(dst, n, sel, data, widths, bits)
		return
	}
	var w wideDecoding
	for i := range w.masks {
		w.masks[i] = 1<<widths[i%4] - 1
		w.base[i] = uint32(max(0, i%4-1)) * uint32(widths[0])
	}
	for i := range w.pairs {
		w.pairs[i] = widths[i%4] + widths[i/4%4]
		w.triples[i] = w.pairs[i] + widths[i/16]
	}
	w.dst = &dst[0]
	w.sel = &sel[0]
	w.data = &data[0]
	w.groups = (n + groupIDs - 1) / groupIDs
	w.left = w.groups
	w.modulus = 1<<bits - 1
	decodeAVX512((*uint64)(unsafe.Pointer(&w)))
}

func decodeEights(dst []uint32, n int, sel, data []byte, widths [4]uint8,
	bits uint8) {
	const eachByte, countUp = 0x0101010101010101, 0x0807060504030201
	var t struct { // the generator documents its fields
		masks [8]uint32
		terms [4]uint64
	}
	for i := range t.masks {
		t.masks[i] = 1<<widths[i%4] - 1
	}
	w0 := uint64(widths[0])
	w1 := uint64(widths[1])
	w2 := uint64(widths[2])
	w3 := uint64(widths[3])
	t.terms = [4]uint64{(w1 - w0) * eachByte, (w2 - w0) * eachByte,
		(w3 - w2 - w1 + w0) * eachByte, w0 * countUp}
	decodeAVX2(&dst[0], &sel[0], &data[0], (n+7)/8, uint32(1)<<bits-1, &t.masks[0])
}
