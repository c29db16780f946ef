package partition_test

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/heatwalk/heatwalk/partition"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/sparsetest"
	"github.com/heatwalk/heatwalk/test/testgraph"
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
		ranges := parts * rapid.IntRange(1, 3).Draw(rt, "ranges of a part")
		bounds, owner := make([]int, ranges+1), make([]int, n)
		for k := range ranges {
			bounds[k+1] = n
			if k+1 < ranges {
				bounds[k+1] = rapid.IntRange(bounds[k], n).Draw(rt, "bound")
			}
			for i := bounds[k]; i < bounds[k+1]; i++ {
				owner[i] = k % parts
			}
		}
		want := make([]int64, parts)
		for p := range parts {
			seen := map[uint32]bool{}
			for i := range n {
				if owner[i] == p {
					for _, j := range neighbours(a, i) {
						seen[j] = owner[j] != p
					}
				}
			}
			for _, outside := range seen {
				if outside {
					want[p]++
				}
			}
		}
		got, err := partition.Ghosts(context.Background(), a, bounds, parts)
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Errorf("bounds %v: %s", bounds, diff)
		}
	})
}

// Each process has one range if these have similar numbers of rows, even if one row is long, and else many.
func TestDivide(t *testing.T) {
	const n = 1 << 15
	var path, sorted [][2]int
	for i := 1; i < n; i++ {
		path = append(path, [2]int{i - 1, i})
	}
	for i := 64; i < n; i++ { // 64 rows of many entries first
		for j := range 8 {
			sorted = append(sorted, [2]int{(i + j*8) % 64, i})
		}
	}
	for _, c := range []struct {
		name      string
		edges     [][2]int
		processes int
		ranges    int
	}{{"path", path, 3, 3}, {"sorted by lengths", sorted, 2, 512}} {
		a := graph(t, n, c.edges)
		bounds := partition.Divide(a, c.processes)
		if len(bounds) != c.ranges+1 {
			t.Errorf("%s: %d ranges, want %d", c.name, len(bounds)-1, c.ranges)
		}
		rows, entries := partition.SizesOf(a, bounds, c.processes)
		var sum int64
		for p := range c.processes {
			sum += entries[p]
			if share := float64(rows[p]) * float64(c.processes) / n; share < 0.8 || share > 1.2 {
				t.Errorf("%s: process %d has %v of the mean number of rows", c.name, p, share)
			}
			if share := float64(entries[p]) * float64(c.processes) / float64(a.NNZ()); share < 0.8 || share > 1.2 {
				t.Errorf("%s: process %d has %v of the mean number of entries", c.name, p, share)
			}
		}
		if sum != a.NNZ() {
			t.Errorf("%s: %d entries, want %d", c.name, sum, a.NNZ())
		}
	}
}

// The ghost rows are those of a process of a divided matrix.
func TestGhostsOfProcesses(t *testing.T) {
	a := testgraph.Random(4, 1<<10, 6000, false)
	bounds := partition.Ranges(1<<10, func(i int) int64 { return int64(i % 5) }, 6) // two ranges each
	ghosts, err := partition.Ghosts(t.Context(), a, bounds, 3)
	if err != nil {
		t.Fatal(err)
	}
	err = sparsetest.Processes(3, func(network sparse.Network) error {
		m, err := sparse.Divide(t.Context(), a, sparse.NewDivision(1<<10, network, bounds, nil), 0, 1)
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
