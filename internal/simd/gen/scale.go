package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// scaleTo emits the assembly of ScaleTo for n > 0 numbers in whole registers.
func scaleTo(t element) {
	TEXT("scaleTo"+t.mark+"AVX2", NOSPLIT, fmt.Sprintf("func(dst *%s, alpha float64, x *float64, n int)", t.name))
	Pragma("noescape")
	dst, x, n := argument("dst"), argument("x"), argument("n")
	alpha, at := YMM(), GP64()
	VBROADCASTSD(inFrame("alpha"), alpha)
	XORQ(at, at)
	Label("loop")
	v := YMM()
	VMULPD(Mem{Base: x, Index: at, Scale: 8}, alpha, v)
	t.storeDouble(v, Mem{Base: dst, Index: at, Scale: uint8(t.size)})
	ADDQ(Imm(register/8), at)
	CMPQ(at, n)
	JL(LabelRef("loop"))
	VZEROUPPER()
	RET()
}
