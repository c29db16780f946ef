package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// takeAhead is how many bytes beyond an element the twin of Take fetches: about what memory
// delivers while one waits for it.
const takeAhead = 2048

// take writes the twin of Take between two types; n > 0 is a multiple of four. It stops
// before four places one of which x has not.
func take(from, to element) {
	TEXT("take"+from.mark+"To"+to.mark+"AVX2", NOSPLIT, fmt.Sprintf("func(dst *%s, x *%s, size int, at *int, n int) int", to.name, from.name))
	Pragma("noescape")
	dst, x, size, at, n := argument("dst"), argument("x"), argument("size"), argument("at"), argument("n")
	done := GP64()
	XORQ(done, done)
	Label("loop")
	var place [4]reg.GPVirtual
	for i := range place {
		place[i] = GP64()
		MOVQ(Mem{Base: at, Index: done, Scale: 8, Disp: 8 * i}, place[i])
		CMPQ(place[i], size)
		JAE(LabelRef("end"))
	}
	named := func(i, ahead int) Mem {
		return Mem{Base: x, Index: place[i], Scale: uint8(from.size), Disp: ahead}
	}
	PREFETCHT0(named(0, takeAhead))
	PREFETCHT0(named(2, takeAhead))
	stored := Mem{Base: dst, Index: done, Scale: uint8(to.size)}
	v := XMM()
	if from.size == 4 {
		VMOVSS(named(0, 0), v)
		for i := 1; i < 4; i++ {
			VINSERTPS(Imm(uint64(16*i)), named(i, 0), v, v)
		}
		if to.size == 4 {
			VMOVUPS(v, stored)
		} else {
			wide := YMM()
			VCVTPS2PD(v, wide)
			VMOVUPD(wide, stored)
		}
	} else {
		w, four := XMM(), YMM()
		VMOVSD(named(0, 0), v)
		VMOVHPD(named(1, 0), v, v)
		VMOVSD(named(2, 0), w)
		VMOVHPD(named(3, 0), w, w)
		VINSERTF128(Imm(1), w, v.AsY(), four)
		to.storeDouble(four, stored)
	}
	ADDQ(Imm(4), done)
	CMPQ(done, n)
	JL(LabelRef("loop"))
	Label("end")
	VZEROUPPER()
	Store(done, ReturnIndex(0))
	RET()
}
