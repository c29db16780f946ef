package textio

import (
	"errors"
	"io"
	"sync"
)

// Chunks calls visit once for every chunk of the rest of the input, from at most workers
// goroutines; worker is the number of the goroutine. Chunks start in order. A chunk is valid
// during the call only.
//
// After the first error no further chunk starts, and Chunks returns the error of the earliest
// chunk, so that the error does not depend on the number of workers. Cancelling the context of
// [Open] stops it within one chunk. A panic in a goroutine reaches the caller as a [*Panic]
// after all goroutines have ended.
func (r *Reader) Chunks(workers int, visit func(worker int, c *Chunk) error) error {
	d := &delivery{chunks: &r.chunks}
	if workers <= 1 {
		d.work(0, visit)
		return d.err
	}
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			defer func() {
				if r := recover(); r != nil {
					d.mu.Lock()
					defer d.mu.Unlock()
					d.failure = caught(r)
				}
			}()
			d.work(w, visit)
		})
	}
	group.Wait()
	if d.failure != nil {
		panic(d.failure)
	}
	return d.err
}

// delivery distributes the chunks of an input to goroutines.
type delivery struct {
	mu      sync.Mutex // guards the fields below
	chunks  *chunker
	err     error // error of the earliest chunk
	place   int   // index of that chunk
	failure *Panic
}

// work calls visit with chunks until the input ends or an error occurs.
func (d *delivery) work(worker int, visit func(worker int, c *Chunk) error) {
	var c Chunk
	for d.take(&c) {
		if err := visit(worker, &c); err != nil {
			d.mu.Lock()
			d.fail(c.Index, err)
			d.mu.Unlock()
			return
		}
	}
}

// take fills c with the next chunk; it returns false at the end and after an error.
func (d *delivery) take(c *Chunk) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err != nil || d.failure != nil {
		return false
	}
	err := d.chunks.next(c)
	if err != nil && !errors.Is(err, io.EOF) {
		d.fail(d.chunks.index, err)
	}
	return err == nil
}

// fail records the error of a chunk unless an earlier chunk has one.
func (d *delivery) fail(index int, err error) {
	if d.err == nil || index < d.place {
		d.err = err
		d.place = index
	}
}
