package ingest

import (
	"cmp"
	"slices"
)

const (
	// stretchEntries is the number of consecutive entries during which the cache keeps the rows of X that
	// were read. In a small matrix a stretch has one entry for stretchColumns columns.
	stretchEntries = 1 << 17
	stretchColumns = 8
	stretchCount   = 8

	// groupColumns is the number of adjacent rows of X that the cache keeps or evicts together.
	groupColumns = 16
)

func stretchLength(cols int) int {
	return min(stretchEntries, cols/stretchColumns)
}

// isOrderFaster predicts whether sweeps are faster with reordered columns. They are if the result of
// [countGroups] falls from given to ideal by at least a third. It falls if few scattered columns have most of
// the entries, as in a social network. It does not fall if neighbouring rows refer to neighbouring columns,
// as in a road network.
func isOrderFaster(given, ideal int) bool { return 3*ideal <= 2*given }

// countGroups returns the number of distinct groups of adjacent columns in a stretch, summed over the
// stretches. This is a measure of the cache misses of a sweep.
func countGroups(stretches [][]uint32, cols int) (n int) {
	seen := make([]uint8, cols/groupColumns+1) // the last stretch with the group, from 1
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

// rankByCount replaces each count by its rank in decreasing order, the earlier of equal counts first. Only
// counts of 65,536 or more, which are few, need extra memory.
func rankByCount(count []uint32) {
	const few = 1 << 16
	var next [few + 1]uint32 // number of each count, later its next rank
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
	slices.SortStableFunc(hubs,
		func(a, b hub) int { return cmp.Compare(b.count, a.count) })
	for rank, h := range hubs {
		count[h.at] = uint32(rank)
	}
}
