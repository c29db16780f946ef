package shift

import (
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/test/contract"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// The row of a hub has several pieces. Of equally near labels the first columns count.
func TestHub(t *testing.T) {
	a := testgraph.Hub()
	n, _ := a.Dims()
	p := contract.ProblemOf(testgraph.Labelled{A: a, Degrees: testgraph.Degrees(t, a), Row: []int{n / 4, n / 2, n - 2}, Class: []int{0, 1, 1}, Names: []string{"a", "b"}})
	for _, workers := range []int{1, 2, 7} {
		for range 5 {
			f, err := nearestLabels(t.Context(), p, workers, new(graph.Work))
			if err != nil {
				t.Fatal(err)
			}
			if f.at(0, 0) != reachOf(0, 1) || f.at(1, 0) != reachOf(1, 1) || f.at(0, 5) != reachOf(0, 2) {
				t.Fatalf("%d goroutines: %v, %v, %v", workers, f.at(0, 0), f.at(1, 0), f.at(0, 5))
			}
		}
	}
}
