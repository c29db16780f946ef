package textio

import (
	"context"
	"io"
	"os"
)

// pump reads a source in a goroutine of its own, because a read from a pipe
// or terminal cannot be interrupted but the wait for it can.
type pump struct {
	ctx   context.Context
	quit  chan struct{}
	full  chan block
	empty chan []byte
	rest  []byte
	whole []byte
	err   error
}

// block is what one read gave; err may be a *Panic.
type block struct {
	data []byte
	err  error
}

func newPump(ctx context.Context, in io.Reader) *pump {
	p := &pump{ctx: ctx, quit: make(chan struct{}), full: make(chan block), empty: make(chan []byte, 2)}
	p.empty <- make([]byte, 64<<10)
	p.empty <- make([]byte, 64<<10)
	go func() {
		for {
			var buf []byte
			select {
			case buf = <-p.empty:
			case <-p.quit:
				return
			}
			b := readBlock(in, buf)
			select {
			case p.full <- b:
			case <-p.quit:
				return
			}
			if b.err != nil {
				return
			}
		}
	}()
	return p
}

// readBlock reads once.
func readBlock(in io.Reader, buf []byte) (b block) {
	defer func() {
		if r := recover(); r != nil {
			b = block{err: caught(r)}
		}
	}()
	n, err := in.Read(buf)
	return block{buf[:n], err}
}

func (p *pump) stop() { close(p.quit) }

// Read implements io.Reader.
func (p *pump) Read(dst []byte) (int, error) {
	for len(p.rest) == 0 {
		if failure, ok := p.err.(*Panic); ok {
			panic(failure)
		}
		if p.err != nil {
			return 0, p.err
		}
		if p.whole != nil {
			p.empty <- p.whole[:cap(p.whole)]
			p.whole = nil
		}
		select {
		case b := <-p.full:
			p.rest, p.whole, p.err = b.data, b.data, b.err
		case <-p.ctx.Done():
			return 0, context.Cause(p.ctx)
		}
	}
	n := copy(dst, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// terminal reports whether f is a character device other than the null
// device.
func terminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}
