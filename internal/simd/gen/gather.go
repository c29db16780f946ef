package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// maxRegisters is how many registers of row sums one pass keeps.
const maxRegisters = 10

// gatherer is one gather function while it is written.
type gatherer struct {
	element
	weighted bool

	dst, x, stride, ptr, col, ahead, val, scale, rows reg.GPVirtual
	entry, end, row                                   reg.GPVirtual
}

// gather writes one gather for one type. Strides are in bytes, width in
// elements. Every width that fills registers or a simple part of one has its
// own loop; other widths below a register load under a mask.
func gather(t element, weighted bool) {
	name, val := "gatherSum", ""
	if weighted {
		name, val = "gatherWeighted", fmt.Sprintf("val *%s, ", t.name)
	}
	TEXT(name+t.mark, NOSPLIT, fmt.Sprintf(
		"func(dst *%[1]s, dstStride int, x *%[1]s, stride int, ptr *int64, rows int, col *uint32, ahead int, %[2]sscale *%[1]s, width int)", t.name, val))
	Pragma("noescape")
	g := gatherer{element: t, weighted: weighted}
	g.dst, g.x, g.stride = argument("dst"), argument("x"), argument("stride")
	g.ptr, g.rows, g.col, g.scale = argument("ptr"), argument("rows"), argument("col"), argument("scale")
	g.entry, g.end, g.row = GP64(), GP64(), GP64()
	TESTQ(g.rows, g.rows)
	JZ(LabelRef("done"))

	Comment("Entries are counted as ptr counts them.")
	MOVQ(Mem{Base: g.ptr}, g.entry)
	MOVQ(g.entry, g.row)
	SHLQ(U8(2), g.row)
	SUBQ(g.row, g.col)
	if weighted {
		g.val = argument("val")
		if t.size == 8 {
			SHLQ(U8(1), g.row)
		}
		SUBQ(g.row, g.val)
	}
	g.ahead = argument("ahead")
	LEAQ(Mem{Base: g.col, Index: g.ahead, Scale: 4}, g.ahead)

	width, lanes := argument("width"), register/t.size
	exact := []int{}
	for n := 1; n <= maxRegisters; n++ {
		exact = append(exact, n*lanes)
	}
	for n := lanes / 2; n > 0; n /= 2 {
		exact = append(exact, n)
	}
	for _, n := range exact {
		if n == 1 {
			Comment("One column, and nothing beside it in x: ids are indices.")
			CMPQ(g.stride, Imm(uint64(t.size)))
			JNE(LabelRef("part"))
		}
		CMPQ(width, Imm(uint64(n)))
		JE(LabelRef(fmt.Sprintf("row%d", n)))
	}
	Label("part")
	g.masked(width)
	for _, n := range exact {
		switch {
		case n == 1:
			g.scalar()
		case n < lanes:
			g.part(n)
		default:
			g.registers(n)
		}
	}
	Label("done")
	RET()
}

// at is part of the row of x that an entry names.
func (g *gatherer) at(offset int) Mem {
	return Mem{Base: g.x, Index: g.row, Scale: 1, Disp: offset}
}

// loop writes the loops over rows and entries around what one entry adds to
// the sums and what a row's end does with them. weigh loads the factor of an
// entry, where there is one.
func (g *gatherer) loop(width int, clear func(), weigh func(Mem), add, finish func()) {
	single := Mem{Base: g.x, Index: g.row, Scale: uint8(g.size)}
	label := func(s string) string { return fmt.Sprintf("%s%d", s, width) }
	Label(label("row"))
	ADDQ(Imm(8), g.ptr)
	MOVQ(Mem{Base: g.ptr}, g.end)
	clear()
	CMPQ(g.entry, g.end)
	JGE(LabelRef(label("finish")))
	Label(label("entry"))
	MOVL(Mem{Base: g.ahead, Index: g.entry, Scale: 4}, g.row.As32())
	if width == 1 {
		PREFETCHT0(single)
	} else {
		IMULQ(g.stride, g.row)
		for line := 0; line < max(1, width*g.size); line += 64 {
			PREFETCHT0(g.at(line))
		}
	}
	MOVL(Mem{Base: g.col, Index: g.entry, Scale: 4}, g.row.As32())
	if g.weighted {
		weigh(Mem{Base: g.val, Index: g.entry, Scale: uint8(g.size)})
	}
	if width != 1 {
		IMULQ(g.stride, g.row)
	}
	add()
	INCQ(g.entry)
	CMPQ(g.entry, g.end)
	JL(LabelRef(label("entry")))
	Label(label("finish"))
	finish()
	ADDQ(Imm(uint64(g.size)), g.scale)
	ADDQ(inFrame("dstStride"), g.dst)
	DECQ(g.rows)
	JNZ(LabelRef(label("row")))
	VZEROUPPER()
	RET()
}

