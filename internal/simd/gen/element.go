package main

import (
	"fmt"
	"math/bits"
	"strconv"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// register is the width in bytes of a vector.
const register = 32

// element is an element type with its instructions for registers and, in names with One, for one number.
type element struct {
	name string // name of the type in Go
	mark string // mark of the type in names of functions
	size int

	add, mul, addOne, mulOne func(...Op)
	broadcast, load, loadOne func(...Op)
}

var float32s = element{
	name: "float32", mark: "F32", size: 4,
	add: VADDPS, mul: VMULPS, addOne: VADDSS, mulOne: VMULSS,
	broadcast: VBROADCASTSS, load: VMOVUPS, loadOne: VMOVSS,
}

var float64s = element{
	name: "float64", mark: "F64", size: 8,
	add: VADDPD, mul: VMULPD, addOne: VADDSD, mulOne: VMULSD,
	broadcast: VBROADCASTSD, load: VMOVUPD, loadOne: VMOVSD,
}

func (t element) loadDouble(from Mem, to reg.VecVirtual) {
	if t.size == 4 {
		VCVTPS2PD(from, to)
	} else {
		VMOVUPD(from, to)
	}
}

func (t element) storeDouble(from reg.VecVirtual, to Mem) {
	if t.size == 4 {
		single := XMM()
		VCVTPD2PSY(from, single)
		VMOVUPS(single, to)
	} else {
		VMOVUPD(from, to)
	}
}

// aligned makes the function begin on a line of the instruction cache, because loops that straddle lines take up to 3 %
// longer.
func aligned() {
	Instruction(&ir.Instruction{Opcode: "PCALIGN", Operands: []Op{Imm(64)}})
}

func argument(name string) reg.GPVirtual {
	return Load(Param(name), GP64()).(reg.GPVirtual)
}

// inFrame returns the memory operand of a parameter.
func inFrame(name string) Mem {
	p, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return p.Addr
}

// inLanes emits the load of a parameter of eight bytes into every lane of a register, and returns the register.
func inLanes(name string) reg.VecVirtual {
	z := ZMM()
	VPBROADCASTQ(inFrame(name), z)
	return z
}

// loops emits, for each width from one number to two registers, a loop over rows, after the jumps by width to these
// loops. loop must emit one loop; it is called with the longest rows first.
func (t element) loops(width Op, loop func(bytes int, mark string)) {
	var sizes []int
	for n := t.size; n <= 2*register; n *= 2 {
		sizes = append(sizes, n)
	}
	for _, n := range sizes[:len(sizes)-1] {
		CMPQ(width, Imm(uint64(n/t.size)))
		JE(LabelRef(fmt.Sprintf("row%d", n)))
	}
	for i := range sizes {
		n := sizes[len(sizes)-1-i]
		loop(n, strconv.Itoa(n))
	}
}

// rowOf returns the memory operand of row id of x, and may overwrite id. Rows must be contiguous and have bytes bytes,
// a power of two.
func rowOf(x, id reg.GPVirtual, bytes int) Mem {
	if bytes <= 8 {
		return Mem{Base: x, Index: id, Scale: uint8(bytes)}
	}
	SHLQ(U8(bits.TrailingZeros(uint(bytes))), id)
	return Mem{Base: x, Index: id, Scale: 1}
}
