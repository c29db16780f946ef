package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

const hashLanes = 8

// hashes emits the assembly of HashPairs for n > 0 ids. It neither reads nor adds lanes beyond the last id.
func hashes() {
	TEXT("hashPairsAVX512", NOSPLIT, "func(place uint64, shift uint64, ids *uint32, n int, one uint64, first uint64, second uint64) uint64")
	Pragma("noescape")
	place, one, first, second := inLanes("place"), inLanes("one"), inLanes("first"), inLanes("second")
	shift := XMM()
	VMOVQ(inFrame("shift"), shift)
	ids, n := argument("ids"), argument("n")
	sum, x, t := ZMM(), ZMM(), ZMM()
	VPXORQ(sum, sum, sum)
	hash := func() {
		VPSLLQ(shift, x, x)
		VPORQ(place, x, x)
		VPSRLQ(U8(32), x, t)
		VPXORQ(t, x, x)
		VPMULLQ(first, x, x)
		VPSRLQ(U8(29), x, t)
		VPXORQ(one, x, x)
		VPXORQ(t, x, x)
		VPMULLQ(second, x, x)
		VPSRLQ(U8(32), x, t)
		VPXORQ(t, x, x)
	}
	SUBQ(Imm(hashLanes), n)
	JL(LabelRef("rest"))
	Label("loop")
	VPMOVZXDQ(Mem{Base: ids}, x)
	hash()
	VPADDQ(x, sum, sum)
	ADDQ(Imm(4*hashLanes), ids)
	SUBQ(Imm(hashLanes), n)
	JGE(LabelRef("loop"))
	Label("rest")
	ADDQ(Imm(hashLanes), n)
	JZ(LabelRef("end"))
	bits, lanes, count := GP64(), K(), n
	MOVQ(I32(-1), bits)
	BZHIQ(count, bits, bits)
	KMOVW(bits.As32(), lanes)
	VPMOVZXDQ_Z(Mem{Base: ids}, lanes, x)
	hash()
	VPADDQ(x, sum, lanes, sum)
	Label("end")
	half, quarter := YMM(), XMM()
	VEXTRACTI64X4(U8(1), sum, half)
	VPADDQ(half, sum.AsY(), half)
	VEXTRACTI128(U8(1), half, quarter)
	VPADDQ(quarter, half.AsX(), quarter)
	low, high := GP64(), GP64()
	VMOVQ(quarter, low)
	VPEXTRQ(U8(1), quarter, high)
	ADDQ(high, low)
	VZEROUPPER()
	Store(low, ReturnIndex(0))
	RET()
}