// registers writes the loop for rows of whole registers.
func (g *gatherer) registers(width int) {
	sums := make([]reg.VecVirtual, width*g.size/register)
	for i := range sums {
		sums[i] = YMM()
	}
	w, product := YMM(), YMM()
	g.loop(width,
		func() {
			for _, s := range sums {
				VXORPS(s, s, s)
			}
		},
		func(factor Mem) { g.broadcast(factor, w) },
		func() {
			for i, s := range sums {
				m := g.at(i * register)
				if g.weighted {
					g.mul(m, w, product)
					g.add(product, s, s)
				} else {
					g.add(m, s, s)
				}
			}
		},
		func() {
			f := YMM()
			g.broadcast(Mem{Base: g.scale}, f)
			for i, s := range sums {
				g.mul(f, s, s)
				g.load(s, Mem{Base: g.dst, Disp: i * register})
			}
		})
}

// part writes the loop for rows of half a register, or a quarter.
func (g *gatherer) part(width int) {
	load := VMOVUPS
	if width*g.size == 8 {
		load = VMOVSD
	}
	total, w := XMM(), XMM()
	g.loop(width,
		func() { VXORPS(total, total, total) },
		func(factor Mem) { g.broadcastHalf(factor, w) },
		func() {
			v := XMM()
			load(g.at(0), v)
			if g.weighted {
				g.mul(v, w, v)
			}
			g.add(v, total, total)
		},
		func() {
			f := XMM()
			g.broadcastHalf(Mem{Base: g.scale}, f)
			g.mul(f, total, total)
			load(total, Mem{Base: g.dst})
		})
}

// broadcastHalf fills half a register; float64 has another instruction there.
func (g *gatherer) broadcastHalf(m Mem, v reg.VecVirtual) {
	if g.size == 8 {
		VMOVDDUP(m, v)
	} else {
		VBROADCASTSS(m, v)
	}
}

// scalar writes the loop for rows of one element that follow each other.
func (g *gatherer) scalar() {
	total, w := XMM(), XMM()
	g.loop(1,
		func() { VXORPS(total, total, total) },
		func(factor Mem) { g.loadOne(factor, w) },
		func() {
			m := Mem{Base: g.x, Index: g.row, Scale: uint8(g.size)}
			if g.weighted {
				g.mulOne(m, w, w)
				g.addOne(w, total, total)
			} else {
				g.addOne(m, total, total)
			}
		},
		func() {
			g.mulOne(Mem{Base: g.scale}, total, total)
			g.loadOne(total, Mem{Base: g.dst})
		})
}

// masked writes the loop for rows of some elements, fewer than a register
// holds. What lies behind them is not read.
func (g *gatherer) masked(width reg.GPVirtual) {
	mask, at := YMM(), GP64()
	Comment("The last width of eight words that are set, and clear ones behind them.")
	SHLQ(U8(log2(g.size)), width)
	LEAQ(maskTable(), at)
	SUBQ(width, at)
	VMOVDQU(Mem{Base: at, Disp: register}, mask)
	total, w := YMM(), YMM()
	g.loop(0,
		func() { VXORPS(total, total, total) },
		func(factor Mem) { g.broadcast(factor, w) },
		func() {
			v := YMM()
			g.mask(g.at(0), mask, v)
			if g.weighted {
				g.mul(v, w, v)
			}
			g.add(v, total, total)
		},
		func() {
			f := YMM()
			g.broadcast(Mem{Base: g.scale}, f)
			g.mul(f, total, total)
			storeTail(total, g.dst, width)
		})
}

// storeTail stores the first bytes of v, fewer than a register holds. Masked
// stores would take many times as long on some processors.
func storeTail(v reg.VecVirtual, dst, bytes reg.GPVirtual) {
	at, x := GP64(), XMM()
	MOVQ(dst, at)
	VMOVAPS(v.AsX(), x)
	TESTQ(U32(16), bytes)
	JZ(LabelRef("tail8"))
	VMOVUPS(x, Mem{Base: at})
	ADDQ(Imm(16), at)
	VEXTRACTF128(U8(1), v, x)
	Label("tail8")
	TESTQ(U32(8), bytes)
	JZ(LabelRef("tail4"))
	VMOVSD(x, Mem{Base: at})
	ADDQ(Imm(8), at)
	VPERMILPD(U8(1), x, x)
	Label("tail4")
	TESTQ(U32(4), bytes)
	JZ(LabelRef("stored"))
	VMOVSS(x, Mem{Base: at})
	Label("stored")
}

func log2(n int) uint8 {
	bits := uint8(0)
	for ; n > 1; n /= 2 {
		bits++
	}
	return bits
}

var masks Mem

// maskTable is a register of set bits followed by one of clear bits.
func maskTable() Mem {
	if masks.Symbol.Name == "" {
		masks = GLOBL("masks", RODATA|NOPTR)
		for i := range 16 {
			word := U32(0)
			if i < 8 {
				word = ^word
			}
			DATA(4*i, word)
		}
	}
	return masks
}
