package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

const packLanes = 16 // numbers of a group

// pack emits the assembly of Pack for n > 0 numbers of at most 28 bits, in whole groups. form[l] gives, for numbers of
// l bits, the width in its lowest byte and the selector in the next byte. Vectors combine two numbers, which are then
// added to the stream as one number.
func pack() {
	TEXT("packAVX512", NOSPLIT, "func(sel *byte, data *byte, delta *uint32, n int, form *uint32) (word uint64, used uint64, at int)")
	Pragma("noescape")
	sel, data, delta, n, form := argument("sel"), argument("data"), argument("delta"), argument("n"), argument("form")
	short, long, most := ZMM(), ZMM(), ZMM()
	VMOVDQU32(Mem{Base: form}, short)
	VMOVDQU32(Mem{Base: form, Disp: 64}, long)
	broadcast := func(v uint32) Op {
		r, z := GP32(), ZMM()
		MOVL(U32(v), r)
		VPBROADCASTD(r, z)
		return z
	}
	VMOVDQA32(broadcast(32), most)
	width, low, high := broadcast(0xff), broadcast(1<<8), broadcast(1<<9)
	first, even, odd := ZMM(), GP64(), GP64()
	VPTERNLOGD(U8(0xff), first, first, first)
	VPSRLQ(U8(32), first, first)
	MOVQ(U32(0x55555555), even)
	MOVQ(even, odd)
	SHLQ(Imm(1), odd)
	pairs, widths := AllocLocal(64), AllocLocal(64)
	word, used, at, begin := GP64(), GP64(), GP64(), GP64()
	MOVQ(data, begin)
	XORQ(word, word)
	XORQ(used, used)
	Label("loop")
	x, length, chosen, upper := ZMM(), ZMM(), ZMM(), ZMM()
	VMOVDQU32(Mem{Base: delta}, x)
	VPLZCNTD(x, length)
	VPSUBD(length, most, chosen)
	VPERMI2D(long, short, chosen)
	Comment("The selectors of sixteen, two bits each.")
	lows, highs, a, b := K(), K(), GP64(), GP64()
	VPTESTMD(low, chosen, lows)
	VPTESTMD(high, chosen, highs)
	KMOVW(lows, a.As32())
	KMOVW(highs, b.As32())
	PDEPQ(even, a, a)
	PDEPQ(odd, b, b)
	ORQ(a, b)
	MOVL(b.As32(), Mem{Base: sel})
	Comment("Two numbers together, and how many bits they have.")
	VPANDD(width, chosen, chosen)
	VPSRLQ(U8(32), x, upper)
	VPANDQ(first, chosen, length)
	VPSLLVQ(length, upper, upper)
	VPANDQ(first, x, x)
	VPORQ(upper, x, x)
	VPSRLQ(U8(32), chosen, chosen)
	VPADDQ(length, chosen, chosen)
	VMOVDQU64(x, pairs)
	VMOVDQU64(chosen, widths)
	for k := range packLanes / 2 {
		t, bytes, whole := GP64(), GP64(), GP64()
		MOVQ(pairs.Offset(8*k), t)
		SHLXQ(used, t, t)
		ORQ(t, word)
		MOVQ(word, Mem{Base: data})
		ADDQ(widths.Offset(8*k), used)
		MOVQ(used, bytes)
		SHRQ(Imm(3), bytes)
		ADDQ(bytes, data)
		MOVQ(used, whole)
		ANDQ(Imm(56), whole)
		SHRXQ(whole, word, word)
		ANDQ(Imm(7), used)
	}
	ADDQ(Imm(4), sel)
	ADDQ(Imm(4*packLanes), delta)
	SUBQ(Imm(packLanes), n)
	JG(LabelRef("loop"))
	VZEROUPPER()
	MOVQ(data, at)
	SUBQ(begin, at)
	Store(word, ReturnIndex(0))
	Store(used, ReturnIndex(1))
	Store(at, ReturnIndex(2))
	RET()
}
