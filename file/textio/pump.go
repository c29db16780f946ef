package textio

import (
	"context"
	"errors"
	"io"

	"github.com/heatwalk/heatwalk/internal/sched"
)

const (
	pieces     = 3         // one is filled, one waits, one is read
	pieceBytes = 128 << 10 // half a chunk, so that parsing starts early
)

// pump reads a source in a goroutine, so that decompression runs in parallel with parsing, and because a read from a
// pipe cannot be interrupted.
type pump struct {
	ctx      context.Context
	quit     chan struct{}
	ended    chan struct{}
	full     chan piece
	empty    chan []byte
	unread   []byte
	buffer   []byte
	err      error
	group    sched.Group // keeps a panic of the source
	received int64       // bytes of all pieces
	consumed int64       // piece.consumed of the last piece
}

type piece struct {
	data     []byte
	err      error
	consumed int64 // compressed bytes up to the end of the piece
}

// newPump returns a pump that reads pieces of at least size bytes. consumed, which may be nil, returns the compressed
// bytes read.
func newPump(ctx context.Context, in io.Reader, size int,
	consumed func() int64) *pump {
	p := &pump{
		ctx: ctx, quit: make(chan struct{}), ended: make(chan struct{}),
		full: make(chan piece, 1), empty: make(chan []byte, pieces),
	}
	for range pieces {
		p.empty <- make([]byte, pieceBytes)
	}
	go func() {
		defer close(p.ended)
		for {
			var buf []byte
			select {
			case buf = <-p.empty:
			case <-p.quit:
				return
			}
			next := piece{err: errPanic}
			p.group.Do(func() { next = fill(in, buf, size) })
			if consumed != nil {
				next.consumed = consumed()
			}
			select {
			case p.full <- next:
			case <-p.quit:
				return
			}
			if next.err != nil {
				return
			}
		}
	}()
	return p
}

var errPanic = errors.New("textio: panic")

func fill(in io.Reader, buf []byte, size int) piece {
	n := 0
	for n < size {
		k, err := in.Read(buf[n:])
		n += k
		if err != nil {
			return piece{data: buf[:n], err: err}
		}
	}
	return piece{data: buf[:n]}
}

// stop ends the goroutine when its current read returns, and a waiting Read at once.
func (p *pump) stop() { close(p.quit) }

func (p *pump) Read(dst []byte) (int, error) {
	for len(p.unread) == 0 {
		if p.err != nil {
			p.group.Wait() // panics if the source did
			return 0, p.err
		}
		if p.buffer != nil {
			p.empty <- p.buffer[:cap(p.buffer)]
			p.buffer = nil
		}
		select {
		case next := <-p.full:
			p.unread = next.data
			p.buffer = next.data
			p.err = next.err
			p.received += int64(len(next.data))
			p.consumed = next.consumed
		case <-p.quit:
			return 0, io.ErrClosedPipe
		case <-p.ctx.Done():
			return 0, sched.Cause(p.ctx)
		}
	}
	n := copy(dst, p.unread)
	p.unread = p.unread[n:]
	return n, nil
}
