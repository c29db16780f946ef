package ingest

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/heatwalk/heatwalk/ingest/internal/ids"
	"github.com/heatwalk/heatwalk/ingest/internal/sort"
	"github.com/heatwalk/heatwalk/internal/pages"
	"github.com/heatwalk/heatwalk/nodefile"
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
		if int64(top) < max(ids.DenseBits, ids.IDBits*r.ids.Tokens) {
			return r.numberDense(int(top) + 1)
		}
		r.useDict.Store(true)
	}
	r.ids.Words = nil
	if err := r.moveListed(); err != nil {
		return nil, err
	}
	if err := r.makeRoom(r.movedNeeds()); err != nil {
		return nil, err
	}
	batches := make([]ids.Batch, r.workers)
	err := r.eachPart(func(worker int, p *part, code []uint32, weight []float64) error {
		return r.moveToDict(worker, p, code, weight, &batches[worker])
	})
	if err != nil {
		return nil, err
	}
	return r.numberDict()
}

// codes stores the codes of a batch, whose first token stands at the start of chunk
// p.seq.
func (r *run) codes(p *part, code []uint32, text []byte, b *ids.Batch) error {
	p.inDict = true
	if err := r.dict.Codes(code, text, b, position(p.seq)); err != nil {
		return &nodefile.ParseError{File: r.files[p.file].Name, Msg: err.Error(), Err: err}
	}
	return nil
}

// tooMany is the error for more nodes than rows.
func (r *run) tooMany() error {
	return &nodefile.ParseError{File: r.files[0].Name, Msg: fmt.Sprintf("more than %d distinct nodes; nodes are numbered with 32 bits", maxNodes), Err: ids.ErrTooMany}
}

// movedNeeds bounds what the dictionary and the numbering take once all codes that are
// ids are in it.
func (r *run) movedNeeds() int64 {
	n, text, numbers := int64(r.dict.Len()), r.dict.TextBytes(), int64(0)
	for _, p := range r.parts {
		if !p.inDict {
			numbers += 2 * int64(p.edges)
		}
	}
	numbers = min(numbers, int64(r.top)+1)
	n, text = n+numbers, text+maxDigits*numbers
	return ids.DictBytes(n, text) + ids.NumberingBytes(n, text)
}

// moveToDict replaces codes that are ids by codes of the dictionary.
func (r *run) moveToDict(worker int, p *part, code []uint32, weight []float64, b *ids.Batch) error {
	if p.inDict {
		return nil
	}
	b.Reset()
	var digits []byte
	for _, c := range code {
		digits = strconv.AppendUint(digits[:0], uint64(c), 10)
		b.AddCopy(r.dict, 0, digits)
	}
	if err := r.codes(p, code, nil, b); err != nil {
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

// smallDict is how many bytes of a dictionary wait for the collector, which takes longer
// than an ingest of a few lines where it is called.
const smallDict = 1 << 20

// numberDict numbers the ids of the dictionary: those of the list of nodes in
// its order, then the others, by value if all ids are integers and in order of
// first appearance if not.
func (r *run) numberDict() (*shard.Nodes, error) {
	if r.dict.Len() > maxNodes {
		return nil, r.tooMany()
	}
	if err := r.makeRoom(r.dictNeeds()); err != nil {
		return nil, err
	}
	if err := r.fits(0); err != nil {
		return nil, err
	}
	if r.dict.Bytes() > smallDict {
		pages.Collect() // what the dictionary has outgrown
	}
	codes, first, integers := r.dict.InOrder(position(r.seq))
	r.report.IDs = "text"
	listed, _ := slices.BinarySearch(first, position(r.listedParts))
	missing, err := r.missingEnds(codes[:listed])
	if err != nil {
		return nil, err
	}
	if missing != nil {
		codes, listed, integers = r.withoutMissing(codes, listed, missing)
	}
	if integers {
		r.report.IDs = "numeric"
		r.dict.SortIntegers(codes[listed:])
	} else if short, id, ok := r.dict.Alike(codes); ok {
		r.warn(&nodefile.ParseError{Msg: fmt.Sprintf("ids %q and %q both occur and are different nodes", short, id), Fix: "write each integer in one way if they are meant as one"})
	} else if short, id, ok := r.dict.Recoded(codes); ok {
		r.warn(&nodefile.ParseError{Msg: fmt.Sprintf("ids %q and %q both occur: some text is UTF-8 and some is not", short, id), Fix: "convert the latter, for example with iconv -f WINDOWS-1252 -t UTF-8"})
	}
	if several := len(codes) - listed; several > 0 && r.c.Nodes != "" && r.c.UnknownIDs == ErrorUnknown {
		rows := r.dict.Numbers(codes[:listed])
		return nil, r.unlisted(several, func(code uint32) bool { return rows.Of(code) != noRow || slices.Contains(missing, code) }, func(dst []byte, code uint32) []byte {
			return append(dst, r.dict.Key(code)...)
		})
	}
	if r.c.Nodes != "" && r.c.UnknownIDs == SkipUnknown {
		codes = codes[:listed]
	}
	if err := r.mapCodes(r.dict.Numbers(codes).Replace); err != nil {
		return nil, err
	}
	return r.dictionary(codes)
}

// maxDigits is how many digits a number of 32 bits has at most.
const maxDigits = 10

// dictionary returns that of the store for ids in the order of rows.
func (r *run) dictionary(codes []uint32) (*shard.Nodes, error) {
	values := make([]uint64, len(codes))
	increasing := r.report.IDs == "numeric"
	for i, code := range codes {
		if !increasing {
			break
		}
		v, err := strconv.ParseUint(string(r.dict.Key(code)), 10, 64)
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
		size += len(r.dict.Key(code))
		ends[row], byID[row] = uint64(size), uint32(row)
	}
	text := make([]byte, 0, size)
	for _, code := range codes {
		text = append(text, r.dict.Key(code)...)
	}
	r.dict = nil // it is the largest of all that is there
	ids.SortText(byID, func(row uint32) []byte {
		end := ends[row]
		if row == 0 {
			return text[:end]
		}
		return text[ends[row-1]:end]
	})
	return shard.SortedNodes(text, ends, byID), nil
}
