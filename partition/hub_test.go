package partition_test

import (
	"testing"

	"github.com/heatwalk/heatwalk/partition"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// A process with a hub needs the rows of all its neighbours, whichever piece of its row they are in. The rim of a wheel needs
// the hub, and the neighbours of its ends.
func TestHubGhosts(t *testing.T) {
	a := testgraph.Hub()
	n, _ := a.Dims()
	for _, c := range []struct {
		bounds []int
		want   [2]int64
	}{
		{[]int{0, 1, n}, [2]int64{int64(n - 1), 1}},
		{[]int{0, n / 2, n}, [2]int64{int64(n - n/2), 3}},
		{[]int{0, 2, n / 3, n - 1, n}, [2]int64{int64(n/3-2) + 1, 4}},
	} {
		got, err := partition.Ghosts(t.Context(), a, c.bounds, 2)
		if err != nil || [2]int64(got) != c.want {
			t.Errorf("bounds %v: %v, want %v, %v", c.bounds, got, c.want, err)
		}
	}
}
