package lines

import (
	"math/bits"
	"slices"
	"strconv"

	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/ingest/internal/sort"
)

// InOrder returns the codes of all ids in the order of first appearance, and the positions of first
// appearance, which must be below limit. It reports whether all ids are integers.
func (d *Dict) InOrder(limit uint64) (codes []uint32, first []uint64, integers bool) {
	n := d.Len()
	first = make([]uint64, 0, n)
	codes = make([]uint32, 0, n)
	integers = true
	for i := range d.shards {
		s := &d.shards[i]
		for place := range s.len() {
			first = append(first, s.entries[place].first)
			code := uint32(i)<<placeBits | uint32(place)
			codes = append(codes, code)
			integers = integers && table.IsInteger(d.Key(code))
		}
	}
	first, codes = sort.Radix(first, make([]uint64, n), codes, make([]uint32, n), 0,
		uint(bits.Len64(limit)))
	return codes, first, integers
}

// Numbers maps the codes of a dictionary to numbers.
type Numbers [dictShards][]uint32

// Numbers returns a map from codes[i] to i. It maps all other codes to [sort.NoRow].
func (d *Dict) Numbers(codes []uint32) *Numbers {
	var n Numbers
	for s := range n {
		n[s] = slices.Repeat([]uint32{sort.NoRow}, d.shards[s].len())
	}
	for i, code := range codes {
		n[code>>placeBits][code&(1<<placeBits-1)] = uint32(i)
	}
	return &n
}

func (n *Numbers) Of(code uint32) uint32 {
	return n[code>>placeBits][code&(1<<placeBits-1)]
}

func (n *Numbers) Replace(code []uint32) {
	for i, c := range code {
		code[i] = n.Of(c)
	}
}

// SortIntegers sorts codes by the values of their ids, which must be integers.
func (d *Dict) SortIntegers(codes []uint32) {
	values := make([]uint64, len(codes))
	for i, code := range codes {
		v, err := strconv.ParseUint(string(d.Key(code)), 10, 64)
		if err != nil { // negative, or more than 64 bits
			slices.SortFunc(codes,
				func(a, b uint32) int { return table.CompareIntegers(d.Key(a), d.Key(b)) })
			return
		}
		values[i] = v
	}
	_, sorted := sort.Radix(values, make([]uint64, len(codes)), codes,
		make([]uint32, len(codes)), 0, 64)
	copy(codes, sorted)
}
