package sched

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestKeepFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(0, 5).Draw(t, "limit")
		compare := func(a, b [2]int) int { return cmp.Compare(a[0], b[0]) }
		var all, list [][2]int
		for i, key := range rapid.SliceOf(rapid.IntRange(0, 4)).Draw(t, "keys") {
			all = append(all, [2]int{key, i})
			list = KeepFirst(list, [2]int{key, i}, limit, compare)
		}
		slices.SortStableFunc(all, compare)
		if want := all[:min(limit, len(all))]; !slices.Equal(list, want) {
			t.Errorf("%v, want %v", list, want)
		}
	})
}
