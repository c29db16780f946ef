package budget

import (
	"errors"
	"testing"

	"github.com/heatwalk/heatwalk/spec"
)

var list = []spec.Bytes{{What: "graph", Bytes: 300 << 20}, {What: "factor", Bytes: 100 << 20, Optional: true, Row: 64}, {What: "graph", Bytes: 5}}

// A limit that is enough fits the plan and is at most a sixteenth above the least that
// does, which the data of the plan tells.
func TestEnough(t *testing.T) {
	over := func(err error) bool { return errors.Is(err, ErrMemory) }
	within := func(limit int64) (*Needs, error) {
		n := &Needs{Plan: Plan{Limit: Data(limit)}}
		return n, n.ReserveList(list)
	}
	least := Resident(spec.Sum(list))
	enough := Enough(LeastMemory, within, over)
	if _, err := within(enough); err != nil || enough < least || enough > least+least/16+1<<20 {
		t.Errorf("%d is enough, at least %d is: %v", enough, least, err)
	}
	broken := errors.New("broken")
	if got := Enough(LeastMemory, func(int64) (*Needs, error) { return nil, broken }, over); got != 0 {
		t.Errorf("%d is enough for what never fits", got)
	}
	short := func(limit int64) (*Needs, error) { return &Needs{Demand: spec.Demand{Short: limit < 1<<30}}, nil }
	if got := Enough(LeastMemory, short, over); got < 1<<30 || got > 1<<30+1<<26 {
		t.Errorf("%d is enough for all that a run may need, want about %d", got, 1<<30)
	}
}

// As many rows are made at a time as there is room for, and one where there is none.
func TestReserveRows(t *testing.T) {
	for _, c := range []struct {
		limit int64
		want  int
		fits  bool
	}{{0, 9, true}, {100, 9, true}, {69, 6, true}, {9, 1, false}} {
		n := &Needs{Plan: Plan{Limit: c.limit}}
		rows, err := n.ReserveRows(9, 10, "rows")
		if rows != c.want || (err == nil) != c.fits || n.Total() != int64(10*rows) {
			t.Errorf("%+v: %d rows, %v", c, rows, err)
		}
	}
}

// Items have each name once, and add up to the resident memory.
func TestItems(t *testing.T) {
	n := new(Needs)
	if err := n.ReserveList(list); err != nil {
		t.Fatal(err)
	}
	items, resident := n.Items()
	var sum int64
	for _, it := range items {
		sum += it.Bytes
	}
	if len(items) != 3 || items[0].Bytes != 300<<20+5 || !items[1].Perhaps || sum != resident || resident != Resident(spec.Sum(list)) || n.RowBytes != 64 {
		t.Errorf("%+v of %d, rows of %d", items, resident, n.RowBytes)
	}
	if Data(resident) > spec.Sum(list) || Resident(Data(1<<30)) > 1<<30 {
		t.Error("a run within its limit takes more")
	}
	if n.ReleaseList(list); n.Total() != 0 {
		t.Errorf("%d bytes are left", n.Total())
	}
}
