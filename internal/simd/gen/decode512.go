package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Places in a decoding, in bytes.
const (
	inMasks    = 0   // the four masks, four times
	inPairs    = 64  // the widths of two selectors together, four times
	inBase     = 128 // for lane i, −(16−i)·w0
	inPosition = 192
	inRamp     = 256
	inOffset   = 320
	inMask     = 384
	inValue    = 448
	inUpper    = 512
	inStarts   = 640
	inSkips    = 768
	inDst      = 896 // where dst, sel and data begin, …
	inSel      = 904
	inData     = 912
	inDone     = 920 // … and the groups that have been stored in dst
	inStart    = 928
	inAt       = 936
	inSlot     = 944
	inLeft     = 952
	inGroups   = 960 // that have not
	inModulus  = 968
)

// groups16 is a decoder of sixteen ids at a time while it is written, for
// processors with VBMI2 and VNNI.
//
// The value in lane i of a group begins at the sum of the widths before it:
// the lane keeps the selectors before its own, looks two of them up at a time
// and adds up. The selectors it does not keep count as zeros, which a constant
// takes back. Where groups begin, on which all the rest waits, is found in the
// same way for sixteen of them, a block ahead, and kept in rings of two blocks.
//
// A group goes through three steps, offsets, values and ids; a turn takes one
// group through the last, the next group through the second and the one after
// that through the first. What stands side by side then does not wait for one
// another. Between turns the decoder can be put aside.
type groups16 struct {
	state                                  reg.GPVirtual
	dst, sel, data, at, start, groups      reg.GPVirtual // at: in the rings, of the group whose offsets come next
	before, beforeUpper, selector          reg.VecVirtual
	each, one, sixteen, last               reg.VecVirtual
	double, quarter, half                  reg.VecVirtual
	inFour, afterQuarter, afterHalf        reg.OpmaskVirtual
	masks, pairs, base                     Op // of the decoding, where they are or in registers
	ramp, offset, mask, value              reg.VecVirtual
	nextOffset, nextMask, nextValue, spare reg.VecVirtual
	nextStart                              reg.GPVirtual
}

// field is a place in the decoding.
func (g *groups16) field(at int) Mem { return Mem{Base: g.state, Disp: at} }

// newGroups16 loads what does not change.
func newGroups16(state reg.GPVirtual) *groups16 {
	lanes := func(name string, lane func(i int) uint32) reg.VecVirtual {
		m, z := decodeLanes(name, lane), ZMM()
		VMOVDQU32(m, z)
		return z
	}
	only := func(set uint32) reg.OpmaskVirtual {
		r, k := GP32(), K()
		MOVL(U32(set), r)
		KMOVW(r, k)
		return k
	}
	g := &groups16{
		state: state, dst: GP64(), sel: GP64(), data: GP64(), at: GP64(), start: GP64(), groups: GP64(),
		before:      lanes("Before", func(i int) uint32 { return 1<<(2*i) - 1 }),
		beforeUpper: lanes("BeforeUpper", func(i int) uint32 { return (1<<(2*i) - 1) >> 4 }),
		selector:    lanes("Selector", func(i int) uint32 { return uint32(2 * i) }),
		each:        lanes("Each", func(int) uint32 { return 0x01010101 }),
		one:         lanes("One", func(int) uint32 { return 1 }),
		sixteen:     lanes("Sixteen", func(int) uint32 { return 16 }),
		last:        lanes("Last", func(int) uint32 { return 15 }),
		// Each lane becomes the sum of the lanes up to it: of two by a product with
		// 2³² + 1, then of four, of eight and of all.
		quarter: lanes("Quarter", func(i int) uint32 { return uint32(max(0, i/4*4-1)) }),
		half:    lanes("Half", func(i int) uint32 { return uint32(max(0, i/4*4-5)) }),
		inFour:  only(0xcccc), afterQuarter: only(0xfff0), afterHalf: only(0xff00),
		ramp: ZMM(), offset: ZMM(), mask: ZMM(), value: ZMM(),
		nextOffset: ZMM(), nextMask: ZMM(), nextValue: ZMM(), nextStart: GP64(),
	}
	g.double = g.one
	g.masks, g.pairs, g.base = g.field(inMasks), g.field(inPairs), g.field(inBase)
	return g
}

// decodeLanes holds a number for each lane.
func decodeLanes(name string, lane func(i int) uint32) Mem {
	if m, ok := lanesOf[name]; ok {
		return m
	}
	m := GLOBL("decode"+name, RODATA|NOPTR)
	for i := range 16 {
		DATA(4*i, U32(lane(i)))
	}
	lanesOf[name] = m
	return m
}

var lanesOf = make(map[string]Mem)

func (g *groups16) sumPairs(v reg.VecVirtual) { VPMULLQ(g.double, v, v) }

