package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The decoder for AVX2 finds the bit offsets of eight values with three products. With
// selector bits lo and hi spread to one byte for each value, the widths are
//
//	w0 + (w1−w0)·lo + (w2−w0)·hi + (w3−w2−w1+w0)·(lo·hi)
//
// and a product with 0x0101010101010101 sums bytes from the lowest up. The
// factors come multiplied with it.
const (
	spread   = 0x0303030303030303
	eachByte = 0x0101010101010101
	table    = "func(dst *uint32, sel *byte, data *byte, groups int, modulus uint32, table *uint32, rows *byte, stride int)"
	readHead = 1024 // how far ahead of the window data is prefetched
)

// Places in the table, in bytes.
const (
	atMasks = 0   // the four masks, four times
	atTerms = 64  // the factors of lo, hi and lo·hi, and w0
	atPairs = 96  // the widths of two selectors together, four times
	atBase  = 160 // for lane i, −(16−i)·w0
)

// decoder holds what the decoder for AVX2 keeps in registers.
type decoder struct {
	dst, sel, data, groups, table reg.GPVirtual
	position                      reg.GPVirtual // in bits
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

// ends returns, in eight bytes, the bit offsets at which the values of eight
// selectors end.
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

// window returns the byte and the bit in it of the current position.
func (d *decoder) window() (at, bit reg.GPVirtual) {
	at, bit = GP64(), GP64()
	MOVQ(d.position, at)
	SHRQ(U8(3), at)
	PREFETCHT0(Mem{Base: d.data, Index: at, Scale: 1, Disp: readHead})
	MOVQ(d.position, bit)
	ANDQ(U8(7), bit)
	return at, bit
}

// twice returns where a symbol holds 0, 2, 4 … in n words: shifts that bring
// each lane its selector.
func twice(n int) Mem {
	m := GLOBL("selectorShifts", RODATA|NOPTR)
	for i := range n {
		DATA(4*i, U32(2*i))
	}
	return m
}

// decodeAVX2 writes the decoder of eight ids at a time.
func decodeAVX2() {
	shifts := twice(8)
	d := newDecoder("decodeFourWidthsAVX2")
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

	near := newNear(d.dst)

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
	near.fetch(1)
	ADDQ(Imm(2), d.sel)
	ADDQ(Imm(32), d.dst)
	DECQ(d.groups)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// decodeAVX512 writes the decoder of sixteen ids at a time, for processors
// with VBMI2 and VNNI.
//
// The value in lane i of a group begins at the sum of the widths before it:
// the lane keeps the selectors before its own, looks two of them up at a time
// and adds up. The selectors it does not keep count as zeros, which a constant
// takes back. Where groups begin, on which all the rest waits, is found in the
// same way for sixteen of them, a block ahead, and kept in rings of two blocks.
//
// A group goes through three steps, offsets, values and ids; a turn of the
// loop takes one group through the last, the next group through the second and
// the one after that through the first. What stands side by side then does not
// wait for one another.
func decodeAVX512() {
	TEXT("decodeFourWidthsAVX512", NOSPLIT, table)
	Pragma("noescape")
	dst, sel, data, groups := argument("dst"), argument("sel"), argument("data"), argument("groups")
	upper, starts, skips := AllocLocal(128), AllocLocal(128), AllocLocal(128)

	lookup := argument("table")
	word := func(at int) reg.VecVirtual {
		z := ZMM()
		VMOVDQU32(Mem{Base: lookup, Disp: at}, z)
		return z
	}
	lanes := func(name string, lane func(i int) uint32) reg.VecVirtual {
		m, z := GLOBL("decode"+name, RODATA|NOPTR), ZMM()
		for i := range 16 {
			DATA(4*i, U32(lane(i)))
		}
		VMOVDQU32(m, z)
		return z
	}
	fill := func(word Op) reg.VecVirtual {
		if _, constant := word.(U32); constant {
			r := GP32()
			MOVL(word, r)
			word = r
		}
		z := ZMM()
		VPBROADCASTD(word, z)
		return z
	}
	only := func(set uint32) reg.OpmaskVirtual {
		r, k := GP32(), K()
		MOVL(U32(set), r)
		KMOVW(r, k)
		return k
	}
	masks, pairs, base := word(atMasks), word(atPairs), word(atBase)
	before := lanes("Before", func(i int) uint32 { return 1<<(2*i) - 1 })
	beforeUpper := lanes("BeforeUpper", func(i int) uint32 { return (1<<(2*i) - 1) >> 4 })
	selector := lanes("Selector", func(i int) uint32 { return uint32(2 * i) })
	ramp := lanes("Ramp", func(i int) uint32 { return uint32(i) })
	each, one, seven, sixteen := fill(U32(0x01010101)), fill(U32(1)), fill(U32(7)), fill(U32(16))
	last, modulus := fill(U32(15)), fill(Load(Param("modulus"), GP32()))
	zero := ZMM()
	VPXORD(zero, zero, zero)

	// Each lane becomes the sum of the lanes up to it: of two by a product with
	// 2³² + 1, then of four, of eight and of all.
	double := lanes("Double", func(int) uint32 { return 1 })
	quarter := lanes("Quarter", func(i int) uint32 { return uint32(max(0, i/4*4-1)) })
	half := lanes("Half", func(i int) uint32 { return uint32(max(0, i/4*4-5)) })
	inFour, afterQuarter, afterHalf := only(0xcccc), only(0xfff0), only(0xff00)
	sumPairs := func(v reg.VecVirtual) { VPMULLQ(double, v, v) }
	var t reg.VecVirtual
	sumRest := func(v reg.VecVirtual) []func() {
		add := func() { VPADDD(t, v, v) }
		return []func(){
			func() { t = ZMM(); VPSHUFD_Z(U8(0x50), v, inFour, t) }, add,
			func() { t = ZMM(); VPERMD_Z(v, quarter, afterQuarter, t) }, add,
			func() { t = ZMM(); VPERMD_Z(v, half, afterHalf, t) }, add,
		}
	}

	position, slot, left := ZMM(), GP64(), GP64() // of the block to come, and groups in none
	VMOVDQA32(zero, position)
	XORQ(slot, slot)
	MOVQ(groups, left)
	block := func(from Mem) {
		s, u, total, sum := ZMM(), ZMM(), ZMM(), ZMM()
		VMOVDQU32(from, s)
		VPSRLD(U8(4), s, u)
		VMOVDQU32(u, upper.Idx(slot, 1))
		VPERMB(pairs, s, s)
		VPERMB(pairs, u, u)
		VPADDB(u, s, s)
		VMOVDQA32(zero, total)
		VPDPBUSD(each, s, total)
		VMOVDQA32(total, sum)
		sumPairs(sum)
		inTurn(sumRest(sum))
		VPSUBD(total, position, total)
		VPADDD(total, sum, total)
		VPERMD(sum, last, sum)
		VPADDD(sum, position, position)
		VPANDD(seven, total, sum)
		VMOVDQU32(sum, skips.Idx(slot, 1))
		VPSRLD(U8(3), total, total)
		VMOVDQU32(total, starts.Idx(slot, 1))
		XORQ(Imm(64), slot)
		SUBQ(Imm(16), left)
	}

	at := GP64() // in the rings, of the group whose offsets come next
	offset, mask, value, start := ZMM(), ZMM(), ZMM(), GP64()
	nextOffset, nextMask, nextValue, nextStart := ZMM(), ZMM(), ZMM(), GP64()
	var a, b reg.VecVirtual
	offsets := []func(){
		func() { a = ZMM(); VPANDD_BCST(Mem{Base: sel}, before, a) },
		func() { b = ZMM(); VPANDD_BCST(upper.Idx(at, 1), beforeUpper, b) },
		func() { VPERMB(pairs, a, a) },
		func() { VPERMB(pairs, b, b) },
		func() { VPMULTISHIFTQB_BCST(Mem{Base: sel}, selector, nextMask) },
		func() { VPADDD_BCST(skips.Idx(at, 1), base, nextOffset); MOVL(starts.Idx(at, 1), nextStart.As32()) },
		func() { VPADDB(b, a, a); ADDQ(Imm(4), sel) },
		func() { VPDPBUSD(each, a, nextOffset); ADDQ(Imm(4), at) },
		func() { VPERMD(masks, nextMask, nextMask); ANDQ(Imm(124), at) },
	}
	var words, first, above reg.VecVirtual
	values := []func(){
		func() { first = ZMM(); VPSRLD(U8(5), offset, first) },
		func() { above = ZMM(); VPADDD(one, first, above) },
		func() { words = ZMM(); VMOVDQU32(Mem{Base: data, Index: start, Scale: 1}, words) },
		func() { PREFETCHT0(Mem{Base: data, Index: start, Scale: 1, Disp: readHead}) },
		func() { VPERMD(words, first, nextValue) },
		func() { VPERMD(words, above, above) },
		func() { VPSHRDVD(offset, above, nextValue) },
		func() { VPANDD(mask, nextValue, nextValue) },
		func() { sumPairs(nextValue) },
	}
	var sum, id reg.VecVirtual
	ids := append(sumRest(value),
		func() { sum, id = ZMM(), ZMM(); VPERMD(value, last, sum); VPADDD(ramp, value, id) },
		func() { VPADDD(sixteen, ramp, ramp); VPANDD(modulus, id, id) },
		func() { VMOVDQU32(id, Mem{Base: dst}); VPADDD(sum, ramp, ramp); ADDQ(Imm(64), dst) },
	)
	goOn := func() {
		VMOVDQA32(nextOffset, offset)
		VMOVDQA32(nextMask, mask)
		VMOVDQA32(nextValue, value)
		MOVQ(nextStart, start)
	}
	near := newNear(dst)
	block(Mem{Base: sel})
	XORQ(at, at)
	beginning := GP64()
	XORQ(beginning, beginning)
	inTurn(offsets)
	VMOVDQA32(zero, nextValue)
	goOn()
	inTurn(values, offsets)
	goOn()
	Label("group")
	Comment("At the third group of a block comes the next block.")
	place := GP64()
	MOVQ(at, place)
	ANDQ(Imm(60), place)
	CMPQ(place, Imm(8))
	JNE(LabelRef("found"))
	CMPQ(left, Imm(0))
	JLE(LabelRef("found"))
	block(Mem{Base: sel, Disp: 56})
	Label("found")
	Comment("No group comes after the last, whose window need not be there.")
	CMPQ(groups, Imm(1))
	CMOVQEQ(beginning, start)
	inTurn(ids, values, offsets)
	near.fetch(2)
	goOn()
	DECQ(groups)
	JNZ(LabelRef("group"))
	VZEROUPPER()
	RET()
}

// inTurn writes the first instructions of all steps, then the second ones and
// so on.
func inTurn(steps ...[]func()) {
	for i := range steps[0] {
		for _, s := range steps {
			s[i]()
		}
	}
}

// near prefetches rows that ids name.
type near struct{ ids, rows, stride reg.GPVirtual }

// newNear returns what begins with the first id in dst.
func newNear(dst reg.GPVirtual) near {
	n := near{ids: GP64(), rows: argument("rows"), stride: argument("stride")}
	MOVQ(dst, n.ids)
	return n
}

// fetch writes the prefetches of the rows of so many ids.
func (n near) fetch(ids int) {
	for i := range ids {
		row := GP64()
		MOVL(Mem{Base: n.ids, Disp: 4 * i}, row.As32())
		IMULQ(n.stride, row)
		PREFETCHT1(Mem{Base: n.rows, Index: row, Scale: 1})
	}
	ADDQ(Imm(uint64(4*ids)), n.ids)
}
