package sched_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/heatwalk/heatwalk/internal/sched"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestWorkers(t *testing.T) {
	if got := [3]int{sched.Workers(3), sched.Workers(0), sched.Workers(-1)}; got != [3]int{3, runtime.GOMAXPROCS(0), runtime.GOMAXPROCS(0)} {
		t.Error(got)
	}
}

func TestEveryPieceOnce(t *testing.T) {
	for _, workers := range []int{0, 1, 2, 7} {
		for _, pieces := range []int{0, 1, 2, 1000} {
			count := make([]atomic.Int32, pieces)
			busy := make([]atomic.Bool, sched.Workers(workers))
			err := sched.Run(t.Context(), workers, pieces, func(worker, piece int) error {
				if !busy[worker].CompareAndSwap(false, true) {
					t.Errorf("worker %d has two pieces at once", worker)
				}
				count[piece].Add(1)
				busy[worker].Store(false)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			for i := range count {
				if n := count[i].Load(); n != 1 {
					t.Errorf("%d workers: piece %d of %d ran %d times", workers, i, pieces, n)
				}
			}
		}
	}
}

// With one worker, pieces run on the calling goroutine; otherwise the test would race. With w workers, a piece starts
// only if fewer than w pieces below it have not started.
func TestPiecesStartInOrder(t *testing.T) {
	var order []int
	_ = sched.Run(t.Context(), 1, 50, func(_, piece int) error {
		order = append(order, piece)
		return nil
	})
	if len(order) != 50 || !slices.IsSorted(order) {
		t.Errorf("order %v", order)
	}
	const workers = 4
	var mu sync.Mutex
	started := map[int]bool{}
	_ = sched.Run(t.Context(), workers, 500, func(_, piece int) error {
		mu.Lock()
		defer mu.Unlock()
		started[piece] = true
		missing := 0
		for i := range piece {
			if !started[i] {
				missing++
			}
		}
		if missing >= workers {
			t.Errorf("piece %d started before %d others", piece, missing)
		}
		return nil
	})
}

func TestLowestErrorWins(t *testing.T) {
	for _, workers := range []int{1, 2, 7} {
		var gate sync.WaitGroup
		gate.Add(min(workers, 7))
		err := sched.Run(t.Context(), workers, 100, func(_, piece int) error {
			if piece < workers {
				gate.Done()
				gate.Wait()
				return fmt.Errorf("piece %d", piece)
			}
			t.Errorf("piece %d started after an error", piece)
			return nil
		})
		if err == nil || err.Error() != "piece 0" {
			t.Errorf("%d workers: error %v", workers, err)
		}
	}
}

func TestErrorStopsTheRest(t *testing.T) {
	failure := errors.New("failure")
	ran := 0
	err := sched.Run(t.Context(), 1, 100, func(_, piece int) error {
		ran++
		if piece == 3 {
			return failure
		}
		return nil
	})
	if !errors.Is(err, failure) || ran != 4 {
		t.Errorf("%d pieces ran, error %v", ran, err)
	}
}

func TestErrorStopsOtherWorkers(t *testing.T) {
	const pieces = 1_000_000
	failure := errors.New("failure")
	var ran atomic.Int32
	err := sched.Run(t.Context(), 2, pieces, func(_, piece int) error {
		ran.Add(1)
		if piece == 0 {
			return failure
		}
		runtime.Gosched()
		return nil
	})
	if n := ran.Load(); !errors.Is(err, failure) || n == pieces {
		t.Errorf("%d pieces ran, error %v", n, err)
	}
}

func TestCancel(t *testing.T) {
	for _, workers := range []int{1, 2, 7} {
		ctx, cancel := context.WithCancel(t.Context())
		var ran atomic.Int32
		err := sched.Run(ctx, workers, 1000, func(_, piece int) error {
			ran.Add(1)
			if piece == 0 {
				cancel()
			} else {
				<-ctx.Done()
			}
			return nil
		})
		if n := ran.Load(); !errors.Is(err, context.Canceled) || n > int32(workers) {
			t.Errorf("%d workers: %d pieces ran, error %v", workers, n, err)
		}
		if err := sched.Run(ctx, workers, 0, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("nothing to do under a context that is done: error %v", err)
		}
	}
}
