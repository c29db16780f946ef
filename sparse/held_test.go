package sparse_test

import (
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
)

// TestTileRoomBytes: the memory of the room is what is planned for it, and one step has
// it at a time.
func TestTileRoomBytes(t *testing.T) {
	const workers = 3
	room := sparse.NewTileRoom(workers)
	if got := sparse.HeldBytes(room, workers+1); got != 0 {
		t.Errorf("%d bytes for more workers than were planned", got)
	}
	got, want := sparse.HeldBytes(room, workers-1), sparse.TileRoomBytes(workers)
	if got > want || got < want-want/64 {
		t.Errorf("%d bytes, planned %d", got, want)
	}
	if got := sparse.HeldBytes(room, workers); got != 0 {
		t.Errorf("%d bytes for a second step", got)
	}
}

// TestHeldPanels: panels of short rows and of weights are not held, nor are any once
// the tiles have proved to get few entries.
func TestHeldPanels(t *testing.T) {
	p := sparse.Panel{Range: sparse.Range{Lo: 10, Hi: 20, Entries: 6400, Pieces: 1}}
	short, weighted := p, p
	short.Entries, weighted.Val = 639, make([]float64, 6400)
	for _, c := range []struct {
		near, seen int
		p          sparse.Panel
		want       bool
	}{
		{0, 0, p, true},
		{0, 0, short, false},
		{0, 0, weighted, false},
		{0, 100_000, p, true},
		{1_000_000, 3_000_001, p, false},
		{1_000_000, 3_000_000, p, true},
	} {
		if got := sparse.Holds(c.near, c.seen, c.p); got != c.want {
			t.Errorf("%d of %d entries in tiles, panel of %d: held %t", c.near, c.seen, c.p.Entries, got)
		}
	}
}
