package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// pairAhead is the number of entries by which rows of x are prefetched before their use.
const pairAhead = 192

// stream is one of the two runs of rows that a pair gather processes.
type stream struct {
	ids, val  reg.GPVirtual // ids and values of the next segment, see pairer
	left      reg.GPVirtual // number of entries of the row after the current segment
	line, dst reg.GPVirtual // number of the row, and its address in dst
	sums      []part
}

// pairer emits one gather function that sums two rows at a time.
//
// The sum of a long row waits for its own last addition, while the processor could add twice as much. Therefore the
// rows are cut into two runs, and the loop alternates between an entry of the first run and an entry of the second run.
// It proceeds in segments: a segment ends where a row of either run ends. After the end of one run, the other run
// continues alone, as the second run.
type pairer struct {
	gatherer
	at    reg.GPVirtual // position in a segment, from minus its length up to 0
	spare reg.GPVirtual
	bound Mem // number of the row after the run that continues alone
	a, b  stream
}

// pairs emits one gather function that sums two rows at a time, for x with contiguous rows of 4, 8, 16, 32 or 64 bytes.
// The second run begins at row split of dst. Neither run may be empty.
func pairs(t element, f form) {
	f.text(t, f.mark+"Pairs", "ptr *int64, split int, rows int", "")
	Pragma("noescape")
	p := pairer{
		gatherer: gatherer{element: t, form: f},
		at:       GP64(), spare: GP64(), bound: AllocLocal(8),
	}
	p.x = argument("x")
	a, b := &p.a, &p.b
	for _, s := range []*stream{a, b} {
		*s = stream{ids: GP64(), left: GP64(), line: GP64(), dst: GP64()}
		if f.weighted {
			s.val = GP64()
		}
	}
	XORQ(a.line, a.line)
	MOVQ(inFrame("split"), b.line)
	MOVQ(inFrame("dst"), a.dst)
	MOVQ(inFrame("dstStride"), b.dst)
	IMULQ(b.line, b.dst)
	ADDQ(a.dst, b.dst)
	MOVQ(inFrame("ptr"), p.spare)
	MOVQ(Mem{Base: p.spare, Index: b.line, Scale: 8}, b.ids)
	SUBQ(Mem{Base: p.spare}, b.ids)
	if f.weighted {
		MOVQ(inFrame("val"), a.val)
		LEAQ(Mem{Base: a.val, Index: b.ids, Scale: uint8(t.size)}, b.val)
	}
	MOVQ(inFrame("col"), a.ids)
	LEAQ(Mem{Base: a.ids, Index: b.ids, Scale: p.idBytes()}, b.ids)
	p.measure(a)
	p.measure(b)
	t.loops(argument("width"), p.loop)
}

// measure emits the computation of s.left, the number of entries of the current row of s.
func (p *pairer) measure(s *stream) {
	MOVQ(inFrame("ptr"), p.spare)
	MOVQ(Mem{Base: p.spare, Index: s.line, Scale: 8, Disp: 8}, s.left)
	SUBQ(Mem{Base: p.spare, Index: s.line, Scale: 8}, s.left)
}

