package textio

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
)

// Peek returns the first bytes of the content, n or as many as there are, n
// being at most 64 KiB. Nothing must have been read before.
func (r *Reader) Peek(n int) []byte {
	head, _ := r.text.(*bufio.Reader).Peek(n) // a fault is met again when it is read
	return head
}

// CheckText returns the error for content that is no text, and prepares to decode text as
// the settings, or a byte-order mark of UTF-16, say. [Open] does so itself unless
// Options.Any is set.
func (r *Reader) CheckText() error {
	if r.checked {
		return nil
	}
	r.checked = true
	head := r.Peek(6)
	for _, f := range foreign {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			return &Error{File: r.name, Msg: f.what, Fix: f.fix}
		}
	}
	if r.given.Encoding == "" && len(head) >= 4 && (head[0] == 0) != (head[1] == 0) && (head[2] == 0) == (head[0] == 0) && (head[3] == 0) == (head[1] == 0) {
		encoding := "utf-16le"
		if head[0] == 0 {
			encoding = "utf-16be"
		}
		return &Error{File: r.name, Msg: "UTF-16 text without a byte-order mark", Fix: "pass {encoding=" + encoding + "}"}
	}
	return r.decode()
}

// damageBytes is the text that Damage decompresses: most damage shows within a block.
const damageBytes = 256 << 20

// Damage looks for the cause of text that cannot be parsed: it returns an error if the file
// has changed since it was opened, or else decompresses up to 256 MiB more and returns the
// fault of the compressed stream. It returns nil if it finds none.
func (r *Reader) Damage() error {
	if err := r.Unchanged(); err != nil || !r.compressed {
		return err
	}
	r.lines += int64(bytes.Count(r.carry, lineFeed))
	r.carry = r.carry[:0]
	buf := make([]byte, 64<<10)
	for read := 0; read < damageBytes; {
		n, err := r.text.Read(buf)
		r.lines += int64(bytes.Count(buf[:n], lineFeed))
		read += n
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return r.fault(err)
		}
	}
	return nil
}

// Content returns the decompressed and decoded content, to be read instead of chunks and
// lines.
func (r *Reader) Content() io.Reader { return &content{r: r} }

type content struct {
	r    *Reader
	read int64
}

func (c *content) Read(p []byte) (int, error) {
	if c.r.ctx.Err() != nil {
		return 0, context.Cause(c.r.ctx)
	}
	n, err := c.r.text.Read(p)
	c.read += int64(n)
	if errors.Is(err, io.EOF) {
		return n, cmp.Or(c.r.Unchanged(), err)
	}
	if err == nil {
		return n, nil
	}
	return n, c.r.faultAt(err, fmt.Sprintf("byte %d", c.read))
}

// File returns the content at any place, and its size, if the input is a file
// that is not compressed; or else nil.
func (r *Reader) File() (io.ReaderAt, int64) {
	if r.file == nil || r.compressed || r.decoded || r.total == 0 {
		return nil, 0
	}
	return fileAt{r}, r.total
}

// fileAt counts the bytes read. Where the context was cancelled, which closes the file, it
// returns the cause.
type fileAt struct{ r *Reader }

func (f fileAt) ReadAt(p []byte, offset int64) (int, error) {
	n, err := f.r.file.ReadAt(p, offset)
	f.r.done.Add(int64(n))
	if err != nil && f.r.ctx.Err() != nil {
		err = context.Cause(f.r.ctx)
	}
	return n, err
}
