package sched

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// Group is a set of goroutines that belong to one call. Unlike a panic in a
// plain goroutine, which ends the process, one in a group reaches the caller
// of Wait, who can report it. The zero value is ready for use.
type Group struct {
	wait  sync.WaitGroup
	mu    sync.Mutex
	first *Panic
}

// Panic is what Wait panics with: the first panic among the goroutines.
type Panic struct {
	Value  any    // what the goroutine panicked with
	Stack  []byte // where
	Lo, Hi int    // the rows lo ≤ i < hi that it worked on, see [InRows]; 0, 0 if not known
}

// Error returns the value alone; the stack is for developers.
func (p *Panic) Error() string { return fmt.Sprint(p.Value) }

// Go calls f on a goroutine of its own.
func (g *Group) Go(f func()) { g.wait.Go(func() { g.Do(f) }) }

// Do calls f on the goroutine of the caller, who must call Wait all the same.
func (g *Group) Do(f func()) {
	defer func() {
		if r := recover(); r != nil {
			p := caught(r)
			g.mu.Lock()
			defer g.mu.Unlock()
			if g.first == nil {
				g.first = p
			}
		}
	}()
	f()
}

// InRows is deferred by work on the rows lo ≤ i < hi: it tells a panic on its way
// to the caller which they were.
func InRows(lo, hi int) {
	if r := recover(); r != nil {
		p := caught(r)
		if p.Hi == 0 {
			p.Lo, p.Hi = lo, hi
		}
		panic(p)
	}
}

// caught returns r, what was recovered, as a Panic.
func caught(r any) *Panic {
	if p, ok := r.(*Panic); ok {
		return p
	}
	return &Panic{Value: r, Stack: debug.Stack()}
}

// Wait returns when all goroutines have ended, and panics with a [*Panic] if
// one of them did.
func (g *Group) Wait() {
	g.wait.Wait()
	if p := g.first; p != nil {
		g.first = nil
		panic(p)
	}
}
