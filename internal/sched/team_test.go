package sched

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestHelpersDoNotStay waits until none is left over: they are awake while they
// wait, which must not last.
func TestHelpersDoNotStay(t *testing.T) {
	for range 100 {
		_ = Run(t.Context(), 7, 7, func(int, int) error { return nil })
	}
	for range 1000 {
		idle.mu.Lock()
		left := len(idle.helpers)
		idle.mu.Unlock()
		if left == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Error("helpers wait for ever")
}

// TestManyCalls runs calls beside and inside each other, so that helpers go from
// one to the other and end between.
func TestManyCalls(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	var group sync.WaitGroup
	for caller := range 4 {
		group.Go(func() {
			for i := range 300 {
				var count atomic.Int32
				workers := 1 + (caller+i)%5
				_ = Run(context.Background(), workers, 10, func(int, int) error {
					return Run(context.Background(), 2, 3, func(int, int) error {
						count.Add(1)
						return nil
					})
				})
				if count.Load() != 30 {
					t.Errorf("%d pieces of 30 ran", count.Load())
				}
				if i%50 == 0 {
					time.Sleep(2 * longestWait)
				}
			}
		})
	}
	group.Wait()
}

// TestAwait looks once or for as long as a helper waits.
func TestAwait(t *testing.T) {
	if !await(func() bool { return true }) {
		t.Error("what is done is waited for in vain")
	}
	start := time.Now()
	if await(func() bool { return false }) {
		t.Error("what is never done is taken for done")
	}
	if waited := time.Since(start); waited < longestWait {
		t.Errorf("gave up after %v, before %v", waited, longestWait)
	}
}

// TestCounts: a helper that has left is not counted any more, or every caller would
// sleep at the end of every call.
func TestCounts(t *testing.T) {
	c := &team{awake: true}
	begun := make(chan bool)
	c.start(func() { close(begun) })
	<-begun
	c.wait()
	for range 1000 {
		if c.working.Load() == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d helpers are at work", c.working.Load())
}

// TestGoexit ends helpers in the middle of a piece. The call returns, and the
// next ones have helpers.
func TestGoexit(t *testing.T) {
	for range 100 {
		var started sync.WaitGroup
		started.Add(2)
		err := Run(t.Context(), 2, 2, func(worker, _ int) error {
			started.Done()
			started.Wait() // both work
			if worker == 1 {
				runtime.Goexit()
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// BenchmarkRun shows what a call costs whose pieces take no time.
func BenchmarkRun(b *testing.B) {
	for b.Loop() {
		_ = Run(b.Context(), 0, 100, func(int, int) error { return nil })
	}
}

// TestDismiss: a call does not wait for a helper that never got to run, and a
// later one gives that helper its task.
func TestDismiss(t *testing.T) {
	late := new(helper)
	idle.mu.Lock()
	idle.helpers = append(idle.helpers, late)
	idle.mu.Unlock()

	var count atomic.Int32
	for range 3 {
		if err := Run(t.Context(), 2, 10, func(int, int) error { count.Add(1); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if count.Load() != 30 {
		t.Errorf("%d pieces of 30 ran", count.Load())
	}
	idle.mu.Lock()
	defer idle.mu.Unlock()
	at := slices.Index(idle.helpers, late)
	if at < 0 || late.task.Load() != nil {
		t.Fatalf("the helper is at %d of those that may be given a task, with %v", at, late.task.Load())
	}
	idle.helpers = slices.Delete(idle.helpers, at, at+1)
}
