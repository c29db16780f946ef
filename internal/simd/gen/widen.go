package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// widen emits the assembly of Widen for n > 0 numbers, a multiple of 8.
func widen(t element) {
	widenFrom(t, "Bytes", "uint8", 1)
	if t.size == 8 {
		widenFrom(t, "F32", "float32", 4)
	}
}

func widenFrom(t element, mark, name string, size int) {
	TEXT("widen"+mark+"To"+t.mark+"AVX2", NOSPLIT, fmt.Sprintf("func(dst *%s, src *%s, n int)", t.name, name))
	Pragma("noescape")
	dst, src, n, at := argument("dst"), argument("src"), argument("n"), GP64()
	XORQ(at, at)
	lanes := register / t.size
	Label("loop")
	for i := 0; i < 8; i += lanes {
		from, v := Mem{Base: src, Index: at, Scale: uint8(size), Disp: i * size}, YMM()
		switch {
		case size == 4:
			VCVTPS2PD(from, v)
		case t.size == 4:
			VPMOVZXBD(from, v)
			VCVTDQ2PS(v, v)
		default:
			integers := XMM()
			VPMOVZXBD(from, integers)
			VCVTDQ2PD(integers, v)
		}
		VMOVUPS(v, Mem{Base: dst, Index: at, Scale: uint8(t.size), Disp: i * t.size})
	}
	ADDQ(Imm(8), at)
	CMPQ(at, n)
	JL(LabelRef("loop"))
	VZEROUPPER()
	RET()
}
