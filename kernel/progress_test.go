package kernel

import "testing"

func TestProgressOfSlabs(t *testing.T) {
	var done, expected int
	c := &slabLog{slabs: 5, progress: func(d, e int) { done, expected = d, e }}
	told := func(d, e int) {
		t.Helper()
		if done != d || expected != e {
			t.Errorf("%d of %d, want %d of %d", done, expected, d, e)
		}
	}
	c.reportAttempt(10, 100)
	told(10, 500)
	c.reportAttempt(120, 100) // more than expected
	told(120, 600)
	c.sweeps = 120 // a new attempt
	c.reportAttempt(1, 150)
	told(121, 870)
	c.sweeps, c.slabSweeps, c.last, c.done = 270, 270, 150, 1
	c.reportAttempt(30, 31)
	told(300, 870)
	c.done, c.slabSweeps, c.sweeps = 4, 720, 720
	c.reportAttempt(200, 210)
	told(920, 920)
}
