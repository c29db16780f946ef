package testgraph

import (
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// Hunt makes tests over plans, kills and random files run every case instead of a sample. HEATWALK_HUNT=1 sets it.
var Hunt = os.Getenv("HEATWALK_HUNT") != ""

// Sample returns all items if Hunt is set, and otherwise count of them, in their order. Each run draws other items and
// logs their positions.
func Sample[T any](t testing.TB, count int, items []T) []T {
	t.Helper()
	var drawn []T
	for _, i := range SampleOf(t, count, len(items)) {
		drawn = append(drawn, items[i])
	}
	return drawn
}

// SampleOf returns the positions of a sample of n items.
func SampleOf(t testing.TB, count, n int) []int {
	t.Helper()
	positions := rand.Perm(n)
	if !Hunt && count < n {
		positions = positions[:count]
		t.Logf("a sample of %d items: %v", n, positions)
	}
	slices.Sort(positions)
	return positions
}

// Workers returns numbers of workers whose results must have the same bits: 1, 2 and 7 if Hunt is set, otherwise 1 and
// alternately 2 or 7.
func Workers(turn int) []int {
	switch {
	case Hunt:
		return []int{1, 2, 7}
	case turn%2 == 0:
		return []int{1, 7}
	}
	return []int{1, 2}
}
