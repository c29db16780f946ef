package budget

import "testing"

func TestWorkspace(t *testing.T) {
	const n = 100
	solve := Slabs[float64](6, n, 64).And(Workspace{Fixed: 1000, Optional: 5000}) // 4800 bytes a column
	scores := Held(Vector[float64](300))
	both := solve.And(Held(10)).Or(scores)
	for _, c := range []struct {
		limit, required, most Size
		width                 int
	}{
		{0, 308_200, 313_200, 64},
		{400_000, 308_200, 313_200, 64},
		{310_000, 1000 + 60*4800, 1000 + 60*4800 + 5000, 60}, // leaves room for the optional memory
		{21_000, 1000 + 4*4800, 21_000, 4},                   // the least width without room for it
		{10, 1000 + 4800, 1000 + 4800, 1},
	} {
		if got := solve.Width(c.limit); got != c.width {
			t.Errorf("limit %d: width %d, want %d", c.limit, got, c.width)
		}
		if required, most := solve.Required(c.limit), solve.Most(c.limit); required != c.required || most != c.most {
			t.Errorf("limit %d: required %d, most %d; want %d, %d", c.limit, required, most, c.required, c.most)
		}
	}
	if got := both.Required(0); got != 308_210 {
		t.Errorf("two stages: required %d", got)
	}
	if got := both.Required(10); got != 1010+4800 {
		t.Errorf("two stages in a small limit: required %d", got)
	}
	large := solve
	large.Optional = 200_000
	if all, few := large.Enough(), solve.Enough(); all != 508_200 || few != 1000+4*4800+5000 || solve.Most(few) != few {
		t.Errorf("enough: %d with the widest slab, %d if it leaves room", all, few)
	}
	p := Plan{Limit: 310_000}
	if err := p.ReserveJob(solve, nil, "solve"); err != nil || p.Required() != 1000+60*4800 || p.Most() != 1000+60*4800+5000 {
		t.Errorf("plan: required %d, most %d, error %v", p.Required(), p.Most(), err)
	}
}

func TestSlabs(t *testing.T) {
	const n = 200_000
	for columns := range 40 {
		for limit := Size(0); limit < 4*n*40*8; limit += n * 13 {
			doubles, singles := Slabs[float64](3, n, columns), Slabs[float32](3, n, columns)
			if w := doubles.Width(limit); doubles.Required(limit) < Times(3, Block[float64](n, w)) && w > 0 {
				t.Fatalf("float64: %d columns within %d: %d bytes", w, limit, doubles.Required(limit))
			}
			if w := singles.Width(limit); singles.Required(limit) < Times(3, Block[float32](n, w)) && w > 0 {
				t.Fatalf("float32: %d columns within %d: %d bytes", w, limit, singles.Required(limit))
			}
		}
	}
}
