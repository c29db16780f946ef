package textio

import (
	"bytes"
	"errors"
	"io"
	"math"
	"sync"
)

// Chunks calls visit once for every chunk of the rest of the input, from at
// most workers goroutines; worker numbers the goroutine. Chunks start in
// order. A chunk is valid during the call. After the first error no further
// chunk starts, and the error of the earliest chunk is returned; the context
// given to [Open] ends the reading within one chunk. A panic in a goroutine
// reaches the caller as a [*Panic] when all of them have ended. Several
// goroutines read a file that is not compressed side by side.
func (r *Reader) Chunks(workers int, visit func(worker int, c *Chunk) error) error {
	d := newDelivery(r, workers)
	work := func(worker int) {
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
	if workers <= 1 {
		work(0)
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
					d.turn.Broadcast()
				}
			}()
			work(w)
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
	r      *Reader
	beside bool // chunks are read side by side where it is known where they end

	mu      sync.Mutex // guards the reader and what follows
	turn    *sync.Cond // next has changed, or no further chunk starts
	next    int        // the chunk that starts next: the lines before it are counted
	err     error
	place   int // the chunk that err comes from
	failure *Panic
	window  [cutWindow]byte
}

func newDelivery(r *Reader, workers int) *delivery {
	file, _ := r.File()
	d := &delivery{r: r, next: r.index, beside: workers > 1 && file != nil}
	d.turn = sync.NewCond(&d.mu)
	return d
}

// cutWindow is how much text before the size at which a chunk is cut is looked at
// for the end of a line.
const cutWindow = 4 << 10

// fail takes note of the error of a chunk.
func (d *delivery) fail(index int, err error) {
	if d.err == nil || index < d.place {
		d.err, d.place = err, index
	}
	d.turn.Broadcast()
}

// over tells whether no further chunk starts.
func (d *delivery) over() bool { return d.err != nil || d.failure != nil }

// await waits until all chunks that were taken have started, or those before one,
// and tells whether more may.
func (d *delivery) await(index *int) bool {
	for !d.over() && d.next < *index {
		d.turn.Wait()
	}
	return !d.over()
}

// started ends the turn of the chunks before one.
func (d *delivery) started(before int) {
	d.next = before
	d.turn.Broadcast()
}

// take fills c with the next chunk, and reports whether there is one.
func (d *delivery) take(c *Chunk) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.over() {
		return false
	}
	r := d.r
	beside := d.beside && r.started && r.head == nil
	if beside {
		if size := d.cut(); size > 0 {
			return d.readBeside(c, size)
		}
	}
	if !d.await(&r.index) {
		return false
	}
	if beside { // the reader's own place in the file is an earlier one
		file, _ := r.File()
		r.text, r.carry = io.NewSectionReader(file, r.offset, math.MaxInt64-r.offset), r.carry[:0]
	}
	err := r.next(c)
	if err != nil && !errors.Is(err, io.EOF) {
		d.fail(r.index, err)
	}
	d.started(r.index)
	return err == nil
}

// cut returns the size of the file's next chunk, 0 if that is not seen in the text
// just before where it is cut at the latest.
func (d *delivery) cut() int {
	if d.r.ctx.Err() != nil {
		return 0
	}
	if n, _ := d.r.file.ReadAt(d.window[:], d.r.offset+ChunkBytes-cutWindow); n < cutWindow {
		return 0
	}
	endLines(d.window[:], 0, false)
	if cut := bytes.LastIndexByte(d.window[:], '\n') + 1; cut > 0 {
		return ChunkBytes - cutWindow + cut
	}
	return 0
}

// readBeside reads the next chunk, which has so many bytes, with the lock open
// meanwhile, and reports whether it starts.
func (d *delivery) readBeside(c *Chunk, size int) bool {
	r := d.r
	index, offset := r.index, r.offset
	r.index++
	r.offset += int64(size)
	d.mu.Unlock()
	if len(c.buf) < ChunkBytes+Slack {
		c.buf = make([]byte, ChunkBytes+Slack)
	}
	clear(c.buf[size : size+Slack])
	data := c.buf[: size : size+Slack]
	n, err := fileAt{r}.ReadAt(data, offset)
	zero := bytes.IndexByte(data[:n], 0)
	endLines(data, 0, true)
	lines := bytes.Count(data[:n], lineFeed)
	d.mu.Lock()
	if !d.await(&index) {
		return false
	}
	first := r.lines + 1
	r.lines += int64(lines)
	switch {
	case zero >= 0:
		err = r.nul(offset + int64(zero))
	case n < size && errors.Is(err, io.EOF):
		err = &Error{File: r.name, Byte: offset + int64(n), AtByte: true, Msg: "the file ends here, and was longer when reading began", Fix: "read it when nobody writes it"}
	case n < size:
		err = r.fault(err)
	default:
		err = nil
	}
	if err != nil {
		d.fail(index, err)
		return false
	}
	c.Index, c.First, c.Lines, c.Data = index, first, lines, data
	d.started(index + 1)
	return true
}
