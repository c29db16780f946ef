package partition

import (
	"slices"

	"github.com/heatwalk/heatwalk/internal/reorder"
)

// byDegree returns the order of decreasing counts; equal counts keep their order. Cost: O(n)
// time, 8 bytes a node.
func byDegree(count []uint32) []uint32 {
	rank := slices.Clone(count)
	order := make([]uint32, len(count))
	reorder.RanksByCount(rank)
	for i, p := range rank {
		order[p] = uint32(i)
	}
	return order
}
