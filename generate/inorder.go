package generate

import (
	"context"
	"io"
	"sync"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// inOrder writes the texts that block makes, of the blocks 0 ≤ k < blocks, one
// after the other. They are made by workers beside each other; block appends to
// text, which has the memory of an earlier block. A panic in block reaches the
// caller, as a [*sched.Panic].
func inOrder(ctx context.Context, w io.Writer, workers, blocks int, block func(text []byte, k int) []byte) error {
	q := queue{w: w, blocks: blocks}
	q.turn = sync.NewCond(&q.mu)
	var group sched.Group
	for range min(workers, blocks) {
		group.Go(func() {
			ended := false
			defer func() {
				if !ended { // by a panic
					q.fail(errStopped)
				}
			}()
			var text []byte
			for k, more := q.next(ctx); more; k, more = q.next(ctx) {
				text = block(text[:0], k)
				q.write(k, text)
			}
			ended = true
		})
	}
	group.Wait()
	return q.failed
}

// queue hands out blocks and turns to write.
type queue struct {
	w      io.Writer
	blocks int

	mu      sync.Mutex
	turn    *sync.Cond
	begun   int // blocks
	written int
	failed  error // the first error
}

// next returns a block to make.
func (q *queue) next(ctx context.Context) (k int, more bool) {
	if err := ctx.Err(); err != nil {
		q.fail(err)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	k = q.begun
	q.begun++
	return k, q.failed == nil && k < q.blocks
}

// write writes block k when those before it are written.
func (q *queue) write(k int, text []byte) {
	q.mu.Lock()
	for q.written != k && q.failed == nil {
		q.turn.Wait()
	}
	failed := q.failed
	q.mu.Unlock()
	if failed != nil {
		return
	}
	if _, err := q.w.Write(text); err != nil {
		q.fail(err)
		return
	}
	q.mu.Lock()
	q.written++
	q.mu.Unlock()
	q.turn.Broadcast()
}

func (q *queue) fail(err error) {
	q.mu.Lock()
	if q.failed == nil {
		q.failed = err
	}
	q.mu.Unlock()
	q.turn.Broadcast()
}
