package partition_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/heatwalk/heatwalk/partition"
	"github.com/heatwalk/heatwalk/sparse"
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
		rows := make([]int, c.processes)
		entries := make([]int, c.processes)
		for k := range c.ranges {
			p := k % c.processes
			rows[p] += bounds[k+1] - bounds[k]
			for i := bounds[k]; i < bounds[k+1]; i++ {
				entries[p] += len(neighbours(a, i))
			}
		}
		for p := range c.processes {
			if share := float64(rows[p]) * float64(c.processes) / n; share < 0.8 || share > 1.2 {
				t.Errorf("%s: process %d has %v of the mean number of rows", c.name, p, share)
			}
			if share := float64(entries[p]) * float64(c.processes) / float64(a.NNZ()); share < 0.8 || share > 1.2 {
				t.Errorf("%s: process %d has %v of the mean number of entries", c.name, p, share)
			}
		}
	}
}

func countGhosts(a *sparse.CSR, bounds []int, processes int) []int {
	n, _ := a.Dims()
	owner := make([]int, n)
	for k := range len(bounds) - 1 {
		for i := bounds[k]; i < bounds[k+1]; i++ {
			owner[i] = k % processes
		}
	}
	ghosts := make([]int, processes)
	for p := range processes {
		seen := make([]bool, n)
		for i := range n {
			if owner[i] != p {
				continue
			}
			for _, j := range neighbours(a, i) {
				if owner[j] != p && !seen[j] {
					seen[j] = true
					ghosts[p]++
				}
			}
		}
	}
	return ghosts
}

// A process with a hub needs the rows of all neighbours of the hub, whichever piece of the hub's row they are in.
func TestGhostsOfProcesses(t *testing.T) {
	hub := testgraph.Hub()
	n, _ := hub.Dims()
	for _, c := range []struct {
		name      string
		a         *sparse.CSR
		bounds    []int
		processes int
	}{
		{"random", testgraph.Random(4, 1<<10, 6000, false), partition.Ranges(1<<10, func(i int) int64 { return int64(i % 5) }, 6), 3},
		{"hub alone", hub, []int{0, 1, n}, 2},
		{"hub with half of the rim", hub, []int{0, n / 2, n}, 2},
		{"two ranges each", hub, []int{0, 2, n / 3, n - 1, n}, 2},
	} {
		ghosts := countGhosts(c.a, c.bounds, c.processes)
		rows, _ := c.a.Dims()
		err := testgraph.Processes(c.processes, func(network sparse.Network) error {
			m, err := sparse.Divide(t.Context(), c.a, sparse.NewDivision(rows, network, c.bounds, nil), 0, 1)
			if err != nil {
				return err
			}
			defer m.Close()
			if want := ghosts[network.Rank()]; m.Ghosts() != want {
				t.Errorf("%s: process %d: %d ghost rows, want %d", c.name, network.Rank(), m.Ghosts(), want)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
