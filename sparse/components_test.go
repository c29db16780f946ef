package sparse_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func componentsByHand(n int, entries []sparse.Triplet) []uint32 {
	of := make([]uint32, n)
	for i := range of {
		of[i] = uint32(i)
	}
	for changed := true; changed; {
		changed = false
		for _, e := range entries {
			if a, b := of[e.Row], of[e.Col]; e.Val != 0 && a != b {
				of[e.Row], of[e.Col] = min(a, b), min(a, b)
				changed = true
			}
		}
	}
	number := map[uint32]uint32{}
	for i, root := range of {
		if _, seen := number[root]; !seen {
			number[root] = uint32(len(number))
		}
		of[i] = number[root]
	}
	return of
}

func TestFindComponents(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 0))
	all := sched.UpTo(100)
	for _, links := range []int{0, 20, 60, 100, 400} {
		const n = 100
		var entries []sparse.Triplet
		for range links {
			// One direction only, and some entries that join nothing.
			e := sparse.Triplet{Row: uint32(rng.IntN(n)), Col: uint32(rng.IntN(n)), Val: float64(rng.IntN(3))}
			if !slices.ContainsFunc(entries, func(o sparse.Triplet) bool { return o.Row == e.Row && o.Col == e.Col }) {
				entries = append(entries, e)
			}
		}
		want := componentsByHand(n, entries)
		a, err := sparse.FromTriplets(n, n, entries)
		if err != nil {
			t.Fatal(err)
		}
		both, err := sparse.Sum(t.Context(), a, a.Transpose(), 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, workers := range []int{1, 2, 7} {
			got, err := sparse.FindComponents(context.Background(), a, workers)
			if err != nil {
				t.Fatal(err)
			}
			symmetric, err := sparse.FindComponentsInOrder(t.Context(), both, true, slices.Values(all), workers)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(got, symmetric); diff != "" {
				t.Errorf("%d links, %d workers, symmetric: %s", links, workers, diff)
			}
			if diff := cmp.Diff(want, got.Of); diff != "" {
				t.Errorf("%d links, %d workers: %s", links, workers, diff)
			}
			for c, size := range got.Sizes {
				count := 0
				for _, of := range want {
					if int(of) == c {
						count++
					}
				}
				if size != count {
					t.Errorf("component %d has size %d, want %d", c, size, count)
				}
			}
		}
	}
}

func TestFindComponentsInOrder(t *testing.T) {
	const n = 5000
	rng := rand.New(rand.NewPCG(5, 0))
	var entries []sparse.Triplet
	for i := range n {
		if j := rng.IntN(n); i != j {
			entries = append(entries, sparse.Triplet{Row: uint32(i), Col: uint32(j), Val: 1})
		}
	}
	a, err := sparse.FromTriplets(n, n, entries)
	if err != nil {
		t.Fatal(err)
	}
	order, number := rng.Perm(n), map[uint32]uint32{}
	want := componentsByHand(n, entries)
	for _, i := range order {
		if _, seen := number[want[i]]; !seen {
			number[want[i]] = uint32(len(number))
		}
	}
	for i := range want {
		want[i] = number[want[i]]
	}
	one, err := sparse.FindComponentsInOrder(t.Context(), a, false, slices.Values(order), 2)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, one.Of); diff != "" {
		t.Fatal(diff)
	}
	for _, size := range []int{2, 3, 5} {
		bounds := []int{0}
		for k := range 2 * size {
			bounds = append(bounds, n*(k+1)/(2*size))
		}
		err := testgraph.Processes(size, func(network sparse.Network) error {
			d := sparse.NewDivision(n, network, bounds, []int{17, 4000})
			m, err := sparse.Divide(t.Context(), a, d, 0, 1)
			if err != nil {
				return err
			}
			defer m.Close()
			got, err := sparse.FindComponentsInOrder(t.Context(), m, false, slices.Values(order), 2)
			if err != nil {
				return err
			}
			for local, row := range d.Team.Rows {
				if !d.Team.IsPadding(local) && got.Of[local] != want[row] {
					return fmt.Errorf("row %d is in component %d, want %d", row, got.Of[local], want[row])
				}
			}
			if !slices.Equal(got.Sizes, one.Sizes) {
				return fmt.Errorf("sizes %v, want %v", got.Sizes, one.Sizes)
			}
			return nil
		})
		if err != nil {
			t.Errorf("%d processes: %v", size, err)
		}
	}
}