func (p *pairer) loop(bytes int, mark string) {
	a, b := &p.a, &p.b
	a.sums, b.sums = p.parts(bytes), p.parts(bytes)
	widest := a.sums[0].size
	w, product, factor := vector(widest), vector(widest), vector(widest)
	Label("row" + mark)
	p.begin(a)
	p.begin(b)
	if !p.halves {
		Comment("Nothing has come before the second run and prefetched its first rows.")
		XORQ(p.at, p.at)
		Label("first" + mark)
		PREFETCHT1(p.named(b, 0, bytes))
		INCQ(p.at)
		CMPQ(p.at, U32(pairAhead))
		JL(LabelRef("first" + mark))
	}

	Label("pair" + mark)
	MOVQ(a.left, p.at)
	CMPQ(b.left, p.at)
	CMOVQLT(b.left, p.at)
	SUBQ(p.at, a.left)
	SUBQ(p.at, b.left)
	p.advance(a)
	p.advance(b)
	NEGQ(p.at)
	JZ(LabelRef("ended" + mark))
	Label("both" + mark)
	p.add(a, bytes, w, product)
	p.add(b, bytes, w, product)
	INCQ(p.at)
	JNZ(LabelRef("both" + mark))
	Label("ended" + mark)
	TESTQ(a.left, a.left)
	JNZ(LabelRef("second" + mark))
	p.finish(a, factor, inFrame("split"), "throughA"+mark)
	TESTQ(b.left, b.left)
	JNZ(LabelRef("pair" + mark))
	Label("second" + mark)
	p.finish(b, factor, inFrame("rows"), "throughB"+mark)
	JMP(LabelRef("pair" + mark))

	Label("throughA" + mark)
	MOVQ(inFrame("rows"), p.spare)
	MOVQ(p.spare, p.bound)
	JMP(LabelRef("alone" + mark))
	Label("throughB" + mark)
	MOVQ(inFrame("split"), p.spare)
	MOVQ(p.spare, p.bound)
	MOVQ(a.ids, b.ids)
	MOVQ(a.left, b.left)
	MOVQ(a.line, b.line)
	MOVQ(a.dst, b.dst)
	if p.weighted {
		MOVQ(a.val, b.val)
	}
	for i, q := range a.sums {
		VMOVUPS(q.sum, b.sums[i].sum)
	}
	Label("alone" + mark)
	MOVQ(b.left, p.at)
	p.advance(b)
	NEGQ(p.at)
	JZ(LabelRef("finish" + mark))
	Label("one" + mark)
	p.add(b, bytes, w, product)
	INCQ(p.at)
	JNZ(LabelRef("one" + mark))
	Label("finish" + mark)
	p.finish(b, factor, p.bound, "done"+mark)
	JMP(LabelRef("alone" + mark))
	Label("done" + mark)
	VZEROUPPER()
	RET()
}

func (p *pairer) begin(s *stream) {
	from := s.dst
	if p.onto {
		from = GP64()
		MOVQ(s.line, from)
		IMULQ(inFrame("startStride"), from)
		ADDQ(inFrame("start"), from)
	}
	p.gatherer.begin(s.sums, from)
}

// advance emits the move of s to the end of a segment, whose length is in at.
func (p *pairer) advance(s *stream) {
	LEAQ(Mem{Base: s.ids, Index: p.at, Scale: p.idBytes()}, s.ids)
	if p.weighted {
		LEAQ(Mem{Base: s.val, Index: p.at, Scale: uint8(p.size)}, s.val)
	}
}

// named returns the memory operand of the row of x that the id next places after the current entry of s refers to.
func (p *pairer) named(s *stream, next, bytes int) Mem {
	id := GP64()
	p.loadID(Mem{Base: s.ids, Index: p.at, Scale: p.idBytes(), Disp: int(p.idBytes()) * next}, id)
	return rowOf(p.x, id, bytes)
}

func (p *pairer) add(s *stream, bytes int, w, product reg.VecVirtual) {
	if !p.halves {
		PREFETCHT1(p.named(s, pairAhead, bytes))
	}
	if p.weighted {
		p.fill(Mem{Base: s.val, Index: p.at, Scale: uint8(p.size)}, w)
	}
	row := p.named(s, 0, bytes)
	for _, q := range s.sums {
		p.accumulate(q, row.Offset(q.at), w, product)
	}
}

// finish emits the store of the sum of s. The code then continues with the next row of s. If this row is bound, it
// jumps to out.
func (p *pairer) finish(s *stream, factor reg.VecVirtual, bound Mem, out string) {
	if !p.halves {
		MOVQ(inFrame("scale"), p.spare)
		p.fill(Mem{Base: p.spare, Index: s.line, Scale: uint8(p.size)}, factor)
	}
	for _, q := range s.sums {
		p.store(q, factor, Mem{Base: s.dst, Disp: q.at})
	}
	ADDQ(inFrame("dstStride"), s.dst)
	INCQ(s.line)
	CMPQ(s.line, bound)
	JE(LabelRef(out))
	p.begin(s)
	p.measure(s)
}
