package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// folds has, for d bits, the constants that carry 128 bits of a message over d bits: x^(d+32) and x^(d−32) modulo the
// polynomial of CRC-32C, with their bits reversed.
var folds = map[int][2]uint64{
	128:  {0xf20c0dfe, 0x14cd00bd6},
	512:  {0x740eef02, 0x9e4addf8},
	2048: {0xdcb17aa4, 0xb9e02b86},
}

const foldBytes = 256 // bytes in four registers

// checksum emits the assembly of Checksum for n > 0 bytes, a multiple of foldBytes.
//
// The loop keeps a message of 256 bytes with the same remainder as the bytes that it has read. It carries this message
// over the next 256 bytes and adds it to them. At the end it carries the message to its own last 16 bytes, whose
// remainder two instructions compute.
func checksum() {
	TEXT("checksumAVX512", NOSPLIT, "func(sum uint32, data *byte, n int) uint32")
	Pragma("noescape")
	data, n := argument("data"), argument("n")
	constants := func(distance int) reg.VecVirtual {
		m, z := GLOBL(fmt.Sprintf("folds%d", distance), RODATA|NOPTR), ZMM()
		for lane := range 4 {
			for half, k := range folds[distance] {
				DATA(16*lane+8*half, U64(k))
			}
		}
		VMOVDQU64(m, z)
		return z
	}
	far, near, within := constants(2048), constants(512), constants(128)
	var x [4]reg.VecVirtual
	for i := range x {
		x[i] = ZMM()
		VMOVDQU64(Mem{Base: data, Disp: 64 * i}, x[i])
	}
	first := XMM()
	VMOVD(Load(Param("sum"), GP32()), first)
	VPXORQ(first.AsZ(), x[0], x[0])
	// fold stores x, carried over a distance, plus next in x.
	fold := func(x, k reg.VecVirtual, next Op, low, high reg.VecVirtual) {
		VPCLMULQDQ(U8(0x00), k, x, low)
		VPCLMULQDQ(U8(0x11), k, x, high)
		VPXORQ(low, high, high)
		VPXORQ(next, high, x)
	}
	Label("next")
	SUBQ(U32(foldBytes), n)
	JZ(LabelRef("last"))
	ADDQ(U32(foldBytes), data)
	for i := range x {
		fold(x[i], far, Mem{Base: data, Disp: 64 * i}, ZMM(), ZMM())
	}
	JMP(LabelRef("next"))
	Label("last")
	for i := range 3 {
		fold(x[i], near, x[i+1], ZMM(), ZMM())
		x[i+1] = x[i]
	}
	whole := x[3]
	sum := XMM()
	VMOVDQA64(whole.AsX(), sum)
	for lane := 1; lane < 4; lane++ {
		part := XMM()
		VEXTRACTI32X4(U8(lane), whole, part)
		low, high := XMM(), XMM()
		VPCLMULQDQ(U8(0x00), within.AsX(), sum, low)
		VPCLMULQDQ(U8(0x11), within.AsX(), sum, high)
		VPXOR(low, high, high)
		VPXOR(part, high, sum)
	}
	Comment("The remainder of 16 bytes.")
	word, result := GP64(), GP64()
	XORQ(result, result)
	VMOVQ(sum, word)
	CRC32Q(word, result)
	VPEXTRQ(U8(1), sum, word)
	CRC32Q(word, result)
	VZEROUPPER()
	Store(result.As32(), ReturnIndex(0))
	RET()
}
