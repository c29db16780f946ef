package textio

import (
	"errors"
	"io"
	"sync"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// Chunks calls visit for every chunk of the rest of the input, from at most workers goroutines; worker is the number
// of the goroutine. Chunks start in order, and are valid during the call.
//
// After the first error no further chunk starts, and Chunks returns the error of the earliest chunk, whatever the
// number of workers. Cancelling the context of [Open] stops it within one chunk. A panic in a goroutine reaches the
// caller as a [*sched.Panic] after all goroutines have ended.
func (r *Reader) Chunks(workers int, visit func(worker int, c *Chunk) error) error {
	d := &delivery{chunks: &r.chunks}
	if workers <= 1 {
		d.work(0, visit)
		return d.err
	}
	var group sched.Group
	for w := range workers {
		group.Go(func() { d.work(w, visit) })
	}
	group.Wait()
	return d.err
}

type delivery struct {
	mu      sync.Mutex // guards the fields below
	chunks  *chunker
	err     error // error of the earliest chunk
	place   int   // index of the chunk with err
	isEnded bool
}

func (d *delivery) work(worker int, visit func(worker int, c *Chunk) error) {
	var c Chunk
	var err error
	defer func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.isEnded = true
		if err != nil {
			d.fail(c.Index, err)
		}
	}()
	for err == nil && d.take(&c) {
		err = visit(worker, &c)
	}
}

// take moves the next chunk into c.
func (d *delivery) take(c *Chunk) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.isEnded {
		return false
	}
	err := d.chunks.next(c)
	d.isEnded = err != nil // after too long a line, the next line is unknown
	if err != nil && !errors.Is(err, io.EOF) {
		d.fail(d.chunks.index, err)
	}
	return err == nil
}

func (d *delivery) fail(index int, err error) {
	if d.err == nil || index < d.place {
		d.err = err
		d.place = index
	}
}
