package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

const entryLanes = 8

// cells emits the assembly of Cells for n > 0 rows in whole registers.
func cells() {
	TEXT("cellsAVX2", NOSPLIT, "func(cell *uint32, row *uint32, n int, head uint32, shift uint64) uint32")
	Pragma("noescape")
	cell, row, n := argument("cell"), argument("row"), argument("n")
	first, head, shift := XMM(), YMM(), XMM()
	VMOVD(Load(Param("head"), GP32()), first)
	VPBROADCASTD(first, head)
	VMOVQ(inFrame("shift"), shift)
	none, odd := YMM(), YMM()
	VPCMPEQD(none, none, none)
	VPXOR(odd, odd, odd)
	Label("loop")
	x, y, z := YMM(), YMM(), YMM()
	VMOVDQU(Mem{Base: row}, x)
	VPSRLD(shift, x, y)
	VPMINUD(head, x, z)
	VPADDD(y, z, z)
	VMOVDQU(z, Mem{Base: cell})
	VPSHUFD(U8(0xb1), x, y) // each number's neighbour
	VPCMPEQD(x, y, y)
	VPCMPEQD(x, none, z)
	VPOR(y, odd, odd)
	VPOR(z, odd, odd)
	ADDQ(Imm(4*entryLanes), row)
	ADDQ(Imm(4*entryLanes), cell)
	SUBQ(Imm(entryLanes), n)
	JG(LabelRef("loop"))
	found := GP32()
	VPMOVMSKB(odd, found)
	VZEROUPPER()
	Store(found, ReturnIndex(0))
	RET()
}

// entries emits the assembly of Entries with 32-bit entries, for n > 0 rows in whole registers.
func entries() {
	TEXT("entriesAVX2", NOSPLIT, "func(entry *uint32, line *uint32, n int, column uint64)")
	Pragma("noescape")
	entry, line, n := argument("entry"), argument("line"), argument("n")
	column, back := XMM(), YMM()
	VMOVQ(inFrame("column"), column)
	VPCMPEQD(back, back, back)
	VPSRLQ(U8(63), back, back)
	VPSLLQ(U8(32), back, back) // 0, 1, 0, 1, …
	Label("loop")
	x, y := YMM(), YMM()
	VMOVDQU(Mem{Base: line}, x)
	VPSHUFD(U8(0xb1), x, y)
	VPSLLD(column, x, x)
	VPADDD(y, y, y)
	VPOR(x, y, y)
	VPOR(back, y, y)
	VMOVDQU(y, Mem{Base: entry})
	ADDQ(Imm(4*entryLanes), line)
	ADDQ(Imm(4*entryLanes), entry)
	SUBQ(Imm(entryLanes), n)
	JG(LabelRef("loop"))
	VZEROUPPER()
	RET()
}
