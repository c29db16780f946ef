package partition

import (
	"cmp"
	"slices"
)

// Degree returns the order of falling counts, by which hubs come first; equal
// counts keep their order. Cost: O(n) time, 8 bytes a node.
func Degree(count []uint32) []uint32 {
	place, order := slices.Clone(count), make([]uint32, len(count))
	DegreePlaces(place)
	for i, p := range place {
		order[p] = uint32(i)
	}
	return order
}

// DegreePlaces replaces each count by its place in the order of [Degree]: how many
// counts are larger, or as large and come before. Cost: O(n) time, and memory for
// counts of 65,536 or more alone.
func DegreePlaces(count []uint32) {
	const few = 1 << 16
	var next [few + 1]uint32 // first how many there are of each count, then the next place
	type hub struct{ at, count uint32 }
	var hubs []hub
	for i, n := range count {
		if n < few {
			next[n]++
		} else {
			hubs = append(hubs, hub{uint32(i), n})
		}
	}
	places := uint32(len(hubs))
	for n := few - 1; n >= 0; n-- {
		next[n], places = places, places+next[n]
	}
	for i, n := range count {
		if n < few {
			count[i] = next[n]
			next[n]++
		}
	}
	slices.SortStableFunc(hubs, func(a, b hub) int { return cmp.Compare(b.count, a.count) })
	for place, h := range hubs {
		count[h.at] = uint32(place)
	}
}
