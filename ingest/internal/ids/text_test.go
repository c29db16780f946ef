package ids

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestSortIDs sorts ids with long common beginnings, some within others, and
// NULs at their ends.
func TestSortIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{"", "a", "b", "\x00", "\xff", "user_", "12345678", "123456789abcdefg"})
		n := rapid.IntRange(0, 400).Draw(t, "ids")
		ids := make([][]byte, n)
		for i := range ids {
			for range rapid.IntRange(0, 4).Draw(t, "pieces") {
				ids[i] = append(ids[i], piece.Draw(t, "piece")...)
			}
		}
		places := make([]uint32, n)
		for i := range places {
			places[i] = uint32(n - 1 - i)
		}
		SortText(places, func(place uint32) []byte { return ids[place] })
		want := slices.Clone(ids)
		slices.SortFunc(want, bytes.Compare)
		for i, place := range places {
			if !bytes.Equal(ids[place], want[i]) {
				t.Fatalf("id %d is %q, want %q", i, ids[place], want[i])
			}
		}
		slices.Sort(places)
		for i, place := range places {
			if int(place) != i {
				t.Fatalf("place %d is there as %d", i, place)
			}
		}
	})
}
