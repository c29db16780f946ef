package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// byRows emits a loop over rows and over the registers of float64 of a row. eachRow, eachRegister and next emit what
// comes before a row, for a register at an index, and after a row. rows and width, in numbers, must be positive. The
// strides of the rows stay in the frame.
func byRows(rows, width reg.GPVirtual, eachRow func(), eachRegister func(at reg.GPVirtual), next func()) {
	at := GP64()
	Label("row")
	eachRow()
	XORQ(at, at)
	Label("register")
	eachRegister(at)
	ADDQ(Imm(register/8), at)
	CMPQ(at, width)
	JL(LabelRef("register"))
	next()
	DECQ(rows)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}

// columns emits the assembly of DotColumns, ResidualColumns and TurnColumns, which compute in float64.
func columns(t element) {
	d := float64s
	on := func(base, at reg.GPVirtual) Mem { return Mem{Base: base, Index: at, Scale: uint8(t.size)} }
	each := func(base, at reg.GPVirtual) Mem { return Mem{Base: base, Index: at, Scale: 8} }
	signature := func(format string) string { return fmt.Sprintf(format, t.name) }

	TEXT("dotColumns"+t.mark+"AVX2", NOSPLIT, signature("func(sums *float64, a *%[1]s, aStride int, b *%[1]s, bStride int, rows int, width int)"))
	Pragma("noescape")
	sums, a, b := argument("sums"), argument("a"), argument("b")
	rows, width := argument("rows"), argument("width")
	byRows(rows, width, func() {}, func(at reg.GPVirtual) {
		v, w := YMM(), YMM()
		t.loadDouble(on(a, at), v)
		t.loadDouble(on(b, at), w)
		d.mul(w, v, v)
		d.add(each(sums, at), v, v)
		d.load(v, each(sums, at))
	}, func() {
		ADDQ(inFrame("aStride"), a)
		ADDQ(inFrame("bStride"), b)
	})

	TEXT("residualColumns"+t.mark+"AVX2", NOSPLIT, signature("func(r *%[1]s, rStride int, q *%[1]s, qStride int, alpha *float64, weight *float64, inverse *float64, rr *float64, rz *float64, rows int, width int)"))
	Pragma("noescape")
	r, q, alpha := argument("r"), argument("q"), argument("alpha")
	weight, inverse, rr, rz := argument("weight"), argument("inverse"), argument("rr"), argument("rz")
	rows, width = argument("rows"), argument("width")
	f, g := YMM(), YMM()
	byRows(rows, width, func() {
		d.broadcast(Mem{Base: weight}, f)
		d.broadcast(Mem{Base: inverse}, g)
	}, func(at reg.GPVirtual) {
		u, v := YMM(), YMM()
		t.loadDouble(on(q, at), v)
		d.mul(each(alpha, at), v, v)
		t.loadDouble(on(r, at), u)
		VSUBPD(v, u, u)
		t.storeDouble(u, on(r, at))
		if t.size == 4 {
			t.loadDouble(on(r, at), u)
		}
		d.mul(u, u, u)
		d.mul(u, f, v)
		d.mul(u, g, u)
		d.add(each(rr, at), v, v)
		d.add(each(rz, at), u, u)
		d.load(v, each(rr, at))
		d.load(u, each(rz, at))
	}, func() {
		ADDQ(inFrame("rStride"), r)
		ADDQ(inFrame("qStride"), q)
		ADDQ(Imm(8), weight)
		ADDQ(Imm(8), inverse)
	})

	TEXT("turnColumns"+t.mark+"AVX2", NOSPLIT, signature("func(x *%[1]s, xStride int, p *%[1]s, pStride int, z *%[1]s, zStride int, alpha *float64, beta *float64, factor *float64, rows int, width int)"))
	Pragma("noescape")
	x, p, z := argument("x"), argument("p"), argument("z")
	alpha, beta, factor := argument("alpha"), argument("beta"), argument("factor")
	rows, width = argument("rows"), argument("width")
	f = YMM()
	byRows(rows, width, func() { d.broadcast(Mem{Base: factor}, f) }, func(at reg.GPVirtual) {
		// The loop reads all numbers before it writes any: if blocks are whole pages apart, a read would wait for a
		// write to the same place in another page.
		v, u, w := YMM(), YMM(), YMM()
		t.loadDouble(on(p, at), v)
		t.loadDouble(on(x, at), u)
		t.loadDouble(on(z, at), w)
		product := YMM()
		d.mul(each(alpha, at), v, product)
		d.add(product, u, u)
		d.mul(each(beta, at), v, v)
		d.mul(w, f, w)
		d.add(v, w, w)
		t.storeDouble(u, on(x, at))
		t.storeDouble(w, on(p, at))
	}, func() {
		ADDQ(inFrame("xStride"), x)
		ADDQ(inFrame("pStride"), p)
		ADDQ(inFrame("zStride"), z)
		ADDQ(Imm(8), factor)
	})
}
