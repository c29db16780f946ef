package explain

import (
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// The row of a hub has several pieces, all with important links.
func TestHubLinks(t *testing.T) {
	a := testgraph.Hub()
	n, _ := a.Dims()
	p := contract.ProblemOf(testgraph.Labelled{A: a, Degrees: testgraph.Degrees(t, a), Row: []int{1, 2}, Class: []int{0, 1}, Names: []string{"a", "b"}})
	important := []int{7, n - 1, n / 2, 2*sparse.MaxRange - 1}
	f := &Form{Right: func(row, class int) float64 {
		if class > 0 {
			return 0
		}
		return 1 + float64(1+slices.Index(important, row))
	}}
	left := sparse.NewBlock[float32](n, 1)
	left.Row(0)[0] = 1 // only links of the hub have importance
	for _, workers := range []int{1, 2, 7} {
		list := []Explanation{{Class: 0, Other: 1}}
		if err := addLinks(t.Context(), p, f, left, list, &Settings{Number: 5, Workers: workers, ID: func(int) string { return "" }}); err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, l := range list[0].Links {
			got = append(got, l.Rows[1])
		}
		if want := []int{2*sparse.MaxRange - 1, n / 2, n - 1, 7, 1}; !slices.Equal(got, want) {
			t.Errorf("%d goroutines: links of the hub to %v, want %v", workers, got, want)
		}
	}
}
