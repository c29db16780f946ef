package partition_test

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/heatwalk/heatwalk/partition"
)

func TestRangesAreBalanced(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		lengths := rapid.SliceOf(rapid.Int64Range(0, 50)).Draw(rt, "lengths")
		parts := rapid.IntRange(1, 9).Draw(rt, "parts")
		var total, largest int64
		for _, n := range lengths {
			total += 1 + n
			largest = max(largest, 1+n)
		}
		bounds := partition.Ranges(len(lengths), func(i int) int64 { return lengths[i] }, parts)
		if len(bounds) != parts+1 || bounds[0] != 0 || bounds[parts] != len(lengths) || !slices.IsSorted(bounds) {
			rt.Fatalf("bounds %v of %d rows in %d ranges", bounds, len(lengths), parts)
		}
		for p := range parts {
			var size int64
			for _, n := range lengths[bounds[p]:bounds[p+1]] {
				size += 1 + n
			}
			if limit := total/int64(parts) + largest + 1; size > limit {
				rt.Errorf("range %d of %v has %d rows and entries, more than %d", p, bounds, size, limit)
			}
		}
	})
}

func TestRangesOfEqualRows(t *testing.T) {
	bounds := partition.Ranges(12, func(int) int64 { return 3 }, 4)
	if diff := cmp.Diff([]int{0, 3, 6, 9, 12}, bounds); diff != "" {
		t.Error(diff)
	}
}

// TestGhosts compares the counts with sets of columns.
func TestGhosts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a := drawGraph(rt)
		n, _ := a.Dims()
		parts := rapid.IntRange(1, 6).Draw(rt, "parts")
		bounds := make([]int, parts+1)
		for p := 1; p < parts; p++ {
			bounds[p] = rapid.IntRange(bounds[p-1], n).Draw(rt, "bound")
		}
		bounds[parts] = n
		want := make([]int64, parts)
		for p := range parts {
			seen := map[uint32]bool{}
			for i := bounds[p]; i < bounds[p+1]; i++ {
				for _, j := range neighbours(a, i) {
					seen[j] = int(j) < bounds[p] || int(j) >= bounds[p+1]
				}
			}
			for _, outside := range seen {
				if outside {
					want[p]++
				}
			}
		}
		got, err := partition.Ghosts(context.Background(), a, bounds)
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Errorf("bounds %v: %s", bounds, diff)
		}
	})
}
