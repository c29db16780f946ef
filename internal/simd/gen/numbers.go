package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	textBlock    = 64 // bytes of text that are examined together
	blockNumbers = 8  // largest number of numbers that are read from them
)

// bytesOf returns a register whose byte i is number(i).
func bytesOf(name string, number func(i int) int) reg.VecVirtual {
	m, z := GLOBL("lines"+name, RODATA|NOPTR), ZMM()
	for i := 0; i < textBlock; i += 8 {
		var eight uint64
		for j := range 8 {
			eight |= uint64(uint8(number(i+j))) << (8 * j)
		}
		DATA(i, U64(eight))
	}
	VMOVDQU64(m, z)
	return z
}

// numbers emits the assembly of Numbers.
//
// A block is 64 bytes from the beginning of a line. Bytes that are no digits end its numbers; the loop compresses the
// positions of these bytes. Each number gets a lane of eight bytes, the digits of the number behind zeros: each byte of
// the lane loads the byte of the text at its distance from the end of the number. Three steps combine digits to pairs,
// to fours, and to a number. If the first eight numbers of a block have another form, the loop ends before the block.
func numbers() {
	TEXT("numbersAVX512", NOSPLIT, "func(code *uint32, room int, text *byte, size int, sep uint64, base uint64, limit uint64, least int64) (read int, n int)")
	Pragma("noescape")
	code, room, text, size := argument("code"), argument("room"), argument("text"), argument("size")
	base, limit, least := inLanes("base"), inLanes("limit"), inLanes("least")
	places := bytesOf("Places", func(i int) int { return i })
	own := bytesOf("Own", func(i int) int { return i / 8 })
	before := bytesOf("Before", func(i int) int { return (i/8 + 63) % 64 }) // before the first: no place
	ramp := bytesOf("Ramp", func(i int) int { return i%8 - 8 })
	zero := bytesOf("Zero", func(int) int { return '0' })
	nine := bytesOf("Nine", func(int) int { return 9 })
	two := bytesOf("Two", func(int) int { return 2 })
	seven := bytesOf("Seven", func(int) int { return 7 })
	tens := bytesOf("Tens", func(i int) int { return []int{10, 1}[i%2] })
	hundreds := bytesOf("Hundreds", func(i int) int { return []int{100, 0, 1, 0}[i%4] })
	thousands := bytesOf("Thousands", func(i int) int { return []int{10000 & 0xff, 10000 >> 8, 0, 0, 0, 0, 0, 0}[i%8] })
	ends, none := bytesOf("Ends", func(i int) int { return []int{0, '\n'}[i/8%2] }), ZMM()
	VPTERNLOGD(U8(0xff), none, none, none)
	sep, first, sources := ZMM(), K(), GP64()
	VPBROADCASTB(argument("sep").As32(), sep)
	MOVQ(U64(0x00ff00ff00ff00ff), sources)
	KMOVQ(sources, first)
	VPBLENDMB(sep, ends, first, ends)

	at, all, eighth, one, even, begin := GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	MOVQ(code, begin)
	XORQ(at, at)
	MOVQ(I32(-1), all)
	MOVQ(U32(1<<(blockNumbers-1)), eighth)
	MOVQ(U32(1), one)
	MOVQ(U32(0x55), even)
	SUBQ(Imm(textBlock), size)
	Label("loop")
	CMPQ(at, size)
	JG(LabelRef("end"))
	CMPQ(room, Imm(blockNumbers))
	JL(LabelRef("end"))
	x, digits, notDigit := ZMM(), ZMM(), K()
	VMOVDQU64(Mem{Base: text, Index: at, Scale: 1}, x)
	VPSUBB(zero, x, digits)
	VPCMPUB(U8(6), nine, digits, notDigit)
	found, next, count, lanes, bits := GP64(), GP64(), GP64(), GP64(), GP64()
	KMOVQ(notDigit, found)
	Comment("The next line begins behind the eighth number, or the last whole line.")
	PDEPQ(found, eighth, next)
	MOVQ(U32(blockNumbers), count)
	TESTQ(next, next)
	JNZ(LabelRef("counted"))
	POPCNTQ(found, count)
	ANDQ(I32(-2), count)
	JZ(LabelRef("end"))
	LEAQ(Mem{Base: count, Disp: -1}, bits)
	SHLXQ(bits, one, bits)
	PDEPQ(found, bits, next)
	Label("counted")
	TZCNTQ(next, next)
	Comment("Where the numbers end, and those before them.")
	place, end, last := ZMM(), ZMM(), ZMM()
	VMOVDQA64(none, place)
	VPCOMPRESSB(places, notDigit, place)
	VPERMB(place, own, end)
	VPERMB(place, before, last)
	MOVQ(count, bits)
	SHLQ(Imm(3), bits)
	BZHIQ(bits, all, lanes)
	inLanes, good, bad := K(), K(), K()
	KMOVQ(lanes, inLanes)
	Comment("One to eight digits, the right byte behind them, no zero before others.")
	length, character, index := ZMM(), ZMM(), ZMM()
	VPSUBB(last, end, length)
	VPSUBB(two, length, length)
	VPCMPUB(U8(2), seven, length, inLanes, good)
	VPERMB(x, end, character)
	VPCMPEQB(ends, character, good, good)
	VPSUBB(none, last, index)
	VPERMB(digits, index, character)
	VPTESTNMB(character, character, good, bad)
	VPTESTMB(length, length, bad, bad)
	KMOVQ(good, bits)
	CMPQ(bits, lanes)
	JNE(LabelRef("end"))
	KORTESTQ(bad, bad)
	JNZ(LabelRef("end"))
	Comment("The values.")
	inNumber, v, w := K(), ZMM(), ZMM()
	VPADDB(ramp, end, index)
	VPCMPGTB(last, index, inNumber)
	VPERMB_Z(digits, index, inNumber, v)
	VPMADDUBSW(tens, v, v)
	VPMADDWD(hundreds, v, v)
	VPMULUDQ(thousands, v, w)
	VPSRLQ(U8(32), v, v)
	VPADDQ(w, v, v)
	VPSUBQ(base, v, v)
	Comment("Codes must be below limit, and first − second at least least.")
	BZHIQ(count, all, bits)
	KMOVB(bits.As32(), inLanes)
	ANDQ(even, bits)
	above, below := K(), K()
	VPCMPUQ(U8(5), limit, v, inLanes, above)
	KMOVB(bits.As32(), inLanes)
	VPSHUFD(U8(0x4e), v, w)
	VPSUBQ(w, v, w)
	VPCMPQ(U8(1), least, w, inLanes, below)
	KORTESTB(above, below)
	JNZ(LabelRef("end"))
	narrow := YMM()
	VPMOVQD(v, narrow)
	VMOVDQU32(narrow, Mem{Base: code})
	LEAQ(Mem{Base: code, Index: count, Scale: 4}, code)
	SUBQ(count, room)
	LEAQ(Mem{Base: at, Index: next, Scale: 1, Disp: 1}, at)
	JMP(LabelRef("loop"))
	Label("end")
	VZEROUPPER()
	SUBQ(begin, code)
	SHRQ(Imm(2), code)
	Store(at, ReturnIndex(0))
	Store(code, ReturnIndex(1))
	RET()
}
