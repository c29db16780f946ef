package textio

import (
	"bytes"
	"errors"
	"io"
)

// Sample calls visit with pieces of the rest of the input that have so many bytes
// together, or with all of it if it has no more; whole tells which. Of a file that is not
// compressed they are blocks of whole lines from its beginning to its end: only the lines
// of the first have their numbers, the others very large ones. A piece is valid during the
// call.
func (r *Reader) Sample(most, block int64, visit func(c *Chunk) error) (whole bool, err error) {
	if file, size := r.File(); file != nil && size > most {
		return false, r.sampleBlocks(file, size, max(2, most/block), block, visit)
	}
	for text := int64(0); text < most; {
		chunk, err := r.Head()
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		text += int64(len(chunk.Data))
		if err := visit(chunk); err != nil {
			return false, err
		}
		r.Drop()
	}
	return false, nil
}

// sampleBlocks calls visit with the whole lines of n blocks.
func (r *Reader) sampleBlocks(file io.ReaderAt, size, n, block int64, visit func(c *Chunk) error) error {
	const far = 1 << 40 // lines
	buf := make([]byte, block+Slack)
	for i := range n {
		k, err := file.ReadAt(buf[:block], (size-block)/(n-1)*i)
		if err != nil && !errors.Is(err, io.EOF) {
			return r.fault(err)
		}
		endLines(buf[:k], 0, false)
		c := Chunk{First: 1}
		from, to := 0, bytes.LastIndexByte(buf[:k], '\n')+1
		if i > 0 {
			c.First, from = far, bytes.IndexByte(buf[:k], '\n')+1
		}
		if from >= to {
			continue
		}
		clear(buf[to:])
		c.Data, c.Lines = buf[from:to:len(buf)], bytes.Count(buf[from:to], lineFeed)
		if err := visit(&c); err != nil {
			return err
		}
	}
	return nil
}
