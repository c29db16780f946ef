package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Offsets in a wideDecoding of package simd, in bytes.
const (
	inMasks    = 0   // the four masks, four times
	inPairs    = 64  // the widths of two selectors together, four times
	inTriples  = 128 // the widths of three selectors together
	inBase     = 192 // max(0, i%4 − 1)·w0 for lane i
	inPosition = 256
	inQuads    = 320
	inStarts   = 448
	inSkips    = 576
	inSpread   = 704
	inDst      = 960 // beginnings of dst, sel and data
	inSel      = 968
	inData     = 976
	inSlot     = 984
	inLeft     = 992  // groups whose place is not known yet
	inGroups   = 1000 // number of groups of sixteen ids
	inModulus  = 1008
)

// groups16 emits the AVX-512 decoder, which decodes groups of sixteen ids, for processors with VBMI2 and VNNI.
//
// The value in lane i of a group begins at the end of its four values less the widths from the value itself to the last
// of the four. In every fourth lane it begins where the four values begin. The widths of each four and the beginnings
// of groups are computed for a block of sixteen groups at once, a block ahead, because everything else waits for them.
// They are kept in rings of two blocks, and so are the selectors, spread to 16 bits for each four. Shifted to a lane,
// the selectors select the mask of the lane and the sum of the widths up to the last of the four. Missing selectors
// count as zeros, for which a constant corrects.
//
// A group takes three steps: offsets, values and ids. A turn does the last step of one group, the second step of the
// next group and the first step of the group after that, so that adjacent instructions do not wait for one another.
type groups16 struct {
	state                             reg.GPVirtual
	dst, sel, data, at, start, groups reg.GPVirtual // at is the place in the rings of the group whose offsets come next
	selector                          reg.VecVirtual
	quadsBefore, ownQuad              reg.VecVirtual
	last, quarter, half               reg.VecVirtual
	inFour, afterQuarter, afterHalf   reg.OpmaskVirtual
	masks, triples, base              reg.VecVirtual // vectors of the decoding
	previous, offset, mask, value     reg.VecVirtual
	nextOffset, nextMask, nextValue   reg.VecVirtual
	nextStart                         reg.GPVirtual
}

func (g *groups16) field(at int) Mem { return Mem{Base: g.state, Disp: at} }

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
		// The bits of the spread selectors from the lane's own selector to the last of the four, followed by zeros.
		selector: lanes("Selector", func(i int) uint32 { return uint32(0x08080800 | 16*(i/4) + 2*(i%4)) }),
		// The number of times that each four counts, and the widths from the lane's own width on.
		quadsBefore: lanes("QuadsBefore", func(i int) uint32 { return uint32(0x01010101 & (1<<(8*((i+3)/4)) - 1)) }),
		ownQuad:     lanes("OwnQuad", func(i int) uint32 { return uint32(0xff * min(1, i%4)) }),
		last:        lanes("Last", func(int) uint32 { return 15 }),
		// Each lane becomes the sum of all lanes up to it: first of two lanes, then of four, of eight and of all.
		quarter: lanes("Quarter", func(i int) uint32 { return uint32(max(0, i/4*4-1)) }),
		half:    lanes("Half", func(i int) uint32 { return uint32(max(0, i/4*4-5)) }),
		inFour:  only(0xcccc), afterQuarter: only(0xfff0), afterHalf: only(0xff00),
		previous: ZMM(), offset: ZMM(), mask: ZMM(), value: ZMM(),
		nextOffset: ZMM(), nextMask: ZMM(), nextValue: ZMM(), nextStart: GP64(),
	}
	for _, word := range []struct {
		at int
		to *reg.VecVirtual
	}{{inMasks, &g.masks}, {inTriples, &g.triples}, {inBase, &g.base}} {
		*word.to = ZMM()
		VMOVDQU32(g.field(word.at), *word.to)
	}
	return g
}

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

// sumPairs emits the addition of the first lane of each pair of lanes to the second. sumRest then completes the running
// sums.
func (g *groups16) sumPairs(v reg.VecVirtual) []func() {
	t := ZMM()
	return []func(){
		func() { VPSLLQ(U8(32), v, t) },
		func() { VPADDD(t, v, v) },
	}
}

func (g *groups16) sumRest(v reg.VecVirtual) []func() {
	var t reg.VecVirtual
	add := func() { VPADDD(t, v, v) }
	return []func(){
		func() { t = ZMM(); VPSHUFD_Z(U8(0x50), v, g.inFour, t) }, add,
		func() { t = ZMM(); VPERMD_Z(v, g.quarter, g.afterQuarter, t) }, add,
		func() { t = ZMM(); VPERMD_Z(v, g.half, g.afterHalf, t) }, add,
	}
}

