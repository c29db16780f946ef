package checkpoint

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
)

const (
	headBytes  = 8
	frameBytes = 64 << 10 // largest size of a frame without its head
)

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)

	errDamaged = errors.New("checkpoint: a damaged record")
	errTorn    = errors.New("checkpoint: a record that ends too early")
)

// writer writes a record.
type writer struct {
	to    io.Writer
	frame []byte // current frame, including its head
	sum   uint32
}

// writeRecord writes a record with the content that write writes.
func writeRecord(to io.Writer, write func(w io.Writer) error) error {
	w := &writer{to: to, frame: make([]byte, headBytes, headBytes+frameBytes)}
	err := write(w)
	if err == nil && len(w.frame) > headBytes {
		err = w.flush()
	}
	if err == nil {
		err = w.flush()
	}
	return err
}

func (w *writer) Write(p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		some := p[n:min(len(p), n+cap(w.frame)-len(w.frame))]
		w.frame = append(w.frame, some...)
		n += len(some)
		if len(w.frame) == cap(w.frame) {
			err = w.flush()
		}
	}
	return n, err
}

func (w *writer) flush() error {
	binary.LittleEndian.PutUint32(w.frame, uint32(len(w.frame)-headBytes))
	w.sum = sumWith(w.sum, w.frame)
	binary.LittleEndian.PutUint32(w.frame[4:], w.sum)
	_, err := w.to.Write(w.frame)
	w.frame = w.frame[:headBytes]
	return err
}

// sumWith returns the checksum of a record extended by a frame.
func sumWith(sum uint32, frame []byte) uint32 {
	return crc32.Update(crc32.Update(sum, castagnoli, frame[:4]), castagnoli, frame[headBytes:])
}

// reader reads a record. It checks each frame before it returns any byte of it.
type reader struct {
	from  io.Reader
	frame []byte
	rest  []byte // unread part of the frame
	sum   uint32
	err   error
}

func newReader(from io.Reader) *reader {
	return &reader{from: from, frame: make([]byte, headBytes+frameBytes)}
}

func (r *reader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 && r.err == nil {
		r.err = r.next()
	}
	n := copy(p, r.rest)
	if r.rest = r.rest[n:]; n == 0 && len(p) > 0 {
		return 0, r.err
	}
	return n, nil
}

// next reads a frame.
func (r *reader) next() error {
	if err := r.fill(r.frame[:headBytes]); err != nil {
		return err
	}
	size := binary.LittleEndian.Uint32(r.frame)
	if size > frameBytes {
		return errDamaged
	}
	frame := r.frame[:headBytes+size]
	if err := r.fill(frame[headBytes:]); err != nil {
		return err
	}
	if r.sum = sumWith(r.sum, frame); r.sum != binary.LittleEndian.Uint32(frame[4:]) {
		return errDamaged
	}
	if r.rest = frame[headBytes:]; size == 0 {
		return io.EOF
	}
	return nil
}

func (r *reader) fill(p []byte) error {
	_, err := io.ReadFull(r.from, p)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errTorn
	}
	return err
}
