package sched

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// Workers returns n, or the number of usable processors when n is not positive.
func Workers(n int) int {
	if n > 0 {
		return n
	}
	return runtime.GOMAXPROCS(0)
}

// Run calls do(worker, piece) once for every piece 0 ≤ piece < pieces, from at
// most workers goroutines, and returns when all of them have ended.
//
// Pieces start in increasing order. After the first error, or once ctx is done,
// no further piece starts; the error of the lowest failed piece is returned, or
// else the context's. A worker number is in use by one goroutine at a time, so
// buffers may be kept per worker. With one worker everything runs on the
// calling goroutine.
func Run(ctx context.Context, workers, pieces int, do func(worker, piece int) error) error {
	workers = min(Workers(workers), pieces)
	var (
		next   atomic.Int64
		failed atomic.Bool
		mu     sync.Mutex
		first  = pieces
		err    error
	)
	work := func(worker int) {
		for !failed.Load() && ctx.Err() == nil {
			piece := int(next.Add(1)) - 1
			if piece >= pieces {
				return
			}
			if e := do(worker, piece); e != nil {
				failed.Store(true)
				mu.Lock()
				if piece < first {
					first, err = piece, e
				}
				mu.Unlock()
				return
			}
		}
	}
	if workers == 1 {
		work(0)
	} else {
		var group sync.WaitGroup
		for w := range workers {
			group.Go(func() { work(w) })
		}
		group.Wait()
	}
	if err == nil {
		err = ctx.Err()
	}
	return err
}
