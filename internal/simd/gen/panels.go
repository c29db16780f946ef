package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// panels emits the assembly of DotPanels and AddPanels. n > 0 is in bytes and a multiple of a register.
func panels() {
	t := float64s
	loop := func(n reg.GPVirtual, body func(at reg.GPVirtual)) {
		at := GP64()
		XORQ(at, at)
		Label("register")
		body(at)
		ADDQ(Imm(register), at)
		CMPQ(at, n)
		JL(LabelRef("register"))
	}
	on := func(base, at reg.GPVirtual) Mem { return Mem{Base: base, Index: at, Scale: 1} }

	TEXT("dotPanelsAVX2", NOSPLIT, "func(dst *float64, v0 *float64, v1 *float64, w0 *float64, w1 *float64, w2 *float64, w3 *float64, n int)")
	Pragma("noescape")
	v := []reg.GPVirtual{argument("v0"), argument("v1")}
	w := []reg.GPVirtual{argument("w0"), argument("w1"), argument("w2"), argument("w3")}
	n := argument("n")
	sums := make([]reg.VecVirtual, 8)
	for i := range sums {
		sums[i] = YMM()
		VXORPD(sums[i], sums[i], sums[i])
	}
	loop(n, func(at reg.GPVirtual) {
		x, y := YMM(), YMM()
		t.load(on(v[0], at), x)
		t.load(on(v[1], at), y)
		for j, base := range w {
			p, q := YMM(), YMM()
			t.load(on(base, at), q)
			t.mul(q, x, p)
			t.mul(q, y, q)
			t.add(p, sums[j], sums[j])
			t.add(q, sums[4+j], sums[4+j])
		}
	})
	dst := argument("dst")
	for i, sum := range sums {
		t.load(sum, Mem{Base: dst, Disp: i * register})
	}
	VZEROUPPER()
	RET()

	TEXT("addPanelsAVX2", NOSPLIT, "func(w0 *float64, w1 *float64, v0 *float64, v1 *float64, v2 *float64, v3 *float64, c *float64, n int)")
	Pragma("noescape")
	w = []reg.GPVirtual{argument("w0"), argument("w1")}
	v = []reg.GPVirtual{argument("v0"), argument("v1"), argument("v2"), argument("v3")}
	c := argument("c")
	n = argument("n")
	factors := make([]reg.VecVirtual, 8)
	for i := range factors {
		factors[i] = YMM()
		t.broadcast(Mem{Base: c, Disp: i * t.size}, factors[i])
	}
	loop(n, func(at reg.GPVirtual) {
		x, y := YMM(), YMM()
		t.load(on(w[0], at), x)
		t.load(on(w[1], at), y)
		for i, base := range v {
			p, q := YMM(), YMM()
			t.load(on(base, at), q)
			t.mul(q, factors[i], p)
			t.mul(q, factors[4+i], q)
			t.add(p, x, x)
			t.add(q, y, y)
		}
		t.load(x, on(w[0], at))
		t.load(y, on(w[1], at))
	})
	VZEROUPPER()
	RET()
}