func (g *groups16) sumRest(v reg.VecVirtual) []func() {
	var t reg.VecVirtual
	add := func() { VPADDD(t, v, v) }
	return []func(){
		func() { t = ZMM(); VPSHUFD_Z(U8(0x50), v, g.inFour, t) }, add,
		func() { t = ZMM(); VPERMD_Z(v, g.quarter, g.afterQuarter, t) }, add,
		func() { t = ZMM(); VPERMD_Z(v, g.half, g.afterHalf, t) }, add,
	}
}

// block finds where the next sixteen groups begin, whose selectors are given.
func (g *groups16) block(from Mem) {
	slot := GP64()
	MOVQ(g.field(inSlot), slot)
	ring := func(at int) Mem { return Mem{Base: g.state, Index: slot, Scale: 1, Disp: at} }
	s, u, total, sum, position, pairs := ZMM(), ZMM(), ZMM(), ZMM(), ZMM(), ZMM()
	VMOVDQU32(from, s)
	VMOVDQU32(g.field(inPosition), position)
	VMOVDQU32(g.field(inPairs), pairs)
	VPSRLD(U8(4), s, u)
	VMOVDQU32(u, ring(inUpper))
	VPERMB(pairs, s, s)
	VPERMB(pairs, u, u)
	VPADDB(u, s, s)
	VPXORD(total, total, total)
	VPDPBUSD(g.each, s, total)
	VMOVDQA32(total, sum)
	g.sumPairs(sum)
	inTurn(g.sumRest(sum))
	VPSUBD(total, position, total)
	VPADDD(total, sum, total)
	VPERMD(sum, g.last, sum)
	VPADDD(sum, position, position)
	VMOVDQU32(position, g.field(inPosition))
	VPANDD_BCST(decodeLanes("Seven", func(int) uint32 { return 7 }), total, sum)
	VMOVDQU32(sum, ring(inSkips))
	VPSRLD(U8(3), total, total)
	VMOVDQU32(total, ring(inStarts))
	XORQ(Imm(64), slot)
	MOVQ(slot, g.field(inSlot))
	SUBQ(Imm(16), g.field(inLeft))
}

// offsets is the first step.
func (g *groups16) offsets() []func() {
	var a, b reg.VecVirtual
	ring := func(at int) Mem { return Mem{Base: g.state, Index: g.at, Scale: 1, Disp: at} }
	return []func(){
		func() { a = ZMM(); VPANDD_BCST(Mem{Base: g.sel}, g.before, a) },
		func() { b = ZMM(); VPANDD_BCST(ring(inUpper), g.beforeUpper, b) },
		func() { VPERMB(g.pairs, a, a) },
		func() { VPERMB(g.pairs, b, b) },
		func() { VPMULTISHIFTQB_BCST(Mem{Base: g.sel}, g.selector, g.nextMask) },
		func() {
			VPBROADCASTD(ring(inSkips), g.nextOffset)
			VPADDD(g.base, g.nextOffset, g.nextOffset)
			MOVL(ring(inStarts), g.nextStart.As32())
		},
		func() { VPADDB(b, a, a); ADDQ(Imm(4), g.sel) },
		func() { VPDPBUSD(g.each, a, g.nextOffset); ADDQ(Imm(4), g.at) },
		func() { VPERMD(g.masks, g.nextMask, g.nextMask); ANDQ(Imm(124), g.at) },
	}
}

// values is the second step.
func (g *groups16) values() []func() {
	var words, first, above reg.VecVirtual
	return []func(){
		func() { first = ZMM(); VPSRLD(U8(5), g.offset, first) },
		func() { above = ZMM(); VPADDD(g.one, first, above) },
		func() { words = ZMM(); VMOVDQU32(Mem{Base: g.data, Index: g.start, Scale: 1}, words) },
		func() { PREFETCHT0(Mem{Base: g.data, Index: g.start, Scale: 1, Disp: readHead}) },
		func() { VPERMD(words, first, g.nextValue) },
		func() { VPERMD(words, above, above) },
		func() { VPSHRDVD(g.offset, above, g.nextValue) },
		func() { VPANDD(g.mask, g.nextValue, g.nextValue) },
		func() { g.sumPairs(g.nextValue) },
	}
}

// ids is the third step.
func (g *groups16) ids() []func() {
	var sum, id reg.VecVirtual
	return append(g.sumRest(g.value),
		func() { sum, id = ZMM(), ZMM(); VPERMD(g.value, g.last, sum); VPADDD(g.ramp, g.value, id) },
		func() { VPADDD(g.sixteen, g.ramp, g.ramp); VPANDD_BCST(g.field(inModulus), id, id) },
		func() { VMOVDQU32(id, Mem{Base: g.dst}); VPADDD(sum, g.ramp, g.ramp); ADDQ(Imm(64), g.dst) },
	)
}

