package sched

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// Group is a set of goroutines of one call. A panic in one of them reaches the caller of Wait, whereas a panic in a
// plain goroutine ends the process. The zero value is ready for use.
type Group struct {
	wait  sync.WaitGroup
	mu    sync.Mutex
	first *Panic
}

// Panic is the value with which Wait panics: the first panic of the goroutines.
type Panic struct {
	Value  any
	Stack  []byte
	Lo, Hi int // the panic occurred in the rows Lo ≤ i < Hi, see [InRows]; 0, 0 if not known
}

// Error returns the value as text, without the stack, which is for developers.
func (p *Panic) Error() string { return fmt.Sprint(p.Value) }

func (g *Group) Go(f func()) { g.wait.Go(func() { g.Do(f) }) }

// Do calls f in the goroutine of the caller. If f panics, Do returns and Wait panics.
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

// InRows adds the rows lo ≤ i < hi to a panic in progress, unless it has rows. Code that works on these rows must defer
// InRows.
func InRows(lo, hi int) {
	if r := recover(); r != nil {
		p := caught(r)
		if p.Hi == 0 {
			p.Lo = lo
			p.Hi = hi
		}
		panic(p)
	}
}

func caught(r any) *Panic {
	if p, ok := r.(*Panic); ok {
		return p
	}
	return &Panic{Value: r, Stack: debug.Stack()}
}

// Wait waits for the goroutines. If one of them panicked, Wait panics with a [*Panic].
func (g *Group) Wait() {
	g.wait.Wait()
	if p := g.first; p != nil {
		g.first = nil
		panic(p)
	}
}
