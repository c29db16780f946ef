// Package reorder ranks the rows of a store by falling counts of their entries, and predicts
// whether sweeps gain from that order.
package reorder

import (
	"cmp"
	"slices"
)

const (
	// A stretch of so many entries is what a cache outlives, one for so many columns
	// of a small matrix. Stretches are looked at in some places of the matrix.
	StretchEntries = 1 << 17
	stretchColumns = 8
	Stretches      = 8

	// groupColumns are what a cache holds or does not as a whole.
	groupColumns = 16
)

// Stretch returns how many entries a stretch has of a matrix of so many columns.
func Stretch(cols int) int { return min(StretchEntries, cols/stretchColumns) }

// Pays tells whether steps gain from another order of the columns: the entries of a
// stretch would name by a third fewer groups of neighbouring columns. They do where few
// columns have most of the entries and are scattered among the others, and not where rows of
// a neighbourhood name neighbouring columns. See [Groups].
func Pays(given, ideal int) bool { return 3*ideal <= 2*given }

// Groups counts the groups of columns that stretches name, each once a stretch.
func Groups(stretches [][]uint32, cols int) (n int) {
	seen := make([]uint8, cols/groupColumns+1) // the last stretch that named it, from 1
	for i, ids := range stretches {
		for _, c := range ids {
			if g := &seen[c/groupColumns]; *g != uint8(i+1) {
				*g = uint8(i + 1)
				n++
			}
		}
	}
	return n
}

// RanksByCount replaces each count by its rank among falling counts: how
// many are larger, or as large and come before. Cost: O(n) time, and memory for
// counts of 65,536 or more alone.
func RanksByCount(count []uint32) {
	const few = 1 << 16
	var next [few + 1]uint32 // first how many there are of each count, then the next rank
	type hub struct{ at, count uint32 }
	var hubs []hub
	for i, n := range count {
		if n < few {
			next[n]++
		} else {
			hubs = append(hubs, hub{uint32(i), n})
		}
	}
	ranks := uint32(len(hubs))
	for n := few - 1; n >= 0; n-- {
		next[n], ranks = ranks, ranks+next[n]
	}
	for i, n := range count {
		if n < few {
			count[i] = next[n]
			next[n]++
		}
	}
	slices.SortStableFunc(hubs, func(a, b hub) int { return cmp.Compare(b.count, a.count) })
	for rank, h := range hubs {
		count[h.at] = uint32(rank)
	}
}
