package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// vectors emits the assembly of Dot and AddScaled for n > 0 numbers in whole registers of float64.
func vectors(t element) {
	const lanes = register / 8
	place := func(x, at reg.GPVirtual, size, ahead int) Mem {
		return Mem{Base: x, Index: at, Scale: uint8(size), Disp: ahead * size}
	}

	TEXT("dot"+t.mark+"AVX2", NOSPLIT, fmt.Sprintf("func(dst *float64, x *%s, y *float64, n int)", t.name))
	Pragma("noescape")
	x, y, n := argument("x"), argument("y"), argument("n")
	at, last := GP64(), GP64()
	sums := make([]reg.VecVirtual, 4)
	for i := range sums {
		sums[i] = YMM()
		VXORPD(sums[i], sums[i], sums[i])
	}
	add := func(s int) {
		v := YMM()
		t.loadDouble(place(x, at, t.size, s*lanes), v)
		VMULPD(place(y, at, 8, s*lanes), v, v)
		VADDPD(v, sums[s], sums[s])
	}
	XORQ(at, at)
	MOVQ(n, last)
	SUBQ(Imm(4*lanes), last)
	JL(LabelRef("rest"))
	Label("four")
	for s := range sums {
		add(s)
	}
	ADDQ(Imm(4*lanes), at)
	CMPQ(at, last)
	JLE(LabelRef("four"))
	Label("rest")
	CMPQ(at, n)
	JGE(LabelRef("end"))
	Label("one")
	add(0)
	ADDQ(Imm(lanes), at)
	CMPQ(at, n)
	JL(LabelRef("one"))
	Label("end")
	VADDPD(sums[1], sums[0], sums[0])
	VADDPD(sums[3], sums[2], sums[2])
	VADDPD(sums[2], sums[0], sums[0])
	VMOVUPD(sums[0], Mem{Base: argument("dst")})
	VZEROUPPER()
	RET()

	TEXT("addScaled"+t.mark+"AVX2", NOSPLIT, fmt.Sprintf("func(dst *float64, a float64, x *%s, n int)", t.name))
	Pragma("noescape")
	dst, x, n := argument("dst"), argument("x"), argument("n")
	a, at := YMM(), GP64()
	VBROADCASTSD(inFrame("a"), a)
	XORQ(at, at)
	Label("loop")
	v := YMM()
	t.loadDouble(place(x, at, t.size, 0), v)
	VMULPD(v, a, v)
	VADDPD(place(dst, at, 8, 0), v, v)
	VMOVUPD(v, place(dst, at, 8, 0))
	ADDQ(Imm(lanes), at)
	CMPQ(at, n)
	JL(LabelRef("loop"))
	VZEROUPPER()
	RET()
}
