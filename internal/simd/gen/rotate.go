package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// rotations writes the twin of RotateStrip; count > 0.
func rotations() {
	t := float64s
	TEXT("rotateStripAVX2", NOSPLIT, "func(x *float64, r *int, count int)")
	Pragma("noescape")
	const rowBytes, rotationBytes = 128, 24
	x, r, count := argument("x"), argument("r"), argument("count")
	Label("rotation")
	at := GP64()
	MOVQ(Mem{Base: r}, at)
	SHLQ(Imm(7), at) // log₂ of rowBytes
	ADDQ(x, at)
	c, s := YMM(), YMM()
	VBROADCASTSD(Mem{Base: r, Disp: 8}, c)
	VBROADCASTSD(Mem{Base: r, Disp: 16}, s)
	for lane := 0; lane < rowBytes; lane += register {
		above, below := Mem{Base: at, Disp: lane}, Mem{Base: at, Disp: rowBytes + lane}
		a, b, p, q := YMM(), YMM(), YMM(), YMM()
		t.load(above, a)
		t.load(below, b)
		t.mul(a, c, p)
		t.mul(b, s, q)
		VSUBPD(q, p, p)
		t.mul(a, s, a)
		t.mul(b, c, b)
		t.add(b, a, a)
		t.load(p, above)
		t.load(a, below)
	}
	ADDQ(Imm(rotationBytes), r)
	DECQ(count)
	JNZ(LabelRef("rotation"))
	VZEROUPPER()
	RET()
}
