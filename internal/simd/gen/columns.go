package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// byRows writes the frame of a loop over rows, rows > 0, and over the
// registers of a row, width > 0 in bytes. Row pointers are moved by their
// strides, which stay in the frame.
func byRows(rows, width reg.GPVirtual, eachRow func(), eachRegister func(at reg.GPVirtual), next func()) {
	at := GP64()
	Label("row")
	eachRow()
	XORQ(at, at)
	Label("register")
	eachRegister(at)
	ADDQ(Imm(register), at)
	CMPQ(at, width)
	JL(LabelRef("register"))
	next()
	DECQ(rows)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}

// columns writes the twins of the loops with a factor or a sum for each
// column.
func columns() {
	t := float64s
	on := func(base reg.GPVirtual, at reg.GPVirtual) Mem { return Mem{Base: base, Index: at, Scale: 1} }

	TEXT("dotColumnsAVX2", NOSPLIT, "func(sums *float64, a *float64, aStride int, b *float64, bStride int, rows int, width int)")
	Pragma("noescape")
	sums, a, b := argument("sums"), argument("a"), argument("b")
	rows, width := argument("rows"), argument("width")
	byRows(rows, width, func() {}, func(at reg.GPVirtual) {
		v := YMM()
		t.load(on(a, at), v)
		t.mul(on(b, at), v, v)
		t.add(on(sums, at), v, v)
		t.load(v, on(sums, at))
	}, func() {
		ADDQ(inFrame("aStride"), a)
		ADDQ(inFrame("bStride"), b)
	})

	TEXT("residualColumnsAVX2", NOSPLIT, "func(r *float64, rStride int, q *float64, qStride int, alpha *float64, weight *float64, inverse *float64, rr *float64, rz *float64, rows int, width int)")
	Pragma("noescape")
	r, q, alpha := argument("r"), argument("q"), argument("alpha")
	weight, inverse, rr, rz := argument("weight"), argument("inverse"), argument("rr"), argument("rz")
	rows, width = argument("rows"), argument("width")
	f, g := YMM(), YMM()
	byRows(rows, width, func() {
		t.broadcast(Mem{Base: weight}, f)
		t.broadcast(Mem{Base: inverse}, g)
	}, func(at reg.GPVirtual) {
		u, v := YMM(), YMM()
		t.load(on(q, at), v)
		t.mul(on(alpha, at), v, v)
		t.load(on(r, at), u)
		VSUBPD(v, u, u)
		t.load(u, on(r, at))
		t.mul(u, u, u)
		t.mul(u, f, v)
		t.mul(u, g, u)
		t.add(on(rr, at), v, v)
		t.add(on(rz, at), u, u)
		t.load(v, on(rr, at))
		t.load(u, on(rz, at))
	}, func() {
		ADDQ(inFrame("rStride"), r)
		ADDQ(inFrame("qStride"), q)
		ADDQ(Imm(8), weight)
		ADDQ(Imm(8), inverse)
	})

	TEXT("turnColumnsAVX2", NOSPLIT, "func(x *float64, xStride int, p *float64, pStride int, z *float64, zStride int, alpha *float64, beta *float64, factor *float64, rows int, width int)")
	Pragma("noescape")
	x, p, z := argument("x"), argument("p"), argument("z")
	alpha, beta, factor := argument("alpha"), argument("beta"), argument("factor")
	rows, width = argument("rows"), argument("width")
	f = YMM()
	byRows(rows, width, func() { t.broadcast(Mem{Base: factor}, f) }, func(at reg.GPVirtual) {
		v, u, w := YMM(), YMM(), YMM()
		t.load(on(p, at), v)
		t.mul(on(alpha, at), v, u)
		t.add(on(x, at), u, u)
		t.load(u, on(x, at))
		t.mul(on(beta, at), v, v)
		t.mul(on(z, at), f, w)
		t.add(v, w, w)
		t.load(w, on(p, at))
	}, func() {
		ADDQ(inFrame("xStride"), x)
		ADDQ(inFrame("pStride"), p)
		ADDQ(inFrame("zStride"), z)
		ADDQ(Imm(8), factor)
	})
}
