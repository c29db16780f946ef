package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The decoder for AVX2 computes the bit offsets of eight values by three products. The selector bits lo and hi are spread to
// one byte for each value. The widths are
//
//	w0 + (w1−w0)·lo + (w2−w0)·hi + (w3−w2−w1+w0)·(lo·hi)
//
// and a product with 0x0101010101010101 adds up bytes from the lowest up. The factors are already multiplied by this number.
const (
	spread   = 0x0303030303030303
	eachByte = 0x0101010101010101
	table    = "func(dst *uint32, sel *byte, data *byte, groups int, modulus uint32, table *uint32)"
	readHead = 1024 // how far ahead of the window data is prefetched
)

// Offsets in the table of the AVX2 decoder, in bytes.
const (
	atMasks = 0  // the four masks, twice
	atTerms = 32 // the factors of lo, hi and lo·hi, and w0, each times eachByte
)

// decoder has the registers of the AVX2 decoder.
type decoder struct {
	dst, sel, data, groups, table reg.GPVirtual
	position                      reg.GPVirtual // bit position
	spread, eachByte              reg.GPVirtual
}

func newDecoder(name string) decoder {
	TEXT(name, NOSPLIT, table)
	Pragma("noescape")
	d := decoder{
		dst: argument("dst"), sel: argument("sel"), data: argument("data"),
		groups: argument("groups"), table: argument("table"),
		position: GP64(), spread: GP64(), eachByte: GP64(),
	}
	MOVQ(U64(spread), d.spread)
	MOVQ(U64(eachByte), d.eachByte)
	XORQ(d.position, d.position)
	return d
}

// ends returns the bit offsets, one in each byte, at which the values of eight selectors end.
func (d *decoder) ends(selectors reg.GPVirtual) reg.GPVirtual {
	lo, hi, all := GP64(), GP64(), GP64()
	PDEPQ(d.spread, selectors, lo)
	MOVQ(lo, hi)
	SHRQ(U8(1), hi)
	ANDQ(d.eachByte, lo)
	ANDQ(d.eachByte, hi)
	MOVQ(lo, all)
	ANDQ(hi, all)
	IMULQ(Mem{Base: d.table, Disp: atTerms}, lo)
	IMULQ(Mem{Base: d.table, Disp: atTerms + 8}, hi)
	IMULQ(Mem{Base: d.table, Disp: atTerms + 16}, all)
	ADDQ(hi, lo)
	ADDQ(Mem{Base: d.table, Disp: atTerms + 24}, all)
	ADDQ(all, lo)
	return lo
}

// window returns the index of the byte of data at the current position, and the bit in this byte.
func (d *decoder) window() (at, bit reg.GPVirtual) {
	at, bit = GP64(), GP64()
	MOVQ(d.position, at)
	SHRQ(U8(3), at)
	PREFETCHT0(Mem{Base: d.data, Index: at, Scale: 1, Disp: readHead})
	MOVQ(d.position, bit)
	ANDQ(U8(7), bit)
	return at, bit
}

// twice returns the memory of n words 0, 2, 4 …: the shift that brings the selector of a lane to its lowest bits.
func twice(n int) Mem {
	m := GLOBL("selectorShifts", RODATA|NOPTR)
	for i := range n {
		DATA(4*i, U32(2*i))
	}
	return m
}

func decodeAVX2() {
	shifts := twice(8)
	d := newDecoder("decodeAVX2")
	fill := func(word Op) reg.VecVirtual {
		x, y := XMM(), YMM()
		if _, constant := word.(U32); constant {
			r := GP32()
			MOVL(word, r)
			word = r
		}
		VMOVD(word, x)
		VPBROADCASTD(x, y)
		return y
	}
	one, top, low, full := fill(U32(1)), fill(U32(7)), fill(U32(31)), fill(U32(32))
	modulus := fill(Load(Param("modulus"), GP32()))
	carry, masks, shift := YMM(), YMM(), YMM()
	VPXOR(carry, carry, carry)
	VPSUBD(one, carry, carry)
	VMOVDQU(Mem{Base: d.table}, masks)
	VMOVDQU(shifts, shift)

	Label("loop")
	selector, mask := YMM(), YMM()
	VPBROADCASTW(Mem{Base: d.sel}, selector)
	VPSRLVD(shift, selector, selector)
	VPERMD(masks, selector, mask)
	sel := GP64()
	MOVWQZX(Mem{Base: d.sel}, sel)
	offset := d.ends(sel)
	total := GP64()
	MOVQ(offset, total)
	SHRQ(U8(56), total)
	SHLQ(U8(8), offset)
	at, bit := d.window()
	ADDQ(total, d.position)
	IMULQ(d.eachByte, bit)
	ADDQ(bit, offset)
	x, bits := XMM(), YMM()
	VMOVQ(offset, x)
	VPMOVZXBD(x, bits)

	Comment("The two words around each value, shifted together.")
	words, first, second, value, above := YMM(), YMM(), YMM(), YMM(), YMM()
	VMOVDQU(Mem{Base: d.data, Index: at, Scale: 1}, words)
	VPSRLD(U8(5), bits, first)
	VPADDD(one, first, second)
	VPERMD(words, first, value)
	VPERMD(words, second, above)
	VPAND(low, bits, bits)
	VPSRLVD(bits, value, value)
	VPSUBD(bits, full, bits)
	VPSLLVD(bits, above, above)
	VPOR(above, value, value)
	VPAND(mask, value, value)

	Comment("Sums of distances.")
	VPADDD(one, value, value)
	t := YMM()
	VPSLLDQ(U8(4), value, t)
	VPADDD(t, value, value)
	t = YMM()
	VPSLLDQ(U8(8), value, t)
	VPADDD(t, value, value)
	t = YMM()
	VPSHUFD(U8(0xff), value, t)
	VPERM2I128(U8(0x08), t, t, t)
	VPADDD(t, value, value)
	sum, id := YMM(), YMM()
	VPERMD(value, top, sum)
	VPADDD(carry, value, id)
	VPAND(modulus, id, id)
	VMOVDQU(id, Mem{Base: d.dst})
	VPADDD(sum, carry, carry)
	ADDQ(Imm(2), d.sel)
	ADDQ(Imm(32), d.dst)
	DECQ(d.groups)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}
