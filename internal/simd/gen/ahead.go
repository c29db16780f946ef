package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// aheadGroup is how many entries are gathered for each group that is decoded.
const aheadGroup = 16

// gatherAhead is a gather that decodes other ids as it goes.
//
// A gather waits for memory most of the time and a decoder hardly at all. One
// after the other they take the sum of both times; turn by turn the processor
// begins to decode while it waits for rows.
type gatherAhead struct {
	element
	whole           gatherer // its way with a row
	decoder         *groups16
	dst, x, ptr     reg.GPVirtual
	ids, left, line reg.GPVirtual
	owed            Mem // entries gathered for which nothing was decoded
}

func newGatherAhead(t element) gatherAhead {
	return gatherAhead{element: t, whole: gatherer{element: t, form: form{register: register}}}
}

// ahead writes one gather function for x whose rows lie one after the other and
// have 4, 8, 16, 32 or 64 bytes. It ends when all rows are done, whether
// something is left to decode or not.
func ahead(t element) {
	TEXT("gatherSum"+t.mark+"Ahead", NOSPLIT, fmt.Sprintf(
		"func(dst *%[1]s, dstStride int, x *%[1]s, ptr *int64, rows int, col *uint32, scale *%[1]s, width int, d *uint64)", t.name))
	Pragma("noescape")
	g := newGatherAhead(t)
	g.owed = AllocLocal(8)
	g.decoder = newGroups16(argument("d"))
	g.decoder.take()
	g.dst, g.x, g.ptr, g.ids = argument("dst"), argument("x"), argument("ptr"), argument("col")
	g.left, g.line = GP64(), GP64()
	MOVQ(I32(0), g.owed)
	t.loops(inFrame("width"), g.loop)
	Label("done")
	g.decoder.putAside()
	VZEROUPPER()
	RET()
}

// loop writes the loop over rows of so many bytes.
func (g *gatherAhead) loop(bytes int, mark string) {
	sums := g.whole.parts(bytes)
	Label("row" + mark)
	MOVQ(Mem{Base: g.ptr, Disp: 8}, g.left)
	SUBQ(Mem{Base: g.ptr}, g.left)
	ADDQ(Imm(8), g.ptr)
	for _, p := range sums {
		zero(p.sum)
	}
	CMPQ(g.left, Imm(aheadGroup))
	JL(LabelRef("few" + mark))
	Label("many" + mark)
	CMPQ(g.decoder.groups, Imm(0))
	JLE(LabelRef("few" + mark))
	g.decoder.turn("Many"+mark, g.entries(sums, bytes))
	ADDQ(Imm(4*aheadGroup), g.ids)
	SUBQ(Imm(aheadGroup), g.left)
	CMPQ(g.left, Imm(aheadGroup))
	JGE(LabelRef("many" + mark))

	Label("few" + mark)
	ADDQ(g.left, g.owed)
	TESTQ(g.left, g.left)
	JZ(LabelRef("ended" + mark))
	Label("one" + mark)
	g.entry(sums, bytes, 0)
	ADDQ(Imm(4), g.ids)
	DECQ(g.left)
	JNZ(LabelRef("one" + mark))
	Label("ended" + mark)
	CMPQ(g.decoder.groups, Imm(0))
	JLE(LabelRef("finish" + mark))
	CMPQ(g.owed, Imm(aheadGroup))
	JL(LabelRef("finish" + mark))
	SUBQ(Imm(aheadGroup), g.owed)
	g.decoder.turn("Few" + mark)
	Label("finish" + mark)
	factor := vector(sums[0].size)
	MOVQ(inFrame("scale"), g.line)
	g.whole.fill(Mem{Base: g.line}, factor)
	ADDQ(Imm(uint64(g.size)), inFrame("scale"))
	for _, p := range sums {
		g.whole.store(p, factor, Mem{Base: g.dst, Disp: p.at})
	}
	ADDQ(inFrame("dstStride"), g.dst)
	DECQ(inFrame("rows"))
	JNZ(LabelRef("row" + mark))
	JMP(LabelRef("done"))
}

// entries are those for which a group is decoded.
func (g *gatherAhead) entries(sums []part, bytes int) (steps []func()) {
	for first := 0; first < aheadGroup; first += 2 {
		steps = append(steps, func() {
			g.entry(sums, bytes, first)
			g.entry(sums, bytes, first+1)
		})
	}
	return steps
}

// entry adds the row of an entry and prefetches another.
func (g *gatherAhead) entry(sums []part, bytes, next int) {
	PREFETCHT1(g.named(bytes, next+pairAhead))
	row := g.named(bytes, next)
	for _, p := range sums {
		g.whole.accumulate(p, row.Offset(p.at), nil, vector(p.size))
	}
}

// named returns the row of x that the id so many places behind names.
func (g *gatherAhead) named(bytes, next int) Mem {
	MOVL(Mem{Base: g.ids, Disp: 4 * next}, g.line.As32())
	return rowOf(g.x, g.line, bytes)
}
