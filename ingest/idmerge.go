package ingest

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"slices"
)

// cursor stands at an id of a run.
type cursor struct {
	run    *idRun
	in     *bufio.Reader
	number *regionWriter
	left   int
	id     []byte
	first  uint64
}

// next goes on to the next id; ok is false behind the last one.
func (c *cursor) next() (ok bool, err error) {
	if c.left == 0 {
		return false, nil
	}
	c.left--
	n, err := binary.ReadUvarint(c.in)
	if err == nil && int64(n) > c.run.ids.length {
		err = errSpill
	}
	if err != nil {
		return false, err
	}
	c.id = slices.Grow(c.id[:0], int(n)+8)[:n+8]
	if _, err := io.ReadFull(c.in, c.id); err != nil {
		return false, err
	}
	c.first = binary.LittleEndian.Uint64(c.id[n:])
	c.id = c.id[:n]
	return true, nil
}

// mergeIDs calls visit with every distinct id in increasing order, where it
// appeared first, and the cursors of the runs that hold it.
func (r *run) mergeIDs(visit func(id []byte, first uint64, in []*cursor) error) error {
	var heap []*cursor
	down := func(i int) {
		for {
			least := i
			for child := 2*i + 1; child <= 2*i+2 && child < len(heap); child++ {
				if bytes.Compare(heap[child].id, heap[least].id) < 0 {
					least = child
				}
			}
			if least == i {
				return
			}
			heap[i], heap[least] = heap[least], heap[i]
			i = least
		}
	}
	for _, run := range r.runs.runs {
		c := &cursor{run: run, in: r.spill.reader(run.ids), number: r.spill.writer(run.number), left: run.n}
		ok, err := c.next()
		if err != nil {
			return err
		}
		if ok {
			heap = append(heap, c)
		}
	}
	for i := len(heap)/2 - 1; i >= 0; i-- {
		down(i)
	}
	var same []*cursor
	var id []byte
	for n := 0; len(heap) > 0; n++ {
		if n%(1<<16) == 0 && r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		same, id = same[:0], append(id[:0], heap[0].id...)
		first := uint64(math.MaxUint64)
		for len(heap) > 0 && bytes.Equal(heap[0].id, id) {
			c := heap[0]
			same = append(same, c)
			first = min(first, c.first)
			heap[0] = heap[len(heap)-1]
			heap = heap[:len(heap)-1]
			down(0)
		}
		if err := visit(id, first, same); err != nil {
			return err
		}
		for _, c := range same {
			ok, err := c.next()
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			heap = append(heap, c)
			for i := len(heap) - 1; i > 0 && bytes.Compare(heap[i].id, heap[(i-1)/2].id) < 0; i = (i - 1) / 2 {
				heap[i], heap[(i-1)/2] = heap[(i-1)/2], heap[i]
			}
		}
	}
	return nil
}
