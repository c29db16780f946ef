package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/heatwalk/heatwalk/ingest/internal/ids"
	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/internal/textio"
	"github.com/heatwalk/heatwalk/nodefile"
)

// parser turns chunks of one file into parts. Each worker has its own.
type parser struct {
	run   *run
	slabs *slabs
	name  string
	file  int
	lay   *layout

	code   []uint32
	weight []float64
	gaps   []uint32
	batch  ids.Batch
	fields table.Fields
}

// errNeedsDict says that a chunk holds an id that is no small canonical
// integer.
var errNeedsDict = errors.New("ids need the dictionary")

// parse reads one chunk. All bad lines are in the part, whose slices are valid
// until the next chunk; the error is one that ends the run.
func (p *parser) parse(chunk *textio.Chunk, seq int) (*part, error) {
	out := &part{seq: seq, file: p.file, first: chunk.First}
	if !p.run.useDict.Load() || p.lay.market != nil {
		err := p.read(out, chunk, false)
		if err == nil {
			return out, nil
		}
		if !errors.Is(err, errNeedsDict) {
			return nil, err
		}
		p.run.useDict.Store(true)
	}
	*out = part{seq: seq, file: p.file, first: chunk.First, inDict: true}
	return out, p.read(out, chunk, true)
}

// read parses a chunk into codes that are the ids, or through the dictionary.
func (p *parser) read(out *part, chunk *textio.Chunk, useDict bool) error {
	p.code, p.gaps = p.slabs.code.Room(2*chunk.Lines), p.gaps[:0]
	if p.lay.weight >= 0 || p.lay.template.Weighted {
		p.weight = p.slabs.weight.Room(chunk.Lines)
	}
	p.batch.Reset()
	text := chunk.Data
	number := chunk.First
	weighted := p.lay.weight >= 0
	edges := 0
	for at := 0; at < len(text); number++ {
		if number >= p.lay.first && p.lay.simple && !useDict {
			at, p.code, p.weight = p.lay.template.Scan(text, at, p.code, p.weight)
			if !weighted { // a third number was passed over
				p.weight = p.weight[:0]
			}
			number += int64(len(p.code)/2 - edges)
			edges = len(p.code) / 2
			if at == len(text) {
				break
			}
		}
		end := at + bytes.IndexByte(text[at:], '\n')
		line := text[at:end]
		if useDict && number >= p.lay.first {
			if source, target, weight, ok := p.lay.cut(line); ok {
				var w float64
				var fault string
				if weighted {
					w, fault = table.ParseWeight(line[weight:])
				}
				if fault == "" && w < textio.MaxExact {
					if weighted {
						p.weight = append(p.weight, w)
					}
					p.batch.Add(p.run.dict, text, at, at+source)
					p.batch.Add(p.run.dict, text, at+source+1, at+target)
					edges++
					at = end + 1
					continue
				}
			}
		}
		if number < p.lay.first || table.IsComment(line) {
			out.stats.comments++
			p.gaps = append(p.gaps, uint32(edges))
			at = end + 1
			continue
		}
		w, err := p.fieldsOf(line, number)
		switch {
		case err != nil || p.lay.market != nil:
		case useDict:
			p.tokens(text, line, at)
		default:
			err = p.integers()
		}
		var bad *nodefile.ParseError
		switch {
		case err == nil:
			for _, i := range [...]int{p.lay.source, p.lay.target} {
				if p.fields.Padded[i] {
					out.stats.pad(number)
				}
			}
			if weighted {
				if textio.Rounded(p.fields.Text[p.lay.weight], w) {
					out.stats.round(number)
				}
				p.weight = append(p.weight, w)
			}
			edges++
		case errors.As(err, &bad):
			out.bad.add(bad)
			p.gaps = append(p.gaps, uint32(edges))
		default:
			return err
		}
		at = end + 1
	}
	out.stats.lines = int64(chunk.Lines)
	if useDict {
		p.code = slices.Grow(p.code, 2*edges)[:2*edges]
		if err := p.run.codes(out, p.code, text, &p.batch); err != nil {
			return err
		}
	}
	out.code, out.gaps, out.weighted = p.code, p.gaps, weighted
	if weighted {
		out.weight = p.weight
	}
	return nil
}

