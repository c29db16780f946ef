package sched

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// longestWait is how long a goroutine that is through waits without sleeping: a
// helper for another call, a caller for its helpers. To wake a processor can take
// a third of a sweep over a small matrix, and such sweeps follow each other
// closely.
const longestWait = 50 * time.Microsecond

// team is the helpers of one call of [Run].
type team struct {
	group      Group
	working    atomic.Int32
	awake      bool        // each has a processor, and waits without sleeping
	processors processors  // processors that the helpers run on, if awake
	asleep     atomic.Bool // the caller is, or will be
	tasks      []*task
}

// start has a helper call f: one that waits for work, or a new one.
func (c *team) start(f func()) {
	c.working.Add(1)
	c.group.wait.Add(1)
	idle.mu.Lock()
	defer idle.mu.Unlock()
	t := &task{team: c, f: f}
	c.tasks = append(c.tasks, t)
	if last := len(idle.helpers) - 1; last >= 0 {
		t.helper = idle.helpers[last]
		idle.helpers = idle.helpers[:last]
		t.helper.task.Store(t)
		return
	}
	t.helper = new(helper)
	t.helper.task.Store(t)
	go t.helper.run()
}

// dismiss takes back the tasks that no helper has begun: the caller has done the
// work alone before these had a processor.
func (c *team) dismiss() {
	idle.mu.Lock()
	defer idle.mu.Unlock()
	for _, t := range c.tasks {
		if t.helper.task.CompareAndSwap(t, nil) {
			idle.helpers = slices.Insert(idle.helpers, 0, t.helper) // those that are awake come first
			c.working.Add(-1)
			c.group.wait.Done()
		}
	}
}

// leave counts a helper out and reports whether it may wait for other work: the
// caller does not need its processor to wake up on.
func (c *team) leave() bool {
	c.group.wait.Done()
	c.working.Add(-1)
	return c.awake && !c.asleep.Load()
}

// wait returns when all helpers have left, and panics as [Group.Wait] does.
func (c *team) wait() {
	if c.working.Load() > 0 {
		c.dismiss()
	}
	if !c.awake || !await(func() bool { return c.working.Load() == 0 }) {
		c.asleep.Store(true)
	}
	c.group.Wait()
}

// task is what a helper does for one team.
type task struct {
	team   *team
	f      func()
	helper *helper
}

// helper is a goroutine that does one task after the other.
type helper struct{ task atomic.Pointer[task] }

// idle are the helpers that may be given a task: they wait for one, or have yet
// to begin.
var idle struct {
	mu      sync.Mutex
	helpers []*helper
}

func (h *helper) run() {
	for {
		if t := h.task.Swap(nil); t != nil {
			if !h.do(t) {
				return
			}
			idle.mu.Lock()
			idle.helpers = append(idle.helpers, h)
			idle.mu.Unlock()
		}
		if !h.wait() {
			return
		}
	}
}

// do does a task and reports whether the helper may wait for another.
func (h *helper) do(t *task) (more bool) {
	defer func() { more = t.team.leave() }()
	if t.team.awake {
		t.team.processors.take()
	}
	t.team.group.Do(t.f)
	return
}

// wait waits for a task, and reports whether the helper has been chosen for one,
// which may have been taken back since.
func (h *helper) wait() bool {
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
	for start := time.Now(); time.Since(start) < longestWait; {
		for range looks {
			if done() {
				return true
			}
		}
	}
	return false
}

// haveProcessors reports whether so many workers have a processor each, so that one
// that waits awake takes it from none of the others.
func haveProcessors(workers int) bool { return workers <= runtime.GOMAXPROCS(0) }
