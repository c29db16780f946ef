package ingest

import (
	"errors"
	"math"
	"sync"
)

// turns lets pieces of work that run beside each other act one after the
// other.
type turns struct {
	mu     sync.Mutex
	cond   *sync.Cond
	next   int
	failed int // the first piece that will never act
}

var errTurns = errors.New("ingest: an earlier piece failed")

func newTurns() *turns {
	t := &turns{failed: math.MaxInt}
	t.cond = sync.NewCond(&t.mu)
	return t
}

// do calls act when all pieces before k have acted, or returns an error once
// one of them has failed.
func (t *turns) do(k int, act func() error) error {
	t.mu.Lock()
	for t.next != k && t.failed > k {
		t.cond.Wait()
	}
	failed := t.failed < k
	t.mu.Unlock()
	if failed {
		return errTurns
	}
	if err := act(); err != nil {
		return err
	}
	t.mu.Lock()
	t.next++
	t.cond.Broadcast()
	t.mu.Unlock()
	return nil
}

// piece runs all of piece k, which is to act once. If it does not, by an error
// or a panic, the later pieces are told.
func (t *turns) piece(k int, run func() error) error {
	acted := false
	defer func() {
		if acted {
			return
		}
		t.mu.Lock()
		t.failed = min(t.failed, k)
		t.cond.Broadcast()
		t.mu.Unlock()
	}()
	err := run()
	acted = err == nil
	return err
}