// goOn ends a turn.
func (g *groups16) goOn() {
	VMOVDQA32(g.nextOffset, g.offset)
	VMOVDQA32(g.nextMask, g.mask)
	VMOVDQA32(g.nextValue, g.value)
	MOVQ(g.nextStart, g.start)
}

// turn stores the ids of a group of which there is one. Labels end in mark. What
// else is given is written in between.
func (g *groups16) turn(mark string, between ...[]func()) {
	Comment("At the third group of a block comes the next block.")
	place := GP64()
	MOVQ(g.at, place)
	ANDQ(Imm(60), place)
	CMPQ(place, Imm(8))
	JNE(LabelRef("found" + mark))
	CMPQ(g.field(inLeft), Imm(0))
	JLE(LabelRef("found" + mark))
	g.block(Mem{Base: g.sel, Disp: 56})
	Label("found" + mark)
	Comment("No group comes after the last, whose window need not be there.")
	beginning := GP64()
	XORQ(beginning, beginning)
	CMPQ(g.groups, Imm(1))
	CMOVQEQ(beginning, g.start)
	inTurn(append([][]func(){g.ids(), g.values(), g.offsets()}, between...)...)
	g.goOn()
	DECQ(g.groups)
}

// take continues the decoding where it was put aside.
func (g *groups16) take() {
	MOVQ(g.field(inDone), g.at)
	MOVQ(g.field(inDst), g.dst)
	MOVQ(g.at, g.start)
	SHLQ(U8(6), g.start)
	ADDQ(g.start, g.dst)
	MOVQ(g.field(inSel), g.sel)
	LEAQ(Mem{Base: g.sel, Index: g.at, Scale: 4, Disp: 8}, g.sel)
	MOVQ(g.field(inData), g.data)
	MOVQ(g.field(inStart), g.start)
	MOVQ(g.field(inAt), g.at)
	MOVQ(g.field(inGroups), g.groups)
	VMOVDQU32(g.field(inRamp), g.ramp)
	VMOVDQU32(g.field(inOffset), g.offset)
	VMOVDQU32(g.field(inMask), g.mask)
	VMOVDQU32(g.field(inValue), g.value)
}

// putAside keeps the decoding for later.
func (g *groups16) putAside() {
	Comment("So many groups fewer are left, so many more are done.")
	done := GP64()
	MOVQ(g.field(inGroups), done)
	SUBQ(g.groups, done)
	ADDQ(done, g.field(inDone))
	MOVQ(g.groups, g.field(inGroups))
	MOVQ(g.start, g.field(inStart))
	MOVQ(g.at, g.field(inAt))
	VMOVDQU32(g.ramp, g.field(inRamp))
	VMOVDQU32(g.offset, g.field(inOffset))
	VMOVDQU32(g.mask, g.field(inMask))
	VMOVDQU32(g.value, g.field(inValue))
}

// begin brings the first groups to where the decoding is put aside.
func (g *groups16) begin() {
	MOVQ(g.field(inSel), g.sel)
	VMOVDQU32(decodeLanes("Ramp", func(i int) uint32 { return uint32(i) }), g.ramp)
	g.block(Mem{Base: g.sel})
	XORQ(g.at, g.at)
	inTurn(g.offsets())
	VPXORD(g.nextValue, g.nextValue, g.nextValue)
	g.goOn()
	inTurn(g.values(), g.offsets())
	g.goOn()
}

// decodeAVX512 writes the function that begins or goes on with a decoding, for
// so many groups, no more than are left.
func decodeAVX512() {
	TEXT("decodeGroupsAVX512", NOSPLIT, "func(d *uint64, groups int, rows *byte, stride int)")
	Pragma("noescape")
	g := newGroups16(argument("d"))
	for _, word := range []*Op{&g.masks, &g.pairs, &g.base} {
		z := ZMM()
		VMOVDQU32(*word, z)
		*word = z
	}
	count := argument("groups")
	Comment("The rows of two ids for each group that is done.")
	MOVQ(g.field(inDst), g.dst)
	MOVQ(g.field(inDone), g.at)
	LEAQ(Mem{Base: g.dst, Index: g.at, Scale: 8}, g.dst)
	near := newNear(g.dst)
	g.take()
	CMPQ(g.field(inDone), Imm(0))
	JNE(LabelRef("group"))
	g.begin()
	Label("group")
	g.turn("")
	near.fetch(2)
	DECQ(count)
	JNZ(LabelRef("group"))
	g.putAside()
	VZEROUPPER()
	RET()
}

// inTurn writes the first instructions of all steps, then the second ones and
// so on.
func inTurn(steps ...[]func()) {
	for i := range steps[0] {
		for _, s := range steps {
			if i < len(s) {
				s[i]()
			}
		}
	}
}
