package textio

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// Peek returns the first min(n, size) bytes of the content, n ≤ 64 KiB. It must be called before any other
// method reads.
func (r *Reader) Peek(n int) []byte {
	head, _ := r.text.(*bufio.Reader).Peek(n) // reading returns the error again
	return head
}

// CheckText returns an error if the content is not text, and prepares to read it as UTF-8, or in the encoding of the
// settings or of the byte-order mark. [Open] calls it if Options.Any is not set.
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
	if r.settings.Encoding == "" && len(head) >= 4 &&
		(head[0] == 0) != (head[1] == 0) && (head[2] == 0) == (head[0] == 0) &&
		(head[3] == 0) == (head[1] == 0) {
		encoding := "utf-16le"
		if head[0] == 0 {
			encoding = "utf-16be"
		}
		return Fault(r.name, 0, "pass {encoding="+encoding+"}", "UTF-16 text without a byte-order mark")
	}
	text, isDecoded, err := decode(r.text.(*bufio.Reader), r.name, r.settings)
	if err != nil {
		return r.chunks.fault(err)
	}
	r.text = bufio.NewReaderSize(text, 64<<10)
	r.decoded = isDecoded
	return nil
}

// damageBytes bounds the text that Damage decompresses; most damage shows within a block.
const damageBytes = 256 << 20

// Damage looks for the cause of text that cannot be parsed. It returns an error if the file has changed since it was
// opened, or if decompressing the next 256 MiB fails.
func (r *Reader) Damage() error {
	if err := r.CheckUnchanged(); err != nil || !r.Compressed {
		return err
	}
	r.chunks.lines += int64(bytes.Count(r.chunks.carry, lineFeed))
	r.chunks.carry = r.chunks.carry[:0]
	buf := make([]byte, 64<<10)
	for read := 0; read < damageBytes; {
		n, err := r.text.Read(buf)
		r.chunks.lines += int64(bytes.Count(buf[:n], lineFeed))
		read += n
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return r.chunks.fault(err)
		}
	}
	return nil
}

// Content returns a reader of the decompressed and decoded content, for formats that are not
// read by lines.
func (r *Reader) Content() io.Reader { return &content{r: r} }

type content struct {
	r    *Reader
	read int64
}

// Read implements [io.Reader]. It adds the place to an error, and checks at the end that the file has not changed.
func (c *content) Read(p []byte) (int, error) {
	if c.r.ctx.Err() != nil {
		return 0, sched.Cause(c.r.ctx)
	}
	n, err := c.r.text.Read(p)
	c.read += int64(n)
	if errors.Is(err, io.EOF) {
		return n, cmp.Or(c.r.CheckUnchanged(), err)
	}
	if err == nil {
		return n, nil
	}
	return n, faultAt(c.r, err, fmt.Sprintf("byte %d", c.read))
}

// File returns the content for random access, and its size. It returns nil if the input is compressed,
// decoded, or not a regular file.
func (r *Reader) File() (io.ReaderAt, int64) {
	if r.file == nil || r.Compressed || r.decoded || r.total == 0 {
		return nil, 0
	}
	return fileAt{r}, r.total
}

type fileAt struct{ r *Reader }

// ReadAt implements [io.ReaderAt]. It returns the cause of a cancelled context, which closes the file.
func (f fileAt) ReadAt(p []byte, offset int64) (int, error) {
	n, err := f.r.file.ReadAt(p, offset)
	f.r.random.Add(int64(n))
	if err != nil && f.r.ctx.Err() != nil {
		err = sched.Cause(f.r.ctx)
	}
	return n, err
}
