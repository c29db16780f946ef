package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// wide is the width in bytes of the vectors of AVX-512.
const wide = 64

// across512 writes the combination of the eight numbers of v into every lane of it, which
// shuffle, quarters and neighbours exchange.
func across512(v reg.VecVirtual, exchange, neighbours func(...Op), neighbour uint8, combine func(...Op)) {
	w := ZMM()
	for _, quarters := range []uint8{0x4e, 0xb1} {
		exchange(U8(quarters), v, v, w)
		combine(w, v, v)
	}
	neighbours(U8(neighbour), v, w)
	combine(w, v, v)
}

// in512 loads a float64 in memory into every lane of a register of its own.
func in512(m Mem) reg.VecVirtual {
	v := ZMM()
	VBROADCASTSD(m, v)
	return v
}

// largestGain512 is largestGain of eight numbers at a time.
func largestGain512(t element, belowOne, smallestGain, mostFloat64 Mem) {
	const lanes = wide / 8
	TEXT("largestGain"+t.mark+"AVX512", NOSPLIT, fmt.Sprintf("func(down *float64, diag *float64, row *%s, n int, f float64, kii float64, least float64) (best int, gain float64)", t.name))
	Pragma("noescape")
	down, diag, row, n := argument("down"), argument("diag"), argument("row"), argument("n")
	f, kii, least := in512(inFrame("f")), in512(inFrame("kii")), in512(inFrame("least"))
	below, smallest, most := in512(belowOne), in512(smallestGain), in512(mostFloat64)
	zero, gain, bound := ZMM(), ZMM(), ZMM()
	for _, v := range []reg.VecVirtual{zero, gain, bound} {
		VPXORQ(v, v, v)
	}
	at, best, some := GP64(), GP64(), GP32()
	XORQ(at, at)
	MOVQ(I32(-1), best)

	Label("loop")
	diff, violates := ZMM(), K()
	VMOVUPD(Mem{Base: down, Index: at, Scale: 8}, diff)
	VSUBPD(f, diff, diff)
	VCMPPD(Imm(above), zero, diff, violates)
	e, r, positive := ZMM(), ZMM(), K()
	VADDPD(Mem{Base: diag, Index: at, Scale: 8}, kii, e)
	t.loadDouble(Mem{Base: row, Index: at, Scale: uint8(t.size)}, r)
	VADDPD(r, r, r)
	VSUBPD(r, e, e)
	VCMPPD(Imm(above), zero, e, positive)
	VBLENDMPD(e, least, positive, e)
	VMULPD(diff, diff, diff)
	product, may := ZMM(), K()
	VMULPD(bound, e, product)
	VCMPPD(Imm(atLeast), product, diff, violates, may)
	KMOVW(may, some)
	TESTL(some, some)
	JNZ(LabelRef("divide"))
	Label("next")
	ADDQ(Imm(lanes), at)
	CMPQ(at, n)
	JL(LabelRef("loop"))
	VZEROUPPER()
	Store(best, ReturnIndex(0))
	Store(gain.AsX(), ReturnIndex(1))
	RET()

	Label("divide")
	g, larger, last := ZMM(), K(), GP64()
	VDIVPD(e, diff, g)
	VCMPPD(Imm(atLeast), gain, g, may, larger)
	KORTESTW(larger, larger)
	JEQ(LabelRef("next"))
	VMOVAPD_Z(g, larger, gain)
	across512(gain, VSHUFF64X2, VPERMILPD, 0x55, VMAXPD)
	VCMPPD(Imm(equal), gain, g, larger, may)
	KMOVW(may, last.As32())
	BSRQ(last, last)
	LEAQ(Mem{Base: at, Index: last, Scale: 1}, best)
	VMINPD(most, gain, bound)
	VCMPPD(Imm(atLeast), smallest, gain, larger)
	VMULPD_Z(below, bound, larger, bound)
	JMP(LabelRef("next"))
}

// advance512 is advance of eight numbers at a time.
func advance512(t element, most, least, places, first Mem) {
	const lanes = wide / 8
	TEXT("advance"+t.mark+"AVX512", NOSPLIT, fmt.Sprintf("func(up *float64, down *float64, ri *%[1]s, rj *%[1]s, n int, step float64) (at int, lowest float64, highest float64)", t.name))
	Pragma("noescape")
	up, down, ri, rj, n := argument("up"), argument("down"), argument("ri"), argument("rj"), argument("n")
	factor, lowest, highest := in512(inFrame("step")), in512(most), in512(least)
	place, step, found := ZMM(), ZMM(), ZMM()
	VMOVDQU64(first, place)
	VPBROADCASTQ(places, step)
	VPXORQ(found, found, found)
	at := GP64()
	XORQ(at, at)

	Label("loop")
	change, r := ZMM(), ZMM()
	t.loadDouble(Mem{Base: ri, Index: at, Scale: uint8(t.size)}, change)
	t.loadDouble(Mem{Base: rj, Index: at, Scale: uint8(t.size)}, r)
	VSUBPD(r, change, change)
	VMULPD(factor, change, change)
	u, v, lower := ZMM(), ZMM(), K()
	VADDPD(Mem{Base: up, Index: at, Scale: 8}, change, u)
	VADDPD(Mem{Base: down, Index: at, Scale: 8}, change, v)
	VMOVUPD(u, Mem{Base: up, Index: at, Scale: 8})
	VMOVUPD(v, Mem{Base: down, Index: at, Scale: 8})
	VCMPPD(Imm(atMost), lowest, u, lower)
	VMOVDQA64(place, lower, found)
	VMINPD(lowest, u, lowest)
	VMAXPD(highest, v, highest)
	VPADDQ(step, place, place)
	ADDQ(Imm(lanes), at)
	CMPQ(at, n)
	JL(LabelRef("loop"))

	across512(highest, VSHUFF64X2, VPERMILPD, 0x55, VMAXPD)
	smallest, last := ZMM(), GP64()
	VMOVAPD(lowest, smallest)
	across512(smallest, VSHUFF64X2, VPERMILPD, 0x55, VMINPD)
	VCMPPD(Imm(equal), smallest, lowest, lower)
	VMOVDQA64_Z(found, lower, found)
	across512(found, VSHUFI64X2, VPSHUFD, 0x4e, VPMAXSQ)
	VMOVQ(found.AsX(), last)
	VZEROUPPER()
	Store(last, ReturnIndex(0))
	Store(smallest.AsX(), ReturnIndex(1))
	Store(highest.AsX(), ReturnIndex(2))
	RET()
}
