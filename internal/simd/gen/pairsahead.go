package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// strand is one of the two runs of rows that a pair gather ahead has under way.
type strand struct {
	ids, left reg.GPVirtual // of what is left of the row
	line, dst Mem           // the row
	sums      []part
}

// pairAheader is a gather of pairs of rows that decodes other ids as it goes: what
// [pairer] is to [gatherer], this is to [gatherAhead].
type pairAheader struct {
	gatherAhead
	bound Mem // the row after the last of the run that goes on alone
	a, b  strand
}

// pairsAhead writes one gather function for x whose rows lie one after the other
// and have 4, 8, 16, 32 or 64 bytes. The rows of dst from split on are the second
// run; neither is empty.
func pairsAhead(t element) {
	TEXT("gatherSum"+t.mark+"PairsAhead", NOSPLIT, fmt.Sprintf(
		"func(dst *%[1]s, dstStride int, x *%[1]s, ptr *int64, split int, rows int, col *uint32, scale *%[1]s, width int, d *uint64)", t.name))
	Pragma("noescape")
	p := pairAheader{gatherAhead: newGatherAhead(t), bound: AllocLocal(8)}
	p.decoder = newGroups16(argument("d"))
	p.decoder.take()
	p.x, p.line = argument("x"), GP64()
	a, b := &p.a, &p.b
	for _, s := range []*strand{a, b} {
		*s = strand{ids: GP64(), left: GP64(), line: AllocLocal(8), dst: AllocLocal(8)}
	}
	MOVQ(I32(0), a.line)
	MOVQ(inFrame("split"), p.line)
	MOVQ(p.line, b.line)
	MOVQ(inFrame("ptr"), a.left)
	MOVQ(Mem{Base: a.left, Index: p.line, Scale: 8}, b.ids)
	SUBQ(Mem{Base: a.left}, b.ids)
	MOVQ(inFrame("dst"), a.left)
	MOVQ(a.left, a.dst)
	IMULQ(inFrame("dstStride"), p.line)
	ADDQ(a.left, p.line)
	MOVQ(p.line, b.dst)
	MOVQ(inFrame("col"), a.ids)
	LEAQ(Mem{Base: a.ids, Index: b.ids, Scale: 4}, b.ids)
	p.measure(a)
	p.measure(b)
	t.loops(inFrame("width"), p.loop)
	Label("done")
	p.decoder.putAside()
	VZEROUPPER()
	RET()
}

// measure finds how long a strand's row is.
func (p *pairAheader) measure(s *strand) {
	ptr := GP64()
	MOVQ(inFrame("ptr"), ptr)
	MOVQ(s.line, p.line)
	MOVQ(Mem{Base: ptr, Index: p.line, Scale: 8, Disp: 8}, s.left)
	SUBQ(Mem{Base: ptr, Index: p.line, Scale: 8}, s.left)
}

