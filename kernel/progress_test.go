package kernel

import "testing"

// TestProgressOfSlabs checks that the first slab reports its share of all slabs, in any attempt, and
// that the others are expected to require the sweeps of the last attempt.
func TestProgressOfSlabs(t *testing.T) {
	var done, expected int
	c := &computation{slabs: 5, s: Settings{Progress: func(_ string, d, e int64) { done, expected = int(d), int(e) }}}
	told := func(d, e int) {
		t.Helper()
		if done != d || expected != e {
			t.Errorf("%d of %d, want %d of %d", done, expected, d, e)
		}
	}
	c.progress(10, 100)
	told(10, 500)
	c.progress(120, 100) // more than was expected
	told(120, 600)
	c.sweeps = 120 // another attempt
	c.progress(1, 150)
	told(121, 870)
	c.sweeps, c.before, c.last, c.done = 270, 270, 150, 1
	c.progress(30, 31)
	told(300, 870)
	c.done, c.before, c.sweeps = 4, 720, 720
	c.progress(200, 210)
	told(920, 920)
}
