package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// addRows emits the assembly of AddRows. Strides, the step of scale and the width are in bytes.
func addRows(t element) {
	TEXT("addRows"+t.mark, NOSPLIT, fmt.Sprintf(
		"func(dst *%[1]s, dstStride int, a *%[1]s, aStride int, scale *%[1]s, scaleStep int, x *%[1]s, xStride int, rows int, width int)", t.name))
	Pragma("noescape")
	dst, a, scale, x := argument("dst"), argument("a"), argument("scale"), argument("x")
	rows, width := argument("rows"), argument("width")
	TESTQ(rows, rows)
	JZ(LabelRef("done"))
	whole, at := GP64(), GP64()
	MOVQ(width, whole)
	ANDQ(I8(-register), whole)
	factor := YMM()

	Label("row")
	t.broadcast(Mem{Base: scale}, factor)
	XORQ(at, at)
	CMPQ(at, whole)
	JGE(LabelRef("half"))
	Label("register")
	v := YMM()
	t.mul(Mem{Base: x, Index: at, Scale: 1}, factor, v)
	t.add(Mem{Base: a, Index: at, Scale: 1}, v, v)
	t.load(v, Mem{Base: dst, Index: at, Scale: 1})
	ADDQ(Imm(register), at)
	CMPQ(at, whole)
	JL(LabelRef("register"))

	for _, part := range []struct {
		label, next string
		bytes       uint32
		load        func(...Op)
	}{
		{"half", "quarter", 16, VMOVUPS},
		{"quarter", "eighth", 8, VMOVSD},
		{"eighth", "next", 4, VMOVSS},
	} {
		if part.bytes < uint32(t.size) {
			part.bytes, part.load = 0, nil
		}
		Label(part.label)
		if part.bytes == 0 {
			continue
		}
		TESTQ(U32(part.bytes), width)
		JZ(LabelRef(part.next))
		v, w := XMM(), XMM()
		part.load(Mem{Base: x, Index: at, Scale: 1}, v)
		part.load(Mem{Base: a, Index: at, Scale: 1}, w)
		t.mul(factor.AsX(), v, v)
		t.add(w, v, v)
		part.load(v, Mem{Base: dst, Index: at, Scale: 1})
		ADDQ(Imm(uint64(part.bytes)), at)
	}

	Label("next")
	ADDQ(inFrame("dstStride"), dst)
	ADDQ(inFrame("aStride"), a)
	ADDQ(inFrame("scaleStep"), scale)
	ADDQ(inFrame("xStride"), x)
	DECQ(rows)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	Label("done")
	RET()
}
