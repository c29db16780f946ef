package sort

import (
	"errors"
	"math"
	"sync"
)

// turns visits the finished buckets of workers in order. A worker does not wait for its bucket to be visited:
// it continues with another bucket in other memory. The worker that finishes the next bucket in order visits
// it and all finished buckets that follow.
type turns struct {
	visit func(b *Rows) error

	mu       sync.Mutex
	freed    *sync.Cond
	next     int
	finished map[int]*Rows // not visited yet
	room     []*Rows       // free memory for buckets
	failed   int           // first failed bucket
	err      error
}

var errTurns = errors.New("ingest: an earlier bucket failed")

// newTurns returns turns with memory for spare buckets in addition to the buckets of the workers.
func newTurns(spare int, visit func(b *Rows) error) *turns {
	t := &turns{visit: visit, finished: make(map[int]*Rows), failed: math.MaxInt}
	t.freed = sync.NewCond(&t.mu)
	for range spare {
		t.room = append(t.room, new(Rows))
	}
	return t
}

// pass takes the finished bucket k and returns memory for another bucket, for which it may wait.
func (t *turns) pass(k int, b *Rows) (*Rows, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.finished[k] = b
	for t.err == nil && t.finished[t.next] != nil {
		t.visitNext()
	}
	// A visit of an earlier bucket frees memory. No bucket is visited after a failed one, so that later buckets do not wait.
	for len(t.room) == 0 && t.err == nil && t.failed > max(k, t.next) {
		t.freed.Wait()
	}
	switch {
	case t.err != nil:
		return nil, t.err
	case len(t.room) == 0 && t.failed > k: // no more buckets come
		return new(Rows), nil
	case len(t.room) == 0:
		return nil, errTurns
	}
	last := len(t.room) - 1
	b = t.room[last]
	t.room = t.room[:last]
	return b, nil
}

// visitNext visits the next bucket in order. The mutex is unlocked during the visit.
func (t *turns) visitNext() {
	b := t.finished[t.next]
	delete(t.finished, t.next)
	err := errTurns // kept if visit panics
	defer func() {
		t.mu.Lock()
		t.err = err
		t.next++
		t.room = append(t.room, b)
		t.freed.Broadcast()
	}()
	t.mu.Unlock()
	err = t.visit(b)
}

// piece calls run, which must do all work on bucket k and call pass. If run fails or panics, piece wakes the
// workers that wait for the bucket.
func (t *turns) piece(k int, run func() error) error {
	passed := false
	defer func() {
		if passed {
			return
		}
		t.mu.Lock()
		t.failed = min(t.failed, k)
		t.freed.Broadcast()
		t.mu.Unlock()
	}()
	err := run()
	passed = err == nil
	return err
}
