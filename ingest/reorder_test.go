package ingest

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestRanksByCount(t *testing.T) {
	rng := rand.New(rand.NewPCG(38, 0))
	count := make([]uint32, 5000)
	for i := range count {
		switch i % 3 {
		case 0:
			count[i] = rng.Uint32N(20)
		case 1:
			count[i] = 1<<16 - 3 + rng.Uint32N(6)
		default:
			count[i] = rng.Uint32()
		}
	}
	order := make([]int, len(count))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(count[b], count[a]) })
	rankByCount(count)
	for rank, i := range order {
		if count[i] != uint32(rank) {
			t.Fatalf("rank %d of number %d, want %d", count[i], i, rank)
		}
	}
}
