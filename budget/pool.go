package budget

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Pool shares a memory limit among jobs that compute concurrently on the same data, and limits their number. Jobs enter in the
// order in which they ask. A Pool may be used concurrently.
type Pool struct {
	mu      sync.Mutex
	limit   int64    // bytes; 0: none
	jobs    int      // most jobs that compute concurrently; 0: any number
	data    int64    // largest of the computing jobs
	used    int64    // bytes of computing jobs, without data
	running int      // computing jobs
	queue   []*claim // claims in the order in which they were made
	closed  error    // error for jobs that wait; nil: the pool is open
}

// claim is the wish of a job to enter.
type claim struct {
	data, bytes int64
	answer      chan error // nil when the job may enter, or the error that refuses it
}

// NewPool returns a pool with a limit in bytes, for at most jobs concurrent jobs. In both arguments 0 means no limit.
func NewPool(limit int64, jobs int) *Pool { return &Pool{limit: limit, jobs: jobs} }

// Enter waits until a job may compute. The job takes bytes in addition to data, which all jobs share. If Enter returns no
// error, Leave must be called once with the same bytes. The error is the cause of the end of ctx, the error of [Pool.Close],
// or an [*Error] if the job alone would not fit.
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
		p.admit() // later jobs may be smaller
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

// Leave gives back the bytes of a job that has ended.
func (p *Pool) Leave(bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used -= bytes
	p.running--
	if p.running == 0 {
		p.data = 0 // the next claim has the current size
	}
	p.admit()
}

// Close makes Enter return err, also in jobs that wait.
func (p *Pool) Close(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = err
	p.admit()
}

// admit lets jobs at the head of the queue enter, or refuses them, until the first job that must wait.
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
