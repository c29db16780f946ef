package simd

import (
	"encoding/binary"
	"math/bits"
)

// Width is the number of bits in which a number is stored, and the selector of this width.
type Width struct{ Selector, Bits uint32 }

// pairBits is the largest width of which two numbers fit into 64 bits if the first number begins within a byte.
const pairBits = 28

// Pack stores the numbers of delta, which must be below 2³¹, in data without gaps, and their selectors in sel, two bits
// each. A number of l bits takes the width widths[l], which must have at least l bits and a selector below 4. The
// selectors of the last group of sixteen use four bytes, even if the group is not full. data must have eight bytes more
// than the numbers need. Unused bits of the last byte are zero.
func Pack(sel, data []byte, delta []uint32, widths *[32]Width) {
	var widest uint32
	for _, w := range widths {
		widest = max(widest, w.Bits)
	}
	pack(sel, data, delta, widths, widest)
}

// packing is the state of a stream of bits. The lowest used bits of word are not written yet; they go to
// data[position:].
type packing struct {
	word     uint64
	used     uint32
	position int
}

func plainPack(p packing, sel, data []byte, delta []uint32, widths *[32]Width,
	widest uint32) {
	word := p.word
	used := p.used
	position := p.position
	// The loop has no branch: the next step writes an incomplete byte again.
	for ; len(delta) >= 16 && widest <= pairBits; delta = delta[16:] {
		group := uint32(0)
		batch := (*[16]uint32)(delta)
		for k := 0; k < 16; k += 2 {
			c := widths[bits.Len32(batch[k])%32]
			d := widths[bits.Len32(batch[k+1])%32]
			group |= (c.Selector | d.Selector<<2) << (2 * k & 31)
			word |= (uint64(batch[k]) | uint64(batch[k+1])<<(c.Bits&63)) << (used & 63)
			used += c.Bits + d.Bits
			binary.LittleEndian.PutUint64(data[position:], word)
			position += int(used >> 3)
			word >>= used & 56
			used &= 7
		}
		binary.LittleEndian.PutUint32(sel, group)
		sel = sel[4:]
	}
	for len(delta) > 0 {
		batch := delta[:min(16, len(delta))]
		delta = delta[len(batch):]
		group := uint32(0)
		for k, d := range batch {
			c := widths[bits.Len32(d)%32]
			group |= c.Selector << (2 * k & 31)
			word |= uint64(d) << (used & 63)
			used += c.Bits
			binary.LittleEndian.PutUint64(data[position:], word)
			position += int(used >> 3)
			word >>= used & 56
			used &= 7
		}
		binary.LittleEndian.PutUint32(sel, group)
		sel = sel[4:]
	}
}
