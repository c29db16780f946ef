package budget

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Pool shares a limit of memory among jobs that compute at the same time on the same data, and limits their number. Jobs
// enter in the order in which they ask. Many goroutines may use it.
type Pool struct {
	mu      sync.Mutex
	limit   int64    // bytes; 0: none
	jobs    int      // that compute at the same time; 0: any number
	data    int64    // the largest data of the jobs that compute
	used    int64    // by the jobs that compute
	running int      // number of these
	queue   []*claim // in the order of entering
	closed  error    // of jobs that wait; nil: not closed
}

// claim is the request of a job that waits.
type claim struct {
	data, bytes int64
	answer      chan error // has an element as soon as the job has entered or is refused
}

// NewPool returns a pool of a number of bytes, for a number of jobs at the same time. 0 means no limit.
func NewPool(limit int64, jobs int) *Pool { return &Pool{limit: limit, jobs: jobs} }

// Enter waits until a job may compute that takes bytes in addition to the data, which all jobs share. If it returns no error,
// Leave must be called once with the same bytes. The error is the cause of the end of ctx, the error of [Pool.Close], or an
// [*Error] if the job would not fit alone.
func (p *Pool) Enter(ctx context.Context, data, bytes int64) error {
	c := &claim{data, bytes, make(chan error, 1)}
	p.mu.Lock()
	p.queue = append(p.queue, c)
	p.admit()
	p.mu.Unlock()
	select {
	case err := <-c.answer:
		return err
	case <-ctx.Done():
	}
	p.mu.Lock()
	i := slices.Index(p.queue, c)
	if i >= 0 {
		p.queue = slices.Delete(p.queue, i, i+1)
		p.admit() // the jobs behind it may be smaller
	}
	p.mu.Unlock()
	if i < 0 && <-c.answer == nil {
		p.Leave(bytes)
	}
	err := context.Cause(ctx)
	if !errors.Is(err, ctx.Err()) {
		err = fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	return err
}

// Leave returns the bytes of a job that has ended.
func (p *Pool) Leave(bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used -= bytes
	p.running--
	if p.running == 0 {
		p.data = 0 // the next claim knows better
	}
	p.admit()
}

// Close ends the waiting of all jobs with an error.
func (p *Pool) Close(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = err
	p.admit()
}

// admit answers the claims at the head of the queue that need not wait.
func (p *Pool) admit() {
	for len(p.queue) > 0 {
		c := p.queue[0]
		data := max(p.data, c.data)
		need := data + c.bytes
		err := p.closed
		if err == nil {
			err = Check(p.limit, need, GraphPart)
		}
		if err == nil {
			if p.limit > 0 && p.used+need > p.limit || p.jobs > 0 && p.running >= p.jobs {
				return
			}
			p.data = data
			p.used += c.bytes
			p.running++
		}
		p.queue = p.queue[1:]
		c.answer <- err
	}
}
