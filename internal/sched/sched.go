package sched

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// Workers returns n or, if n is not positive, the number of usable processors.
func Workers(n int) int {
	if n > 0 {
		return n
	}
	return runtime.GOMAXPROCS(0)
}

// UpTo returns the numbers 0 … n−1.
func UpTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// Run calls do(worker, piece) once for every piece 0 ≤ piece < pieces, from at most workers goroutines. It returns when
// all goroutines have ended.
//
// Pieces start in increasing order. After an error, or when ctx ends, no further piece starts. Run returns the error of
// the lowest failed piece, so that the error does not depend on the number of workers. If no piece failed, it returns
// the error of the context. At any time, only one goroutine uses a worker number, so that do can keep a buffer for each
// worker. Worker 0 is the calling goroutine. A panic in do stops the other workers and reaches the caller of Run, see
// [Group].
func Run(ctx context.Context, workers, pieces int,
	do func(worker, piece int) error) error {
	workers = min(Workers(workers), pieces)
	q := queue{pieces: pieces, first: pieces}
	if workers == 1 {
		q.work(ctx, 0, do)
	} else {
		var g Group
		for w := 1; w < workers; w++ {
			g.Go(func() { q.work(ctx, w, do) })
		}
		g.Do(func() { q.work(ctx, 0, do) })
		g.Wait()
	}
	if q.err == nil {
		q.err = Cause(ctx)
	}
	return q.err
}

type queue struct {
	pieces int
	next   atomic.Int64
	failed atomic.Bool

	mu    sync.Mutex
	first int
	err   error
}

// work calls do for the next piece until no piece is left, a piece fails or the context ends.
func (q *queue) work(ctx context.Context, worker int,
	do func(worker, piece int) error) {
	ended := false
	defer func() {
		if !ended { // do has panicked
			q.failed.Store(true)
		}
	}()
	for !q.failed.Load() && ctx.Err() == nil {
		piece := int(q.next.Add(1)) - 1
		if piece >= q.pieces {
			break
		}
		if err := do(worker, piece); err != nil {
			q.failed.Store(true)
			q.mu.Lock()
			if piece < q.first {
				q.first = piece
				q.err = err
			}
			q.mu.Unlock()
			break
		}
	}
	ended = true
}
