package main

import (
	"fmt"
	"math/bits"
	"strconv"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// form describes one kind of gather function.
type form struct {
	mark     string // mark of the kind in names of functions
	narrow   int    // there is a loop for every width up to narrow elements
	wide     []int  // and for these widths in bytes
	weighted bool
	heads    *Mem // a row of zeros if the first entries of a row are added without a jump; otherwise nil
	halves   bool // the function is of GatherTile: ids have 16 bits, sums begin with dst and get no factors, nothing is prefetched
	onto     bool // sums begin with the rows of start, which may be the rows of dst
}

const (
	heads     = 6  // number of first entries of a row that are added without a jump
	mostHeads = 64 // bytes of the widest row of x with such loops: wider rows wait for memory
)

func zeros() *Mem {
	row := GLOBL("zeros", attr.RODATA|attr.NOPTR)
	for at := 0; at < mostHeads; at += 8 {
		DATA(at, U64(0))
	}
	return &row
}

func gathers(t element, zeroRow *Mem) {
	for _, weighted := range []bool{false, true} {
		for _, f := range []form{
			{onto: true},
			{mark: "Tile", halves: true},
		} {
			f.weighted = weighted
			pairs(t, f)
			f.mark, f.narrow, f.wide = f.mark+"Rows", 7, multiples(register, register, 320)
			gather(t, f)
		}
	}
	gather(t, form{mark: "Short", narrow: 7, wide: multiples(register, register, mostHeads), heads: zeroRow})
}

func multiples(step, lo, hi int) (m []int) {
	for n := lo; n <= hi; n += step {
		m = append(m, n)
	}
	return m
}

// gatherer emits one gather function.
type gatherer struct {
	element
	form

	dst, x, stride, ptr, col, val, scale, rows reg.GPVirtual
	far, near, entry, end, row                 reg.GPVirtual
	nothing, length                            reg.GPVirtual // distance from x to the row of zeros; length of a row

	flat bool // the rows of x are single numbers, one after the other
}

// gather emits one gather function. Strides are in bytes, and width is in elements.
func gather(t element, f form) {
	f.text(t, f.mark, "stride int, ptr *int64, rows int", "far int, near int, ")
	Pragma("noescape")
	aligned()
	g := gatherer{element: t, form: f}
	g.dst, g.x, g.stride = argument("dst"), argument("x"), argument("stride")
	g.ptr, g.rows, g.col = argument("ptr"), argument("rows"), argument("col")
	if !f.halves {
		g.scale = argument("scale")
	}
	g.entry, g.end, g.row = GP64(), GP64(), GP64()
	TESTQ(g.rows, g.rows)
	JZ(LabelRef("done"))

	Comment("Entries are counted as ptr counts them.")
	MOVQ(Mem{Base: g.ptr}, g.entry)
	MOVQ(g.entry, g.row)
	SHLQ(U8(bits.TrailingZeros8(g.idBytes())), g.row)
	SUBQ(g.row, g.col)
	if f.weighted {
		g.val = argument("val")
		if wider := uint8(t.size) / g.idBytes(); wider > 1 {
			SHLQ(U8(bits.TrailingZeros8(wider)), g.row)
		}
		SUBQ(g.row, g.val)
	}
	if !f.halves {
		g.far = argument("far")
		LEAQ(Mem{Base: g.col, Index: g.far, Scale: g.idBytes()}, g.far)
		g.near = argument("near")
		LEAQ(Mem{Base: g.col, Index: g.near, Scale: g.idBytes()}, g.near)
	}
	if f.heads != nil {
		g.nothing, g.length = GP64(), GP64()
		LEAQ(*f.heads, g.nothing)
		SUBQ(g.x, g.nothing)
	}

	width := argument("width")
	var bytes []int
	for n := 1; n <= f.narrow; n++ {
		bytes = append(bytes, n*t.size)
	}
	for _, n := range f.wide {
		if n >= t.size && n > f.narrow*t.size {
			bytes = append(bytes, n)
		}
	}
	if bytes[0] == t.size {
		Comment("The rows of x have one column without padding: ids are indices.")
		CMPQ(g.stride, Imm(uint64(t.size)))
		JNE(LabelRef("apart"))
		CMPQ(width, Imm(1))
		JNE(LabelRef("apart"))
		if f.heads != nil {
			SARQ(U8(bits.TrailingZeros(uint(t.size))), g.nothing)
		}
		JMP(LabelRef("row"))
		Label("apart")
	}
	for _, n := range bytes {
		CMPQ(width, Imm(uint64(n/t.size)))
		JE(LabelRef(fmt.Sprintf("row%d", n)))
	}
	if bytes[0] == t.size {
		g.loop(t.size, "")
	}
	for _, n := range bytes {
		g.loop(n, strconv.Itoa(n))
	}
	Label("done")
	RET()
}

// text emits the beginning of a function whose name ends in mark. rows and hints are parameters of the function, as Go
// text.
func (f form) text(t element, mark, rows, hints string) {
	name, ids, rest := "gatherSum", "col *uint32, "+hints, ""
	if f.onto {
		rest = fmt.Sprintf("start *%s, startStride int, ", t.name)
	}
	if f.halves {
		ids = "col *uint16, "
	}
	if f.weighted {
		name = "gatherWeighted"
	}
	if f.weighted || f.halves {
		rest += fmt.Sprintf("val *%s, ", t.name)
	}
	if !f.halves {
		rest += fmt.Sprintf("scale *%s, ", t.name)
	}
	TEXT(name+t.mark+mark, NOSPLIT, fmt.Sprintf(
		"func(dst *%[1]s, dstStride int, x *%[1]s, %[2]s, %[3]s%[4]swidth int)", t.name, rows, ids, rest))
}

// part is the part of a row that one register holds.
type part struct {
	at, size int // bytes
	sum      reg.VecVirtual
}

// parts cuts a row of the given bytes into registers, the widest first.
func (g *gatherer) parts(bytes int) (parts []part) {
	at := 0
	for size := register; size >= g.size; size /= 2 {
		for ; bytes-at >= size; at += size {
			parts = append(parts, part{at: at, size: size, sum: vector(size)})
		}
	}
	return parts
}

func vector(bytes int) reg.VecVirtual {
	if bytes == register {
		return YMM()
	}
	return XMM()
}

// low returns the low part of v that has the size of p.
func (p part) low(v reg.VecVirtual) reg.Register {
	if p.size == register {
		return v.AsY()
	}
	return v.AsX()
}

// loop emits the loop over rows of the given bytes. mark is the end of its labels. If mark is "", the rows of x have
// one number and no padding.
func (g *gatherer) loop(bytes int, mark string) {
	g.flat = mark == ""
	parts := g.parts(bytes)
	widest := parts[0].size
	w, product := vector(widest), vector(widest)
	Label("row" + mark)
	ADDQ(Imm(8), g.ptr)
	MOVQ(Mem{Base: g.ptr}, g.end)
	switch {
	case g.onto:
		MOVQ(inFrame("start"), g.row)
		g.begin(parts, g.row)
		ADDQ(inFrame("startStride"), g.row)
		MOVQ(g.row, inFrame("start"))
	case g.halves:
		g.begin(parts, g.dst)
	default:
		for _, p := range parts {
			VXORPS(p.sum, p.sum, p.sum)
		}
	}
	if g.heads != nil {
		g.addHeads(bytes, parts)
	}
	CMPQ(g.entry, g.end)
	JGE(LabelRef("finish" + mark))
	Label("entry" + mark)
	g.prefetch(bytes, 0)
	if g.weighted {
		g.fill(Mem{Base: g.val, Index: g.entry, Scale: uint8(g.size)}, w)
	}
	row := g.named(g.col, 0)
	for _, p := range parts {
		g.accumulate(p, row.Offset(p.at), w, product)
	}
	INCQ(g.entry)
	CMPQ(g.entry, g.end)
	JL(LabelRef("entry" + mark))

	Label("finish" + mark)
	if g.heads != nil {
		MOVQ(g.end, g.entry)
	}
	factor := vector(widest)
	if !g.halves {
		g.fill(Mem{Base: g.scale}, factor)
		ADDQ(Imm(uint64(g.size)), g.scale)
	}
	for _, p := range parts {
		g.store(p, factor, Mem{Base: g.dst, Disp: p.at})
	}
	ADDQ(inFrame("dstStride"), g.dst)
	DECQ(g.rows)
	JNZ(LabelRef("row" + mark))
	VZEROUPPER()
	RET()
}

// begin emits the load of the sums of a row from the address from.
func (g *gatherer) begin(parts []part, from reg.GPVirtual) {
	for _, p := range parts {
		g.move(p, Mem{Base: from, Disp: p.at}, p.low(p.sum))
	}
}

// addHeads emits the addition of the first heads entries, whatever the length of the row. It replaces entries after the
// end of the row by the row of zeros. This does not change the bits of a sum: the sum begins with +0 and is never −0.
func (g *gatherer) addHeads(bytes int, parts []part) {
	MOVQ(g.end, g.length)
	SUBQ(g.entry, g.length)
	for next := range heads {
		g.prefetch(bytes, next)
	}
	for next := range heads {
		row := g.named(g.col, next)
		CMPQ(g.length, Imm(uint64(next)))
		CMOVQLE(g.nothing, g.row)
		for _, p := range parts {
			v := vector(p.size)
			g.accumulate(p, row.Offset(p.at), v, v)
		}
	}
	ADDQ(Imm(heads), g.entry)
}

// named returns the memory operand of the row of x for the id, in the ids at ids, that is next places after the current
// entry.
func (g *gatherer) named(ids reg.GPVirtual, next int) Mem {
	id := Mem{Base: ids, Index: g.entry, Scale: g.idBytes(), Disp: int(g.idBytes()) * next}
	g.loadID(id, g.row)
	if g.flat {
		return Mem{Base: g.x, Index: g.row, Scale: uint8(g.size)}
	}
	IMULQ(g.stride, g.row)
	return Mem{Base: g.x, Index: g.row, Scale: 1}
}

// prefetch emits prefetches of the row of x of a later entry. Short rows are fetched into the first-level cache at
// once. Longer rows are fetched into the second-level cache, which can wait for more lines at a time, and shortly
// before their use into the first-level cache.
func (g *gatherer) prefetch(bytes, next int) {
	if g.halves {
		return
	}
	hint := func(ids reg.GPVirtual, fetch func(Op)) {
		row := g.named(ids, next)
		for line := 0; line < bytes; line += 64 {
			fetch(row.Offset(line))
		}
		if bytes%32 != 0 && bytes&(bytes-1) != 0 {
			Comment("Such rows may end on the next line.")
			fetch(row.Offset(bytes - 1))
		}
	}
	if g.heads != nil {
		hint(g.far, PREFETCHT0)
		return
	}
	hint(g.far, PREFETCHT1)
	if bytes > 64 {
		hint(g.near, PREFETCHT0)
	}
}

func (g *gatherer) accumulate(p part, m Mem, w, product reg.VecVirtual) {
	load, mul, add := g.load, g.mul, g.add
	switch {
	case p.size == g.size:
		mul, add = g.mulOne, g.addOne
	case p.size < 16:
		load = VMOVSD
	}
	from, s, v := Op(m), p.low(p.sum), p.low(product)
	if p.size < 16 && p.size > g.size {
		load(m, v)
		from = v
	}
	if g.weighted {
		mul(from, p.low(w), v)
		from = v
	}
	add(from, s, s)
}

func (g *gatherer) store(p part, factor reg.VecVirtual, to Mem) {
	s := p.low(p.sum)
	if !g.halves {
		g.mul(p.low(factor), s, s)
	}
	g.move(p, s, to)
}

func (g *gatherer) move(p part, from, to Op) {
	switch {
	case p.size == g.size:
		g.loadOne(from, to)
	case p.size < 16:
		VMOVSD(from, to)
	default:
		g.load(from, to)
	}
}

func (g *gatherer) loadID(id Mem, to reg.GPVirtual) {
	if g.halves {
		MOVWLZX(id, to.As32())
	} else {
		MOVL(id, to.As32())
	}
}

func (g *gatherer) idBytes() uint8 {
	if g.halves {
		return 2
	}
	return 4
}

// fill emits the load of the number at m into every lane of v.
func (g *gatherer) fill(m Mem, v reg.VecVirtual) {
	if g.size == 8 && v.Size() == 16 {
		VMOVDDUP(m, v)
	} else {
		g.broadcast(m, v)
	}
}
