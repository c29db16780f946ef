package sparse

import (
	"slices"
	"testing"
)

func TestFindSides(t *testing.T) {
	var entries []Triplet
	for _, e := range []struct {
		u, v uint32
		w    float64
	}{{0, 2, 1}, {2, 3, -2}, {3, 0, -1}, {1, 4, 1}, {4, 5, 1}, {1, 5, -1}, {6, 6, -1}} {
		entries = append(entries, Triplet{e.u, e.v, e.w})
		if e.u != e.v {
			entries = append(entries, Triplet{e.v, e.u, e.w})
		}
	}
	a, err := FromTriplets(8, 8, entries)
	if err != nil {
		t.Fatal(err)
	}
	for sign, want := range map[float64][]float64{1: {1, 0, 1, -1, 0, 0, 0, 1}, -1: {0, 1, 0, 0, -1, 1, 1, 1}} {
		got, err := FindSides(t.Context(), a, sign, 2)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("sides of %v·A: %v, %v, want %v", sign, got, err, want)
		}
	}
}
