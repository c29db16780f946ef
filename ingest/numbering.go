package ingest

import (
	"bytes"
	"cmp"
	"fmt"
	"math/bits"
	"runtime"
	"slices"
	"strconv"

	"github.com/heatwalk/heatwalk/ingest/internal/sort"
	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// noRow stands for a node that has no row. It is above every row.
const noRow = sort.NoRow

// maxNodes is the number of rows a store can have. Tests lower it.
var maxNodes = noRow

// number gives rows to the ids, replaces the codes of all parts by rows, and
// returns the ids by row.
func (r *run) number() (*shard.Nodes, error) {
	if !r.useDict.Load() {
		top := uint32(0)
		for _, p := range r.listed {
			top = max(top, p.top)
		}
		for _, p := range r.parts {
			top = max(top, p.top)
		}
		if int64(top) < max(denseBits, idBits*r.ids.tokens) {
			return r.numberDense(int(top) + 1)
		}
		r.useDict.Store(true)
	}
	r.ids.words = nil
	if err := r.moveListed(); err != nil {
		return nil, err
	}
	if err := r.makeRoom(r.movedNeeds()); err != nil {
		return nil, err
	}
	err := r.eachPart(func(worker int, p *part, code []uint32, weight []float64) error {
		return r.moveToDict(worker, p, code, weight)
	})
	if err != nil {
		return nil, err
	}
	return r.numberDict()
}

// codes stores the codes of a batch, whose first token stands at the start of chunk
// p.seq.
func (r *run) codes(p *part, code []uint32, text []byte, b *batch) error {
	p.inDict = true
	if err := r.dict.codes(code, text, b, position(p.seq, 0)); err != nil {
		return &ParseError{File: r.files[p.file].Name, Msg: err.Error(), Err: err}
	}
	return nil
}

// tooMany is the error for more nodes than rows.
func (r *run) tooMany() error {
	return &ParseError{File: r.files[0].Name, Msg: fmt.Sprintf("more than %d distinct nodes; nodes are numbered with 32 bits", maxNodes), Err: errTooMany}
}

// movedNeeds bounds what the dictionary and the numbering take once all codes that are
// ids are in it.
func (r *run) movedNeeds() int64 {
	ids, text, numbers := int64(r.dict.len()), r.dict.textBytes(), int64(0)
	for _, p := range r.parts {
		if !p.inDict {
			numbers += 2 * int64(p.edges)
		}
	}
	numbers = min(numbers, int64(r.top)+1)
	ids, text = ids+numbers, text+maxDigits*numbers
	return dictBytes(ids, text) + numberingBytes(ids, text)
}

// moveToDict replaces codes that are ids by codes of the dictionary.
func (r *run) moveToDict(worker int, p *part, code []uint32, weight []float64) error {
	if p.inDict {
		return nil
	}
	var b batch
	var digits []byte
	for _, c := range code {
		digits = strconv.AppendUint(digits[:0], uint64(c), 10)
		b.addCopy(r.dict, 0, digits)
	}
	if err := r.codes(p, code, nil, &b); err != nil {
		return err
	}
	if err := r.fits(0); err != nil {
		return err
	}
	if p.spilled == nil {
		return nil
	}
	p.code, p.weight = code, weight
	return r.moveToDisk(worker, p)
}

// numberDict numbers the ids of the dictionary: those of the list of nodes in
// its order, then the others, by value if all ids are integers and in order of
// first appearance if not.
func (r *run) numberDict() (*shard.Nodes, error) {
	if r.dict.len() > maxNodes {
		return nil, r.tooMany()
	}
	if err := r.makeRoom(r.dictNeeds()); err != nil {
		return nil, err
	}
	if err := r.fits(0); err != nil {
		return nil, err
	}
	// What the dictionary has outgrown would otherwise be there beside what numbers
	// its ids.
	runtime.GC()
	codes, first, integers := r.inOrder()
	r.report.IDs = "text"
	listed, _ := slices.BinarySearch(first, position(r.listedParts, 0))
	if integers {
		r.report.IDs = "numeric"
		r.sortIntegers(codes[listed:])
	} else {
		r.warnAlike(codes)
	}
	if err := r.unlisted(codes[listed:], first[listed:]); err != nil {
		return nil, err
	}
	if r.c.Nodes != "" && r.c.UnknownIDs == SkipUnknown {
		codes = codes[:listed]
	}
	if err := r.applyRows(codes); err != nil {
		return nil, err
	}
	return r.dictionary(codes)
}

// inOrder returns the codes of the dictionary in order of first appearance, and
// where that was, and whether all ids are integers.
func (r *run) inOrder() (codes []uint32, first []uint64, integers bool) {
	n := r.dict.len()
	first = make([]uint64, 0, n)
	codes = make([]uint32, 0, n)
	integers = true
	for s := range r.dict.shards {
		d := &r.dict.shards[s]
		for place := range d.len() {
			first = append(first, d.entries[place].first)
			code := uint32(s)<<placeBits | uint32(place)
			codes = append(codes, code)
			integers = integers && table.IsInteger(r.dict.key(code))
		}
	}
	first, codes = sort.Radix(first, make([]uint64, n), codes, make([]uint32, n), 0, uint(bits.Len64(position(r.seq, 0))))
	return codes, first, integers
}

// unlisted returns the error for ids beside the list of nodes, if they are to
// be one. The ids' first positions are in order.
func (r *run) unlisted(codes []uint32, first []uint64) error {
	if r.c.Nodes == "" || r.c.UnknownIDs != ErrorUnknown || len(codes) == 0 {
		return nil
	}
	for _, p := range r.parts {
		if p.seq != int(first[0]>>tokenBits) {
			continue
		}
		code, _, err := r.load(0, p)
		if err != nil {
			return err
		}
		token := int(first[0] & (1<<tokenBits - 1))
		return r.unlistedError(p, token, r.dict.key(code[token]), len(codes))
	}
	return nil
}

// applyRows replaces the codes of all parts by rows: codes[i] becomes i, and
// what is not among them noRow.
func (r *run) applyRows(codes []uint32) error {
	var rows [dictShards][]uint32
	for s := range rows {
		rows[s] = slices.Repeat([]uint32{noRow}, r.dict.shards[s].len())
	}
	for row, code := range codes {
		rows[code>>placeBits][code&(1<<placeBits-1)] = uint32(row)
	}
	return r.mapCodes(func(code []uint32) {
		for j, c := range code {
			code[j] = rows[c>>placeBits][c&(1<<placeBits-1)]
		}
	})
}

// sortIntegers sorts codes by the value of their ids, all of them integers.
func (r *run) sortIntegers(codes []uint32) {
	values := make([]uint64, len(codes))
	for i, code := range codes {
		v, err := strconv.ParseUint(string(r.dict.key(code)), 10, 64)
		if err != nil { // negative, or beyond 64 bits
			slices.SortFunc(codes, func(a, b uint32) int { return compareIntegers(r.dict.key(a), r.dict.key(b)) })
			return
		}
		values[i] = v
	}
	_, sorted := sort.Radix(values, make([]uint64, len(codes)), codes, make([]uint32, len(codes)), 0, 64)
	copy(codes, sorted)
}

// maxDigits is how many digits a number of 32 bits has at most.
const maxDigits = 10

// compareIntegers compares canonical integers of any length.
func compareIntegers(a, b []byte) int {
	switch negA, negB := a[0] == '-', b[0] == '-'; {
	case negA && negB:
		return compareIntegers(b[1:], a[1:])
	case negA:
		return -1
	case negB:
		return 1
	}
	return cmp.Or(cmp.Compare(len(a), len(b)), bytes.Compare(a, b))
}

// dictionary returns that of the store for ids in the order of rows.
func (r *run) dictionary(codes []uint32) (*shard.Nodes, error) {
	values := make([]uint64, len(codes))
	increasing := r.report.IDs == "numeric"
	for i, code := range codes {
		if !increasing {
			break
		}
		v, err := strconv.ParseUint(string(r.dict.key(code)), 10, 64)
		values[i] = v
		increasing = err == nil && (i == 0 || v > values[i-1])
	}
	if increasing {
		return shard.NumericNodes(values), nil
	}
	size := 0
	ends := make([]uint64, len(codes))
	byID := make([]uint32, len(codes))
	for row, code := range codes {
		size += len(r.dict.key(code))
		ends[row], byID[row] = uint64(size), uint32(row)
	}
	text := make([]byte, 0, size)
	for _, code := range codes {
		text = append(text, r.dict.key(code)...)
	}
	r.dict = nil // it is the largest of all that is there
	sortIDs(byID, func(row uint32) []byte {
		end := ends[row]
		if row == 0 {
			return text[:end]
		}
		return text[ends[row-1]:end]
	})
	return shard.SortedNodes(text, ends, byID), nil
}
