package sort

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// runTurns finishes the given number of buckets with four workers and returns the panic and the error.
func runTurns(t *testing.T, buckets int, finish func(k int) error, visit func(b *Rows) error) (failure any, err error) {
	t.Helper()
	const workers = 4
	turns := newTurns(workers-1, visit)
	rooms := make([]*Rows, workers)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() { failure = recover() }()
		err = sched.Run(context.Background(), workers, buckets, func(worker, k int) error {
			return turns.piece(k, func() (err error) {
				if rooms[worker] == nil {
					rooms[worker] = new(Rows)
				}
				if err = finish(k); err == nil {
					rooms[worker].Lo = k
					rooms[worker], err = turns.pass(k, rooms[worker])
				}
				return err
			})
		})
	}()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("workers wait for what will never come")
	}
	return failure, err
}

func TestTurns(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	slow := func(k int) error {
		if k%7 == 0 {
			time.Sleep(time.Millisecond)
		}
		return nil
	}
	const buckets = 300
	next := 0
	visit := func(b *Rows) error {
		if b.Lo != next {
			t.Errorf("bucket %d, want %d", b.Lo, next)
		}
		next++
		return nil
	}
	if failure, err := runTurns(t, buckets, slow, visit); err != nil || failure != nil || next != buckets {
		t.Errorf("%d visits, error %v, panic %v", next, err, failure)
	}

	// The first bucket that fails ends the others, and its error is returned.
	next = 0
	wrong, other := errors.New("wrong"), errors.New("other")
	failing := func(k int) error {
		switch {
		case k == 140:
			time.Sleep(10 * time.Millisecond)
			return wrong
		case k > 140:
			return other
		}
		return slow(k)
	}
	if _, err := runTurns(t, buckets, failing, visit); err != wrong || next > 140 {
		t.Errorf("%d visits, error %v", next, err)
	}

	// A failed visit does too.
	for range 20 {
		next = 0
		refuse := func(b *Rows) error {
			if b.Lo == 77 {
				return wrong
			}
			return visit(b)
		}
		if _, err := runTurns(t, buckets, slow, refuse); err != wrong || next != 77 {
			t.Errorf("%d visits, error %v", next, err)
		}
	}
}

func TestPanicEndsTheOthers(t *testing.T) {
	for _, at := range []int{0, 5} {
		stop := func(k int) {
			if k == at {
				time.Sleep(time.Millisecond)
				panic("test")
			}
		}
		last := 0
		inside, _ := runTurns(t, 100, func(k int) error { stop(k); return nil }, func(b *Rows) error { last = b.Lo; return nil })
		if last >= max(at, 1) {
			t.Errorf("bucket %d is visited behind one that panicked", last)
		}
		late := func(k int) error {
			if k == at+1 {
				time.Sleep(20 * time.Millisecond)
			}
			return nil
		}
		visiting, _ := runTurns(t, 100, late, func(b *Rows) error { last = b.Lo; stop(b.Lo); return nil })
		if last != at {
			t.Errorf("bucket %d is visited behind a panic", last)
		}
		for _, got := range []any{inside, visiting} {
			if p, ok := got.(*sched.Panic); !ok || p.Value != "test" {
				t.Errorf("panic %v", got)
			}
		}
	}
}

// Bucket 5 fails while the worker of bucket 4, which has not failed, waits for memory that later buckets use.
func TestNobodyWaitsForAFailedBucket(t *testing.T) {
	for range 20 {
		go4, began := make(chan struct{}), make(chan struct{})
		turns := newTurns(0, func(b *Rows) error {
			if b.Lo == 3 {
				close(began)
				<-go4
			}
			return nil
		})
		turns.next = 3
		waiting := func(k int) bool {
			turns.mu.Lock()
			defer turns.mu.Unlock()
			return turns.finished[k] != nil
		}
		results := map[int]chan error{3: make(chan error, 1), 4: make(chan error, 1), 6: make(chan error, 1)}
		for _, k := range []int{3, 4, 6} {
			go func() {
				results[k] <- turns.piece(k, func() error { _, err := turns.pass(k, &Rows{Lo: k}); return err })
			}()
			if k == 3 {
				<-began
				continue
			}
			for !waiting(k) {
				time.Sleep(time.Millisecond)
			}
		}
		close(go4)
		wrong := errors.New("wrong")
		if err := turns.piece(5, func() error { return wrong }); err != wrong {
			t.Error(err)
		}
		for _, k := range []int{3, 4, 6} {
			select {
			case err := <-results[k]:
				if k < 5 && err != nil || err != nil && err != errTurns {
					t.Errorf("bucket %d: %v", k, err)
				}
			case <-time.After(time.Minute):
				t.Fatalf("who passed bucket %d on waits for what will never come", k)
			}
		}
	}
}
