package partition_test

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/partition"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/sparsetest"
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

// A long row has the entries of all of its ranges, other rows have the mean of their range.
func TestRangesOf(t *testing.T) {
	const n = 1 << 15
	edges := make([][2]int, 0, n-1)
	for i := 1; i < n; i++ {
		edges = append(edges, [2]int{0, i})
	}
	star := graph(t, n, edges)
	if diff := cmp.Diff([]int{0, 1, n / 2, n}, partition.RangesOf(star, 3)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int64{n - 1, n/2 - 1, n / 2}, partition.EntriesOf(star, []int{0, 1, n / 2, n})); diff != "" {
		t.Error(diff)
	}
}

// The ghost rows of a range are those of a process of a divided matrix.
func TestGhostsOfProcesses(t *testing.T) {
	a := testgraph.Random(4, 1<<10, 6000, false)
	bounds := partition.RangesOf(a, 3)
	ghosts, err := partition.Ghosts(t.Context(), a, bounds)
	if err != nil {
		t.Fatal(err)
	}
	err = sparsetest.Processes(3, func(network sparse.Network) error {
		m, err := sparse.Divide(t.Context(), a, sparse.NewDivision(1<<10, network, bounds, nil), 1)
		if err != nil {
			return err
		}
		defer m.Close()
		if want := int64(m.Ghosts()); ghosts[network.Rank()] != want {
			t.Errorf("process %d: %d ghost rows, want %d", network.Rank(), ghosts[network.Rank()], want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
