package textio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/heatwalk/heatwalk/internal/simd"
)

// Sum identifies the content of an input.
type Sum struct {
	Bytes int64  `json:"bytes"`           // bytes as stored
	Lines int64  `json:"lines,omitempty"` // lines of decompressed text; 0 for binary content
	CRC   string `json:"crc32c"`          // checksum of the bytes as stored

	IsOpen bool `json:"-"` // the last line has no line end, as in a file that was cut
}

type recordKey struct{}

// WithSums returns a context with the function record, which [Reader.Close] calls with the sum of each input that was
// read to its end. Calls may be concurrent.
func WithSums(ctx context.Context, record func(name string, s Sum)) context.Context {
	return context.WithValue(ctx, recordKey{}, record)
}

// Sum returns the sum of a closed input. ok is false if the input was not read from its beginning to its end.
func (r *Reader) Sum() (s Sum, ok bool) {
	text := &r.stored
	if r.Compressed {
		text = &r.inflated
	}
	s = Sum{Bytes: r.stored.bytes.Load(), CRC: fmt.Sprintf("%08x", r.stored.crc)}
	if !text.isBinary {
		s.Lines = text.lines
		if s.IsOpen = text.last != '\n' && s.Bytes > 0; s.IsOpen {
			s.Lines++
		}
	}
	return s, r.stored.hasEnded
}

// SumFile returns the sum of a file, or of several files as if they were one file. Cost: one pass over the
// files.
func SumFile(ctx context.Context, paths ...string) (s Sum, err error) {
	var all tally
	for _, path := range paths {
		r, err := Open(ctx, path, &Options{Any: true})
		if err != nil {
			return s, err
		}
		all.r = r.Content()
		_, err = io.Copy(io.Discard, &all)
		r.Close()
		if err != nil {
			return s, err
		}
		s, _ = r.Sum()
	}
	if len(paths) > 1 {
		s = Sum{Bytes: all.bytes.Load(), CRC: fmt.Sprintf("%08x", all.crc)}
	}
	return s, nil
}

type tally struct {
	r        io.Reader
	bytes    atomic.Int64
	crc      uint32
	lines    int64
	last     byte
	isBinary bool // the first bytes have a zero byte
	hasEnded bool
}

func (t *tally) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	if n > 0 {
		t.isBinary = t.isBinary || t.bytes.Load() == 0 && bytes.IndexByte(p[:n], 0) >= 0
		t.bytes.Add(int64(n))
		t.crc = simd.Checksum(t.crc, p[:n])
		t.lines += int64(bytes.Count(p[:n], lineFeed))
		t.last = p[n-1]
	}
	t.hasEnded = t.hasEnded || errors.Is(err, io.EOF)
	return n, err
}