// loop writes the loops over rows of so many bytes.
func (p *pairAheader) loop(bytes int, mark string) {
	const each = aheadGroup / 2
	a, b := &p.a, &p.b
	a.sums, b.sums = p.whole.parts(bytes), p.whole.parts(bytes)
	Label("row" + mark)
	for i := range a.sums {
		zero(a.sums[i].sum)
		zero(b.sums[i].sum)
	}
	Comment("Nothing has come before the second run and prefetched its first rows.")
	p.first(bytes, mark)

	Label("pair" + mark)
	CMPQ(a.left, Imm(each))
	JL(LabelRef("few" + mark))
	CMPQ(b.left, Imm(each))
	JL(LabelRef("few" + mark))
	CMPQ(p.decoder.groups, Imm(0))
	JLE(LabelRef("few" + mark))
	var steps []func()
	for next := range each {
		steps = append(steps, func() {
			p.add(a, bytes, next)
			p.add(b, bytes, next)
		})
	}
	p.decoder.turn("Pair"+mark, steps)
	p.advance(a, each)
	p.advance(b, each)
	JMP(LabelRef("pair" + mark))

	Label("few" + mark)
	TESTQ(a.left, a.left)
	JZ(LabelRef("endA" + mark))
	TESTQ(b.left, b.left)
	JZ(LabelRef("endB" + mark))
	Label("both" + mark)
	p.add(a, bytes, 0)
	p.add(b, bytes, 0)
	p.advance(a, 1)
	p.advance(b, 1)
	TESTQ(a.left, a.left)
	JZ(LabelRef("endA" + mark))
	TESTQ(b.left, b.left)
	JNZ(LabelRef("both" + mark))

	Label("endB" + mark)
	p.finish(b, inFrame("rows"), "throughB"+mark)
	JMP(LabelRef("ended" + mark))
	Label("endA" + mark)
	p.finish(a, inFrame("split"), "throughA"+mark)
	Label("ended" + mark)
	Comment("What a row has less than whole groups makes about one.")
	CMPQ(p.decoder.groups, Imm(0))
	JLE(LabelRef("pair" + mark))
	p.decoder.turn("Ended" + mark)
	JMP(LabelRef("pair" + mark))

	Label("throughA" + mark)
	MOVQ(inFrame("rows"), p.line)
	MOVQ(p.line, p.bound)
	JMP(LabelRef("alone" + mark))
	Label("throughB" + mark)
	MOVQ(inFrame("split"), p.line)
	MOVQ(p.line, p.bound)
	MOVQ(a.ids, b.ids)
	MOVQ(a.left, b.left)
	MOVQ(a.line, p.line)
	MOVQ(p.line, b.line)
	MOVQ(a.dst, p.line)
	MOVQ(p.line, b.dst)
	for i, q := range a.sums {
		VMOVUPS(q.sum, b.sums[i].sum)
	}
	Label("alone" + mark)
	CMPQ(b.left, Imm(aheadGroup))
	JL(LabelRef("last" + mark))
	CMPQ(p.decoder.groups, Imm(0))
	JLE(LabelRef("last" + mark))
	p.ids = b.ids
	p.decoder.turn("Alone"+mark, p.entries(b.sums, bytes))
	p.advance(b, aheadGroup)
	JMP(LabelRef("alone" + mark))
	Label("last" + mark)
	TESTQ(b.left, b.left)
	JZ(LabelRef("finish" + mark))
	Label("one" + mark)
	p.add(b, bytes, 0)
	ADDQ(Imm(4), b.ids)
	DECQ(b.left)
	JNZ(LabelRef("one" + mark))
	Label("finish" + mark)
	p.finish(b, p.bound, "done")
	JMP(LabelRef("alone" + mark))
}

// first prefetches the first rows of the second run.
func (p *pairAheader) first(bytes int, mark string) {
	p.ids = GP64()
	MOVQ(p.b.ids, p.ids)
	count := GP64()
	MOVQ(I32(pairAhead), count)
	Label("first" + mark)
	PREFETCHT1(p.named(bytes, 0))
	ADDQ(Imm(4), p.ids)
	DECQ(count)
	JNZ(LabelRef("first" + mark))
}

// add adds an entry of a strand to its sum.
func (p *pairAheader) add(s *strand, bytes, next int) {
	p.ids = s.ids
	p.entry(s.sums, bytes, next)
}

// advance leaves so many entries behind.
func (p *pairAheader) advance(s *strand, entries int) {
	ADDQ(Imm(uint64(4*entries)), s.ids)
	SUBQ(Imm(uint64(entries)), s.left)
}

// finish stores a strand's sum and goes to its next row, or out if there is none.
func (p *pairAheader) finish(s *strand, bound Mem, out string) {
	at, factor := GP64(), vector(s.sums[0].size)
	MOVQ(inFrame("scale"), at)
	MOVQ(s.line, p.line)
	p.whole.fill(Mem{Base: at, Index: p.line, Scale: uint8(p.size)}, factor)
	MOVQ(s.dst, at)
	for _, q := range s.sums {
		p.whole.store(q, factor, Mem{Base: at, Disp: q.at})
		zero(q.sum)
	}
	ADDQ(inFrame("dstStride"), at)
	MOVQ(at, s.dst)
	INCQ(p.line)
	MOVQ(p.line, s.line)
	CMPQ(p.line, bound)
	JE(LabelRef(out))
	p.measure(s)
}
