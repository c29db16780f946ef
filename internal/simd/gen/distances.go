package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	distanceLanes  = 16 // distances of a register
	distanceGroup  = 64 // distances that are counted together
	distanceBits   = 32 // lengths are below
	lengthsInBlock = 4  // lengths that are counted between two tests whether longer distances occur
)

// distances emits the assembly of Distances for n > 0 ids, a multiple of distanceGroup. The memory must have another id
// before the first id.
func distances() {
	zeros := GLOBL("leadingZeros", RODATA|NOPTR)
	for length := range distanceBits {
		for eight := range distanceGroup / 8 {
			DATA(distanceGroup*length+8*eight, U64(0x0101010101010101*(distanceBits-length)))
		}
	}
	TEXT("distancesAVX512", NOSPLIT, "func(delta *uint32, id *uint32, n int, mask uint32, bits int, lengths *int)")
	Pragma("noescape")
	delta, id, n, most, lengths := argument("delta"), argument("id"), argument("n"), argument("bits"), argument("lengths")
	mask, minus := ZMM(), ZMM()
	VPBROADCASTD(Load(Param("mask"), GP32()), mask)
	VPTERNLOGD(U8(0xff), minus, minus, minus)
	Label("loop")
	var x [distanceGroup / distanceLanes]reg.VecVirtual
	for i := range x {
		x[i] = ZMM()
		VPADDD(Mem{Base: id, Disp: 4 * distanceLanes * i}, minus, x[i])
		VPSUBD(Mem{Base: id, Disp: 4*distanceLanes*i - 4}, x[i], x[i])
		VPANDD(mask, x[i], x[i])
		VMOVDQU32(x[i], Mem{Base: delta, Disp: 4 * distanceLanes * i})
		VPLZCNTD(x[i], x[i])
	}
	// The order of the bytes does not matter.
	VPACKUSDW(x[1], x[0], x[0])
	VPACKUSDW(x[3], x[2], x[2])
	VPACKUSWB(x[2], x[0], x[0])
	equal, count := K(), GP64()
	for length := range distanceBits {
		if length > 0 && length%lengthsInBlock == 0 {
			CMPQ(most, Imm(uint64(length)))
			JL(LabelRef("next"))
		}
		VPCMPEQB(zeros.Offset(distanceGroup*length), x[0], equal)
		KMOVQ(equal, count)
		POPCNTQ(count, count)
		ADDQ(count, Mem{Base: lengths, Disp: 8 * length})
	}
	Label("next")
	ADDQ(U32(4*distanceGroup), id)
	ADDQ(U32(4*distanceGroup), delta)
	SUBQ(Imm(distanceGroup), n)
	JG(LabelRef("loop"))
	VZEROUPPER()
	RET()
}
