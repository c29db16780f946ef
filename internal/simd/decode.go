package simd

import "encoding/binary"

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
