package sched

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// patience is how long a goroutine that is through waits without sleeping: a
// helper for another call, a caller for its helpers. To wake a processor can take
// a third of a sweep over a small matrix, and such sweeps follow each other
// closely.
const patience = 50 * time.Microsecond

// crew is the helpers of one call of [Run].
type crew struct {
	group   Group
	working atomic.Int32
	patient bool        // each has a processor
	places  processors  // where they are, if patient
	asleep  atomic.Bool // the caller is, or will be
}

// start has a helper call f: one that waits for work, or a new one.
func (c *crew) start(f func()) {
	c.working.Add(1)
	c.group.wait.Add(1)
	t := &task{c, f}
	idle.mu.Lock()
	defer idle.mu.Unlock()
	if last := len(idle.helpers) - 1; last >= 0 {
		idle.helpers[last].task.Store(t)
		idle.helpers = idle.helpers[:last]
		return
	}
	h := new(helper)
	h.task.Store(t)
	go h.run()
}

// leave counts a helper out and reports whether it may wait for other work: the
// caller does not need its processor to wake up on.
func (c *crew) leave() bool {
	c.group.wait.Done()
	c.working.Add(-1)
	return c.patient && !c.asleep.Load()
}

// wait returns when all helpers have left, and panics as [Group.Wait] does.
func (c *crew) wait() {
	if !c.patient || !await(func() bool { return c.working.Load() == 0 }) {
		c.asleep.Store(true)
	}
	c.group.Wait()
}

// task is what a helper does for one crew.
type task struct {
	crew *crew
	f    func()
}

// helper is a goroutine that does one task after the other.
type helper struct{ task atomic.Pointer[task] }

// idle are the helpers that wait for work; who takes one out gives it a task.
var idle struct {
	mu      sync.Mutex
	helpers []*helper
}

func (h *helper) run() {
	for h.do(h.task.Swap(nil)) && h.wait() {
	}
}

// do does a task and reports whether the helper may wait for another.
func (h *helper) do(t *task) (more bool) {
	defer func() { more = t.crew.leave() }()
	if t.crew.patient {
		t.crew.places.take()
	}
	t.crew.group.Do(t.f)
	return
}

// wait waits for a task and reports whether there is one.
func (h *helper) wait() bool {
	idle.mu.Lock()
	idle.helpers = append(idle.helpers, h)
	idle.mu.Unlock()
	if await(func() bool { return h.task.Load() != nil }) {
		return true
	}
	idle.mu.Lock()
	defer idle.mu.Unlock()
	i := slices.Index(idle.helpers, h)
	if i >= 0 {
		idle.helpers = slices.Delete(idle.helpers, i, i+1)
	}
	return i < 0
}

// await returns true once done does, and false if that takes too long.
func await(done func() bool) bool {
	const looks = 64 // for each look at the clock
	for start := time.Now(); time.Since(start) < patience; {
		for range looks {
			if done() {
				return true
			}
		}
	}
	return false
}

// patient reports whether so many workers have a processor each, so that one
// that waits awake takes it from none of the others.
func patient(workers int) bool { return workers <= runtime.GOMAXPROCS(0) }
