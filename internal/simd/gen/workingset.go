package main

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Comparisons that are false where a number is NaN: above, at least, at most, equal.
const (
	above   = 0x1e
	atLeast = 0x1d
	atMost  = 0x12
	equal   = 0x00
)

// across emits the combination of the four numbers of v, such as their minimum, and stores it in every lane of v.
func across(v reg.VecVirtual, combine func(...Op)) {
	w := YMM()
	VPERM2F128(Imm(1), v, v, w)
	combine(w, v, v)
	VPERMILPD(Imm(5), v, w)
	combine(w, v, v)
}

// inEveryLane emits the load of the float64 at m into every lane of a register, and returns the register.
func inEveryLane(m Mem) reg.VecVirtual {
	v := YMM()
	VBROADCASTSD(m, v)
	return v
}

// workingSet emits the assembly of LargestGain and Advance for n > 0 numbers in whole registers of float64.
func workingSet() {
	belowOne := ConstData("belowOne", F64(1-0x1p-50))
	smallestGain := ConstData("smallestGain", F64(0x1p-1000))
	most := ConstData("mostFloat64", F64(math.MaxFloat64))
	least := ConstData("leastFloat64", U64(math.Float64bits(math.Inf(-1))))
	four := ConstData("fourPlaces", U64(register/8))
	first := GLOBL("firstPlaces", attr.RODATA|attr.NOPTR)
	for i := range register / 8 {
		DATA(8*i, U64(i))
	}
	for _, t := range []element{float32s, float64s} {
		largestGain(t, belowOne, smallestGain, most)
		advance(t, most, least, four, first)
	}
}

// largestGain emits the assembly of LargestGain. The loop divides only if a gain may exceed the largest gain so far. It
// first compares the square of the difference with e·b, where b is below the largest gain by more than the rounding
// error of the gain. Rounding keeps the order, so that the comparison is right even if the product overflows or
// underflows. If the largest gain is very small, b is 0.
func largestGain(t element, belowOne, smallestGain, mostFloat64 Mem) {
	const lanes = register / 8
	TEXT("largestGain"+t.mark+"AVX2", NOSPLIT, fmt.Sprintf("func(down *float64, diag *float64, row *%s, n int, f float64, kii float64, least float64) (best int, gain float64)", t.name))
	Pragma("noescape")
	down, diag, row, n := argument("down"), argument("diag"), argument("row"), argument("n")
	f, kii, least := inEveryLane(inFrame("f")), inEveryLane(inFrame("kii")), inEveryLane(inFrame("least"))
	below, smallest, most := inEveryLane(belowOne), inEveryLane(smallestGain), inEveryLane(mostFloat64)
	zero, gain, bound := YMM(), YMM(), YMM()
	for _, v := range []reg.VecVirtual{zero, gain, bound} {
		VXORPD(v, v, v)
	}
	at, best, some := GP64(), GP64(), GP32()
	XORQ(at, at)
	MOVQ(I32(-1), best)

	Label("loop")
	diff, violates := YMM(), YMM()
	VMOVUPD(Mem{Base: down, Index: at, Scale: 8}, diff)
	VSUBPD(f, diff, diff)
	VCMPPD(Imm(above), zero, diff, violates)
	e, r, positive := YMM(), YMM(), YMM()
	VADDPD(Mem{Base: diag, Index: at, Scale: 8}, kii, e)
	t.loadDouble(Mem{Base: row, Index: at, Scale: uint8(t.size)}, r)
	VADDPD(r, r, r)
	VSUBPD(r, e, e)
	VCMPPD(Imm(above), zero, e, positive)
	VBLENDVPD(positive, e, least, e)
	VMULPD(diff, diff, diff)
	product, may := YMM(), YMM()
	VMULPD(bound, e, product)
	VCMPPD(Imm(atLeast), product, diff, may)
	VANDPD(violates, may, may)
	VMOVMSKPD(may, some)
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
	g, last := YMM(), GP64()
	VDIVPD(e, diff, g)
	larger := YMM()
	VCMPPD(Imm(atLeast), gain, g, larger)
	VANDPD(may, larger, larger)
	VMOVMSKPD(larger, some)
	TESTL(some, some)
	JZ(LabelRef("next"))
	VANDPD(larger, g, g)
	VMOVAPD(g, gain)
	across(gain, VMAXPD)
	VCMPPD(Imm(equal), gain, g, g)
	VANDPD(larger, g, g)
	VMOVMSKPD(g, some)
	BSRQ(some.As64(), last)
	LEAQ(Mem{Base: at, Index: last, Scale: 1}, best)
	VMINPD(most, gain, bound)
	VMULPD(below, bound, bound)
	VCMPPD(Imm(atLeast), smallest, gain, larger)
	VANDPD(larger, bound, bound)
	JMP(LabelRef("next"))
}

// advance emits the assembly of Advance. Each lane keeps its smallest number and the last index at which it occurred.
func advance(t element, most, least, step, first Mem) {
	const lanes = register / 8
	TEXT("advance"+t.mark+"AVX2", NOSPLIT, fmt.Sprintf("func(up *float64, down *float64, ri *%[1]s, rj *%[1]s, n int, step float64) (at int, lowest float64, highest float64)", t.name))
	Pragma("noescape")
	up, down, ri, rj, n := argument("up"), argument("down"), argument("ri"), argument("rj"), argument("n")
	factor, lowest, highest := inEveryLane(inFrame("step")), inEveryLane(most), inEveryLane(least)
	place, places, found := YMM(), inEveryLane(step), YMM()
	VMOVDQU(first, place)
	VPXOR(found, found, found)
	at := GP64()
	XORQ(at, at)

	Label("loop")
	change, r := YMM(), YMM()
	t.loadDouble(Mem{Base: ri, Index: at, Scale: uint8(t.size)}, change)
	t.loadDouble(Mem{Base: rj, Index: at, Scale: uint8(t.size)}, r)
	VSUBPD(r, change, change)
	VMULPD(factor, change, change)
	u, v, lower := YMM(), YMM(), YMM()
	VADDPD(Mem{Base: up, Index: at, Scale: 8}, change, u)
	VADDPD(Mem{Base: down, Index: at, Scale: 8}, change, v)
	VMOVUPD(u, Mem{Base: up, Index: at, Scale: 8})
	VMOVUPD(v, Mem{Base: down, Index: at, Scale: 8})
	VCMPPD(Imm(atMost), lowest, u, lower)
	VBLENDVPD(lower, place, found, found)
	VMINPD(lowest, u, lowest)
	VMAXPD(highest, v, highest)
	VPADDQ(places, place, place)
	ADDQ(Imm(lanes), at)
	CMPQ(at, n)
	JL(LabelRef("loop"))

	across(highest, VMAXPD)
	smallest := YMM()
	VMOVAPD(lowest, smallest)
	across(smallest, VMINPD)
	VCMPPD(Imm(equal), smallest, lowest, lower)
	VPAND(lower, found, found)
	half, other := XMM(), YMM()
	VEXTRACTI128(Imm(1), found, half)
	VPCMPGTQ(half, found.AsX(), other.AsX())
	VBLENDVPD(other.AsX(), found.AsX(), half, half)
	p, q := GP64(), GP64()
	VMOVQ(half, p)
	VPEXTRQ(Imm(1), half, q)
	CMPQ(p, q)
	CMOVQLT(q, p)
	VZEROUPPER()
	Store(p, ReturnIndex(0))
	Store(smallest.AsX(), ReturnIndex(1))
	Store(highest.AsX(), ReturnIndex(2))
	RET()
}
