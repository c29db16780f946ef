package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// halves writes the twin of Halves, n > 0.
func halves() {
	TEXT("halvesAVX512", NOSPLIT, "func(dst *uint16, src *uint32, n int, base uint32)")
	Pragma("noescape")
	dst, src, n := argument("dst"), argument("src"), argument("n")
	base, ids := ZMM(), ZMM()
	VPBROADCASTD(Load(Param("base"), GP32()), base)
	SUBQ(Imm(16), n)
	JL(LabelRef("rest"))
	Label("next")
	VMOVDQU32(Mem{Base: src}, ids)
	VPSUBD(base, ids, ids)
	VPMOVDW(ids, Mem{Base: dst})
	ADDQ(Imm(64), src)
	ADDQ(Imm(32), dst)
	SUBQ(Imm(16), n)
	JGE(LabelRef("next"))
	Label("rest")
	ADDQ(Imm(16), n)
	set, some := GP32(), K()
	MOVL(I32(-1), set)
	BZHIL(n.As32(), set, set)
	KMOVW(set, some)
	VMOVDQU32_Z(Mem{Base: src}, some, ids)
	VPSUBD(base, ids, ids)
	VPMOVDW(ids, some, Mem{Base: dst})
	VZEROUPPER()
	RET()
}

// bounds writes the twin of Bounds, n > 0: a binary search in each lane.
func bounds() {
	TEXT("boundsAVX2", NOSPLIT, "func(counts *uint32, ids *uint32, n int, step uint32)")
	Pragma("noescape")
	ids, n := argument("ids"), argument("n")
	multiples := GLOBL("multiples", RODATA|NOPTR)
	for i := range 8 {
		DATA(4*i, U32(i+1))
	}
	bound, low, below := YMM(), YMM(), YMM()
	step := XMM()
	VMOVD(Load(Param("step"), GP32()), step)
	VPBROADCASTD(step, bound)
	VPMULLD(multiples, bound, bound)
	VPXOR(low, low, low)
	// search adds step to low where the id there, counted from ids, is less than bound.
	search := func(ids reg.GPVirtual, step reg.VecVirtual) {
		all, id := YMM(), YMM()
		VPCMPEQD(all, all, all)
		VPGATHERDD(all, Mem{Base: ids, Index: low, Scale: 4}, id)
		VPMAXUD(bound, id, below)
		VPCMPEQD(below, id, below)
		VPANDN(step, below, below)
		VPADDD(below, low, low)
	}
	half, places, x := GP64(), YMM(), XMM()
	Label("next")
	MOVQ(n, half)
	SHRQ(Imm(1), half)
	JZ(LabelRef("last"))
	VMOVD(half.As32(), x)
	VPBROADCASTD(x, places)
	SUBQ(half, n)
	LEAQ(Mem{Base: ids, Index: half, Scale: 4, Disp: -4}, half)
	search(half, places)
	JMP(LabelRef("next"))
	Label("last")
	one := YMM()
	VPCMPEQD(one, one, one)
	VPSRLD(U8(31), one, one)
	search(ids, one)
	counts := argument("counts")
	VMOVDQU(low, Mem{Base: counts})
	VZEROUPPER()
	RET()
}
