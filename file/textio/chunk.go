package textio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/heatwalk/heatwalk/internal/sched"
)

const (
	// ChunkBytes is the largest size of a chunk with lines of usual length. A chunk and the codes of its ids fit into
	// the cache of a core.
	ChunkBytes = 256 << 10

	// MaxLine is the largest length of a line in bytes, including its end.
	MaxLine = 1 << 20

	// Slack is the number of zero bytes after the data of a chunk, so that vector code may read beyond the end.
	Slack = 32
)

// Chunk is a run of whole lines of one input.
type Chunk struct {
	Index int   // position in the file, from 0
	First int64 // number of its first line, from 1; 0 if this line holds the keys of JSON objects
	Lines int
	Data  []byte // lines, each ending in a line feed; Slack zero bytes follow within its capacity

	buf []byte
}

// Head returns the next chunk without consuming it, or io.EOF. The chunk is valid until the next read.
func (r *Reader) Head() (*Chunk, error) {
	if r.chunks.head == nil {
		c := new(Chunk)
		if err := r.chunks.read(c); err != nil {
			return nil, err
		}
		r.chunks.head = c
	}
	return r.chunks.head, nil
}

// Drop skips the chunk that [Reader.Head] returned last.
func (r *Reader) Drop() { r.chunks.head = nil }

type chunker struct {
	r        *Reader
	carry    []byte // start of a line whose end has not been read
	lines    int64  // delivered lines
	head     *Chunk // chunk read ahead by Head
	index    int    // delivered chunks
	started  bool
	finished bool
}

func (k *chunker) fault(err error) error {
	return faultAt(k.r, err, fmt.Sprintf("line %d", k.lines))
}

func (k *chunker) next(c *Chunk) error {
	if k.head == nil {
		return k.read(c)
	}
	*c = *k.head
	k.head = nil
	return nil
}

// read fills c with the next lines, or returns io.EOF.
func (k *chunker) read(c *Chunk) error {
	if k.finished {
		return io.EOF
	}
	if k.r.ctx.Err() != nil {
		return sched.Cause(k.r.ctx)
	}
	// The n bytes read have no lone carriage return before clean.
	n := len(k.carry)
	clean := 0
	limit := ChunkBytes
	if total := k.r.total; total > 0 && !k.r.Compressed {
		limit = int(min(int64(limit), total+1)) // so that the same read finds the end
	}
	for limit <= n { // the carry may exceed a chunk
		limit *= 2
	}
	for ; ; limit *= 2 {
		limit = min(limit, MaxLine)
		if len(c.buf) < limit+Slack {
			grown := make([]byte, limit+Slack)
			copy(grown, c.buf[:min(n, len(c.buf))])
			c.buf = grown
		}
		if len(k.carry) > 0 {
			copy(c.buf, k.carry)
			k.carry = k.carry[:0]
		}
		if !k.started {
			openRecords(k.r)
		}
		end := false
		for n < limit && !end {
			count, err := k.r.text.Read(c.buf[n:limit])
			n += count
			if errors.Is(err, io.EOF) {
				end = true
			} else if err != nil {
				k.lines += int64(bytes.Count(c.buf[:n], lineFeed))
				return k.fault(err)
			}
		}
		k.started = true
		clean = endLines(c.buf[:n], clean, end)
		if end {
			if err := k.r.CheckUnchanged(); err != nil {
				return err
			}
			k.finished = true
			if n == 0 {
				return io.EOF
			}
			if c.buf[n-1] != '\n' {
				c.buf[n] = '\n' // the slack has space for it
				n++
			}
		}
		if cut := bytes.LastIndexByte(c.buf[:n], '\n') + 1; cut > 0 && cut <= MaxLine {
			k.deliver(c, cut, n)
			return nil
		}
		if n >= MaxLine {
			return Fault(k.r.name, k.lines+1, "is this a line-based format?", "line longer than 1 MiB")
		}
	}
}

// deliver makes the first cut bytes of c.buf the data of chunk c. It keeps the other bytes, up to n, for the next
// chunk.
func (k *chunker) deliver(c *Chunk, cut, n int) {
	k.carry = append(k.carry[:0], c.buf[cut:n]...)
	size := cut
	_, isJSON := k.r.text.(*records)
	if delimiter := k.r.settings.Delimiter; len(delimiter) > 1 && !isJSON { // parsers need separators of one byte
		size = copy(c.buf, bytes.ReplaceAll(c.buf[:cut], []byte(delimiter), []byte{0x1f}))
	}
	clear(c.buf[size : size+Slack])
	c.Data = c.buf[: size : size+Slack]
	c.Index, c.First, c.Lines = k.index, k.lines+1, bytes.Count(c.Data, lineFeed)
	k.index++
	k.lines += int64(c.Lines)
}

var lineFeed = []byte{'\n'}

// endLines replaces lone carriage returns in text[offset:] by line feeds. It returns the offset to continue from.
// Unless end is set, a carriage return at the end stays, because a line feed may follow.
func endLines(text []byte, offset int, end bool) int {
	for {
		i := bytes.IndexByte(text[offset:], '\r')
		if i < 0 {
			return len(text)
		}
		i += offset
		if i+1 == len(text) && !end {
			return i
		}
		if i+1 == len(text) || text[i+1] != '\n' {
			text[i] = '\n'
		}
		offset = i + 1
	}
}

// Line is one line of an input.
type Line struct {
	Number int64
	Text   []byte // without line end; valid until the next line
}

// Lines yields the lines of the rest of the input. It stops after it has yielded an error, with an empty line.
func (r *Reader) Lines() iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		var c Chunk
		for {
			if err := r.chunks.next(&c); err != nil {
				if !errors.Is(err, io.EOF) {
					yield(Line{}, err)
				}
				return
			}
			number := c.First
			for line := range bytes.Lines(c.Data) {
				if !yield(Line{number,
					bytes.TrimSuffix(line[:len(line)-1], []byte{'\r'})}, nil) {
					return
				}
				number++
			}
		}
	}
}