// block emits the computation of the sums and beginnings for the next sixteen groups, whose selectors are at from.
func (g *groups16) block(from Mem) {
	slot := GP64()
	MOVQ(g.field(inSlot), slot)
	ring := func(at int) Mem { return Mem{Base: g.state, Index: slot, Scale: 1, Disp: at} }
	s, u, total, sum, position, pairs := ZMM(), ZMM(), ZMM(), ZMM(), ZMM(), ZMM()
	for half := range 2 {
		spread := ZMM()
		VPMOVZXBW(from.Offset(32*half), spread)
		VMOVDQU32(spread, Mem{Base: g.state, Index: slot, Scale: 2, Disp: inSpread + 64*half})
	}
	VMOVDQU32(from, s)
	VMOVDQU32(g.field(inPosition), position)
	VMOVDQU32(g.field(inPairs), pairs)
	VPSRLD(U8(4), s, u)
	VPERMB(pairs, s, s)
	VPERMB(pairs, u, u)
	VPADDB(u, s, s)
	VMOVDQU32(s, ring(inQuads))
	VPXORD(total, total, total)
	each := ZMM()
	VMOVDQU32(decodeLanes("Each", func(int) uint32 { return 0x01010101 }), each)
	VPDPBUSD(each, s, total)
	VMOVDQA32(total, sum)
	inTurn(g.sumPairs(sum))
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

func (g *groups16) offsets() []func() {
	widths := ZMM()
	ring := func(at int) Mem { return Mem{Base: g.state, Index: g.at, Scale: 1, Disp: at} }
	return []func(){
		func() {
			VPMULTISHIFTQB_BCST(Mem{Base: g.state, Index: g.at, Scale: 2, Disp: inSpread}, g.selector, g.nextMask)
		},
		func() {
			VPBROADCASTD(ring(inSkips), g.nextOffset)
			VPADDD(g.base, g.nextOffset, g.nextOffset)
		},
		func() { VPDPBUSD_BCST(ring(inQuads), g.quadsBefore, g.nextOffset) },
		func() { VPERMB(g.triples, g.nextMask, widths) },
		func() { MOVL(ring(inStarts), g.nextStart.As32()); ADDQ(Imm(4), g.sel) },
		func() { VPERMD(g.masks, g.nextMask, g.nextMask); ADDQ(Imm(4), g.at) },
		func() { VPDPBUSD(g.ownQuad, widths, g.nextOffset); ANDQ(Imm(124), g.at) },
	}
}

// values is the second step of a group: it computes −(distance + 1) for each value.
func (g *groups16) values() []func() {
	first, above := ZMM(), ZMM()
	window := Mem{Base: g.data, Index: g.start, Scale: 1}
	const neitherBoth = 0x3f // ¬(a ∧ b)
	return append([]func(){
		func() { VPSRLD(U8(5), g.offset, first) },
		func() { PREFETCHT0(window.Offset(readHead)) },
		func() { VPERMD(window, first, g.nextValue) },
		func() { VPERMD(window.Offset(4), first, above) },
		func() { VPSHRDVD(g.offset, above, g.nextValue) },
		func() { VPTERNLOGD(U8(neitherBoth), g.mask, g.mask, g.nextValue) },
	}, g.sumPairs(g.nextValue)...)
}

func (g *groups16) ids() []func() {
	id := ZMM()
	return append(g.sumRest(g.value),
		func() { VPSUBD(g.value, g.previous, id) },
		func() { VPERMD(id, g.last, g.previous); VPANDD_BCST(g.field(inModulus), id, id) },
		func() { VMOVDQU32(id, Mem{Base: g.dst}); ADDQ(Imm(64), g.dst) },
	)
}

// goOn ends a turn: the result of each step becomes the input of the next step.
func (g *groups16) goOn() {
	VMOVDQA32(g.nextOffset, g.offset)
	VMOVDQA32(g.nextMask, g.mask)
	VMOVDQA32(g.nextValue, g.value)
	MOVQ(g.nextStart, g.start)
}

// turn emits a turn, which stores the ids of one group. The group must exist.
func (g *groups16) turn() {
	Comment("At the third group of a block comes the next block.")
	place := GP64()
	MOVQ(g.at, place)
	ANDQ(Imm(60), place)
	CMPQ(place, Imm(8))
	JNE(LabelRef("found"))
	CMPQ(g.field(inLeft), Imm(0))
	JLE(LabelRef("found"))
	g.block(Mem{Base: g.sel, Disp: 56})
	Label("found")
	Comment("No group comes after the last, whose window need not be there.")
	beginning := GP64()
	XORQ(beginning, beginning)
	CMPQ(g.groups, Imm(1))
	CMOVQEQ(beginning, g.start)
	inTurn(g.ids(), g.values(), g.offsets())
	g.goOn()
	DECQ(g.groups)
}

// begin emits the steps of the first two groups that precede the first turn.
func (g *groups16) begin() {
	MOVQ(g.field(inDst), g.dst)
	MOVQ(g.field(inSel), g.sel)
	MOVQ(g.field(inData), g.data)
	MOVQ(g.field(inGroups), g.groups)
	VPTERNLOGD(U8(0xff), g.previous, g.previous, g.previous)
	g.block(Mem{Base: g.sel})
	XORQ(g.at, g.at)
	inTurn(g.offsets())
	VPXORD(g.nextValue, g.nextValue, g.nextValue)
	g.goOn()
	inTurn(g.values(), g.offsets())
	g.goOn()
}

// decodeAVX512 emits the decoder for at least one group.
func decodeAVX512() {
	TEXT("decodeAVX512", NOSPLIT, "func(d *uint64)")
	Pragma("noescape")
	g := newGroups16(argument("d"))
	g.begin()
	Label("group")
	g.turn()
	JNZ(LabelRef("group"))
	VZEROUPPER()
	RET()
}

// inTurn emits the first instructions of all steps, then the second instructions of all steps, and so on.
func inTurn(steps ...[]func()) {
	for i := range steps[0] {
		for _, s := range steps {
			if i < len(s) {
				s[i]()
			}
		}
	}
}
