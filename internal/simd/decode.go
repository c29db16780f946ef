package simd

import "encoding/binary"

// DecodeFourWidths stores in dst[:n] the n ids of a four-widths stream.
//
// Value e has a selector, bits 2e and 2e+1 of sel (little endian, four to a
// byte), and takes widths[selector] bits of data, one value directly after the
// other from bit 0 of data[0] on, low bits first. It is the distance to the
// id before:
//
//	d = (id[e] − id[e−1] − 1) mod 2^bits, where id[−1] = 2^bits − 1
//
// Widths and bits are at most 32. The slices must reach further than what is
// decoded: dst to n+16 ids, whose excess receives anything, and sel and data
// to 64 bytes after their last byte in use, whose content does not matter.
func DecodeFourWidths(dst []uint32, n int, sel, data []byte, widths [4]uint8, bits uint8) {
	decodeFourWidths(dst, n, sel, data, widths, bits)
}

// plainDecodeFourWidths is the definition of the code.
func plainDecodeFourWidths(dst []uint32, n int, sel, data []byte, widths [4]uint8, bits uint8) {
	modulus := uint32(1)<<bits - 1
	last, pos := modulus, uint(0)
	for e := range n {
		width := widths[sel[e/4]>>(2*(e%4))&3]
		d := uint32(binary.LittleEndian.Uint64(data[pos>>3:])>>(pos&7)) & (1<<width - 1)
		pos += uint(width)
		last = (last + 1 + d) & modulus
		dst[e] = last
	}
}
