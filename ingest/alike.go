package ingest

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/heatwalk/heatwalk/internal/table"
)

// Ids that differ in leading zeros only are different nodes, which is seldom
// meant: the first one with such zeros, in the order of the input, is warned of
// if the same without them is there too.

// unpadded returns an id without its leading zeros if that is another one, a
// number as a program prints it; or else nil.
func unpadded(id []byte) []byte {
	if len(id) < 2 || id[0] != '0' {
		return nil
	}
	short := bytes.TrimLeft(id[:len(id)-1], "0")
	short = id[len(id)-1-len(short):]
	if !table.IsInteger(short) {
		return nil
	}
	return short
}

func (r *run) warnOfPair(short, id []byte) {
	r.warn(fmt.Sprintf("ids %q and %q both occur and are kept apart", short, id))
}

// warnAlike warns of such ids among those of the dictionary, whose codes are in
// order of first appearance.
func (r *run) warnAlike(codes []uint32) {
	for _, code := range codes {
		id := r.dict.key(code)
		short := unpadded(id)
		if short == nil {
			continue
		}
		if _, ok := r.dict.lookup(short); ok {
			r.warnOfPair(short, id)
			return
		}
	}
}

// pairs finds such ids while all ids pass in increasing order: those with zeros
// come before those without, but for 0 itself.
type pairs struct {
	padded []paddedID
	sorted bool
	zero   bool // 0 is an id

	first     uint64 // where the first pair appeared
	short, id []byte // nil if there is none
}

// paddedID is an id with leading zeros.
type paddedID struct {
	short uint64 // hash of it without them
	zeros int
	first uint64
}

// add takes the next id and where it appeared first.
func (p *pairs) add(id []byte, first uint64) {
	if short := unpadded(id); short != nil {
		p.padded = append(p.padded, paddedID{hashOf(short), len(id) - len(short), first})
		if p.zero && len(short) == 1 && short[0] == '0' {
			p.found(short, len(id)-1, first)
		}
		return
	}
	if !table.IsInteger(id) {
		return
	}
	p.zero = p.zero || len(id) == 1 && id[0] == '0'
	if id[0] == '0' || len(p.padded) == 0 {
		return
	}
	if !p.sorted {
		slices.SortFunc(p.padded, func(a, b paddedID) int {
			return cmp.Or(cmp.Compare(a.short, b.short), cmp.Compare(a.first, b.first))
		})
		p.sorted = true
	}
	hash := hashOf(id)
	i, ok := slices.BinarySearchFunc(p.padded, hash, func(a paddedID, h uint64) int { return cmp.Compare(a.short, h) })
	if ok {
		p.found(id, p.padded[i].zeros, p.padded[i].first)
	}
}

// found keeps a pair if it is the first one.
func (p *pairs) found(short []byte, zeros int, first uint64) {
	if p.id == nil || first < p.first {
		p.first = first
		p.id = append(bytes.Repeat([]byte{'0'}, zeros), short...)
		p.short = p.id[zeros:]
	}
}