// fieldsOf splits a line and checks it; the ids are left in p.fields, the
// weight is returned.
func (p *parser) fieldsOf(line []byte, number int64) (weight float64, err error) {
	lay, f := p.lay, &p.fields
	fault := func(column int, fix, format string, args ...any) error {
		return &nodefile.ParseError{File: p.name, Line: number, Column: column, Msg: fmt.Sprintf(format, args...), Fix: fix}
	}
	if err := lay.split(f, line); err != nil {
		return 0, fault(0, table.SplitFix(err, fixLine), "%v", err)
	}
	if lay.columns > 0 {
		f.DropEmpty(lay.columns)
	}
	need := max(lay.source, lay.target, lay.weight) + 1
	if len(f.Text) < need || lay.columns > 0 && len(f.Text) != lay.columns {
		fix := fixLine
		if len(f.Text) == 1 && len(bytes.Fields(f.Text[0])) > 1 || bytes.IndexByte(line, table.Comma) >= 0 || bytes.IndexByte(line, table.Semicolon) >= 0 {
			if sep := table.Separator(p.name, line); sep != lay.sep && !(sep == table.Blanks && lay.sep == table.Tab) || len(f.Text) == 1 {
				fix = fmt.Sprintf("the separator of this file is %s (line %d)", table.SeparatorName(lay.sep), lay.line)
			}
		}
		return 0, fault(0, fix, "%s, want %s", table.Counted(len(f.Text), "field"), lay.want())
	}
	for _, i := range [...]int{lay.source, lay.target} {
		if len(f.Text[i]) == 0 {
			return 0, fault(f.Start[i]+1, fixLine, "empty id")
		}
		if bytes.IndexByte(f.Text[i], table.Tab) >= 0 {
			return 0, fault(f.Start[i]+1, fixLine, "%v", table.ErrTab)
		}
	}
	if lay.market != nil {
		weight, bad := lay.market.edge(p, number)
		if bad != nil {
			return 0, bad
		}
		return weight, nil
	}
	if lay.weight < 0 {
		return 1, nil
	}
	text := bytes.Trim(f.Text[lay.weight], table.Blank)
	weight, wrong := table.ParseWeight(text)
	if wrong == "" {
		return weight, nil
	}
	column := f.Start[lay.weight] + 1
	fix := fixLine
	switch {
	case wrong == "is negative":
		return 0, fault(column, "take absolute values or leave such edges out, or pass Config.SkipBadLines", "weight %s is negative; walks and Laplacians need weights ≥ 0", cut(text))
	case table.IsDecimalComma(text):
		fix = "write numbers with a decimal point, or leave the column out with " + lay.withoutWeight()
	case number == lay.line || number == lay.first:
		fix = "fix the line, leave the column out with " + lay.withoutWeight() + ", or pass Config.SkipBadLines"
	}
	return 0, fault(column, fix, "weight %s %s", table.Quoted(text), wrong)
}

// withoutWeight is the flag that leaves the column of weights out.
func (lay *layout) withoutWeight() string {
	return fmt.Sprintf("Config.Fields=%d,%d", lay.source+1, lay.target+1)
}

// integers appends the ids of the line in p.fields as codes.
func (p *parser) integers() error {
	var code [2]uint32
	for k, i := range [...]int{p.lay.source, p.lay.target} {
		v, ok := smallNumber(p.fields.Text[i])
		if !ok {
			return errNeedsDict
		}
		code[k] = v
	}
	p.code = append(p.code, code[:]...)
	return nil
}

// smallNumber returns the value of an id that is a canonical integer of 32
// bits.
func smallNumber(id []byte) (v uint32, ok bool) {
	if len(id) > 10 || !table.IsInteger(id) || id[0] == '-' {
		return 0, false
	}
	wide, _ := strconv.ParseUint(string(id), 10, 64)
	return uint32(wide), wide <= math.MaxUint32
}

// tokens adds the ids of the line at text[at:] to the batch.
func (p *parser) tokens(text, line []byte, at int) {
	for _, i := range [...]int{p.lay.source, p.lay.target} {
		id := p.fields.Text[i]
		if start, ok := p.fields.Shared(i, line); ok {
			p.batch.Add(p.run.dict, text, at+start, at+start+len(id))
		} else {
			p.batch.AddCopy(p.run.dict, len(text), id)
		}
	}
}

// cut returns a number of a message, at most 64 bytes of it.
func cut(b []byte) string { return string(b[:min(len(b), 64)]) }
