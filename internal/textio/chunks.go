package textio

import (
	"errors"
	"io"
	"sync"
)

// Chunks calls visit once for every chunk of the rest of the input, from at
// most workers goroutines; worker numbers the goroutine. Chunks start in
// order. A chunk is valid during the call. After the first error no further
// chunk starts, and the error of the earliest chunk is returned; the context
// given to [Open] ends the reading within one chunk. A panic in a goroutine
// reaches the caller as a [*Panic] when all of them have ended.
func (r *Reader) Chunks(workers int, visit func(worker int, c *Chunk) error) error {
	d := &delivery{r: r}
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

// delivery hands the chunks of the rest of an input to goroutines.
type delivery struct {
	mu      sync.Mutex // guards what follows
	r       *Reader
	err     error
	place   int // the chunk that err comes from
	failure *Panic
}

// work calls visit with chunks until there are no more.
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

// take fills c with the next chunk, and reports whether there is one.
func (d *delivery) take(c *Chunk) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err != nil || d.failure != nil {
		return false
	}
	err := d.r.next(c)
	if err != nil && !errors.Is(err, io.EOF) {
		d.fail(d.r.index, err)
	}
	return err == nil
}

// fail takes note of the error of a chunk.
func (d *delivery) fail(index int, err error) {
	if d.err == nil || index < d.place {
		d.err, d.place = err, index
	}
}
