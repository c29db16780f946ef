package simd

import "encoding/binary"

// Decode stores in dst[:n] the n ids of a four-widths stream.
//
// Value e has a selector, bits 2e and 2e+1 of sel (little endian, four to a
// byte), and takes widths[selector] bits of data, one value directly after the
// other from bit 0 of data[0] on, low bits first. It is the distance to the
// id before:
//
//	d = (id[e] − id[e−1] − 1) mod 2^bits, where id[−1] = 2^bits − 1
//
// Widths and bits are at most 32. The slices must be longer than the decoded values, because
// the loops read and write whole registers: dst has n+16 ids, the last 16 of which receive
// arbitrary values, and sel and data have 68 readable bytes after their last byte in use.
func Decode(dst []uint32, n int, sel, data []byte, widths [4]uint8, bits uint8) {
	decode(dst, n, sel, data, widths, bits)
}

// plainDecode decodes the four ids of a selector byte at a time.
func plainDecode(dst []uint32, n int, sel, data []byte, widths [4]uint8,
	bits uint8) {
	modulus := uint32(1)<<bits - 1
	var width [4]uint
	var mask [4]uint32
	for s, w := range widths {
		width[s] = uint(w)
		mask[s] = 1<<w - 1
	}
	window := func(pos uint) uint32 { return uint32(binary.LittleEndian.Uint64(data[pos>>3:]) >> (pos & 7)) }
	last := modulus
	pos := uint(0)
	for e := 0; e < n; e += 4 {
		s := sel[e/4]
		s0 := s & 3
		s1 := s >> 2 & 3
		s2 := s >> 4 & 3
		s3 := s >> 6
		id0 := last + 1 + window(pos)&mask[s0]
		pos += width[s0]
		id1 := id0 + 1 + window(pos)&mask[s1]
		pos += width[s1]
		id2 := id1 + 1 + window(pos)&mask[s2]
		pos += width[s2]
		id3 := id2 + 1 + window(pos)&mask[s3]
		pos += width[s3]
		ids := (*[4]uint32)(dst[e:])
		ids[0] = id0 & modulus
		ids[1] = id1 & modulus
		ids[2] = id2 & modulus
		ids[3] = id3 & modulus
		last = id3
	}
}
