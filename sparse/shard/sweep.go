package shard

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
)

// Sweep implements [sparse.Matrix]. Frames that are not in memory are read
// ahead of the workers; each is checked before visit sees a number of it. The
// error of a damaged frame is a [*CorruptError] or wraps [ErrChanged].
func (v *view) Sweep(ctx context.Context, workers int, visit func(worker int, p sparse.Panel) error) error {
	workers = min(sched.Workers(workers), len(v.direct.frames))
	r := v.s.takeRun(workers)
	defer v.s.putRun(r)
	r.start(v)
	defer r.stop()
	return sched.Run(ctx, workers, len(v.direct.frames), func(worker, i int) error {
		p, err := r.panel(worker, i)
		if err != nil {
			return err
		}
		return visit(worker, p)
	})
}

// run is a sweep under way: buffers for each worker, and a ring of chunks that
// readers fill in the order of the sweep. Since frames are begun in order, the
// first chunk that is not finished always has a place in the ring, so nobody
// waits for ever.
type run struct {
	v       *view
	buffers []*buffers

	mu      sync.Mutex
	changed *sync.Cond // a slot became ready or empty, or stopped was set
	missing []int32    // chunks to read
	place   []int32    // of each chunk among the missing; −1: in memory
	next    int        // the missing chunk to read next; it goes to slot next mod len(slots)
	slots   []slot
	stopped bool
	readers sync.WaitGroup
}

// slot holds a chunk while its frames are decoded.
type slot struct {
	data  []byte
	own   []byte // the memory of chunks that do not stay
	err   error
	ready bool
	left  int // frames that are still to be decoded; 0: the slot is empty
}

func (s *Store) takeRun(workers int) *run {
	s.mu.Lock()
	var r *run
	if n := len(s.runs); n > 0 {
		r, s.runs = s.runs[n-1], s.runs[:n-1]
	}
	s.mu.Unlock()
	if r == nil {
		r = new(run)
		r.changed = sync.NewCond(&r.mu)
	}
	for len(r.buffers) < workers {
		r.buffers = append(r.buffers, newBuffers(s.m.Weighted))
	}
	for len(r.slots) < workers+readAhead {
		r.slots = append(r.slots, slot{})
	}
	return r
}

func (s *Store) putRun(r *run) {
	s.mu.Lock()
	s.runs = append(s.runs, r)
	s.mu.Unlock()
}

// start finds the chunks that must be read and begins to.
func (r *run) start(v *view) {
	r.v, r.next, r.stopped = v, 0, false
	r.missing, r.place = r.missing[:0], r.place[:0]
	for i := range v.chunks {
		if v.chunks[i].data.Load() != nil {
			r.place = append(r.place, -1)
			continue
		}
		r.place = append(r.place, int32(len(r.missing)))
		r.missing = append(r.missing, int32(i))
	}
	for i := range r.slots {
		r.slots[i].left = 0
	}
	const readers = 2
	for range min(readers, len(r.missing)) {
		r.readers.Go(r.read)
	}
}

// stop ends the readers and waits for them.
func (r *run) stop() {
	r.mu.Lock()
	r.stopped = true
	r.changed.Broadcast()
	r.mu.Unlock()
	r.readers.Wait()
}

// read fills slots until there is nothing left to read.
func (r *run) read() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		for !r.stopped && r.next < len(r.missing) && r.slots[r.next%len(r.slots)].left > 0 {
			r.changed.Wait()
		}
		if r.stopped || r.next == len(r.missing) {
			return
		}
		c := &r.v.chunks[r.missing[r.next]]
		s := &r.slots[r.next%len(r.slots)]
		s.left, s.ready = c.last-c.first, false
		r.next++
		r.mu.Unlock()
		s.fill(r.v, c)
		r.mu.Lock()
		s.ready = true
		r.changed.Broadcast()
	}
}

// fill reads chunk c. A panic is kept for the worker that wants the chunk, as
// it must not end the process.
func (s *slot) fill(v *view, c *chunk) {
	defer func() {
		if r := recover(); r != nil {
			s.err = &sched.Panic{Value: r, Stack: debug.Stack()}
		}
	}()
	s.data, s.err = v.fetch(c, s)
}

// fetch reads a chunk into memory of its own if it stays there, else into that
// of the slot.
func (v *view) fetch(c *chunk, s *slot) ([]byte, error) {
	if !c.resident {
		if s.own == nil {
			s.own = make([]byte, v.s.largest+slack)
		}
		return s.own, v.readChunk(s.own, c)
	}
	c.load.Lock()
	defer c.load.Unlock()
	if data := c.data.Load(); data != nil {
		return *data, nil
	}
	data := make([]byte, c.bytes+slack)
	if err := v.readChunk(data, c); err != nil {
		return nil, err
	}
	c.data.Store(&data)
	return data, nil
}

func (v *view) readChunk(dst []byte, c *chunk) error {
	n, err := v.s.files[c.shard].ReadAt(dst[:c.bytes], c.offset)
	if n == c.bytes {
		return nil
	}
	if errors.Is(err, io.EOF) {
		if changed := v.s.changedError(int(c.shard)); changed != nil {
			return changed
		}
		return &CorruptError{Path: v.path(c.shard), Offset: c.offset + int64(n), What: "ends too early" + restore}
	}
	return err
}

// panel returns frame i decoded into the worker's buffers.
func (r *run) panel(worker, i int) (sparse.Panel, error) {
	v := r.v
	at := v.chunkOf[i]
	c := &v.chunks[at]
	place := int(r.place[at])
	if place < 0 {
		return v.decode(r.buffers[worker], i, v.bytes(c, i, *c.data.Load()))
	}
	s := &r.slots[place%len(r.slots)]
	r.mu.Lock()
	for r.next <= place || !s.ready {
		r.changed.Wait()
	}
	r.mu.Unlock()
	defer r.leave(s)
	if err := s.err; err != nil {
		if failure, ok := err.(*sched.Panic); ok {
			panic(failure)
		}
		return sparse.Panel{}, err
	}
	return v.decode(r.buffers[worker], i, v.bytes(c, i, s.data))
}

// leave counts a frame of s as decoded.
func (r *run) leave(s *slot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.left--; s.left == 0 {
		r.changed.Broadcast()
	}
}

// bytes returns frame i, which lies in chunk c, from the chunk's data; what
// follows it stays readable.
func (v *view) bytes(c *chunk, i int, data []byte) []byte {
	f := v.direct.frames[i]
	return data[f.offset-c.offset:][:f.bytes]
}

// decode checks frame i and decodes it. The first time everything is checked;
// what was read again must have the sum that it had, what lies in memory since
// is the same.
func (v *view) decode(b *buffers, i int, frame []byte) (sparse.Panel, error) {
	seen := v.seen[i].Load()
	if seen == 0 {
		if err := v.checkFrame(i, frame); err != nil {
			return sparse.Panel{}, err
		}
	} else if !v.chunks[v.chunkOf[i]].resident {
		if err := v.checkAgain(i, frame, uint32(seen)); err != nil {
			return sparse.Panel{}, err
		}
	}
	payload := frame[headerBytes:]
	if frame[atCodec] == codecZstd {
		var err error
		if payload, err = v.decompress(b, i, frame); err != nil {
			return sparse.Panel{}, err
		}
	}
	p, wrong := b.decode(payload, v.direct.ranges[i], v.s.m.Rows, v.s.m.Weighted, seen == 0)
	if wrong != "" {
		return sparse.Panel{}, v.frameError(i, "%s", wrong)
	}
	if seen == 0 {
		v.seen[i].Store(seenBit | uint64(binary.LittleEndian.Uint32(frame[atSum:])))
	}
	p.Index = i
	return p, nil
}

// decompress stores the payload of a frame in the worker's room for it.
func (v *view) decompress(b *buffers, i int, frame []byte) ([]byte, error) {
	size := int(binary.LittleEndian.Uint32(frame[atPayload:]))
	if cap(b.payload) < size+slack {
		b.payload = make([]byte, size+slack)
	}
	payload, err := v.s.zstd.DecodeAll(frame[headerBytes:], b.payload[:0])
	if err != nil {
		return nil, v.frameError(i, "payload: %v", err)
	}
	if len(payload) != size {
		return nil, v.frameError(i, "payload of %d bytes, header says %d", len(payload), size)
	}
	return payload, nil
}

// wantHeader is the header that frame i must have, but for the length of its
// payload before compression.
func (v *view) wantHeader(i int) header {
	f, r := v.direct.frames[i], v.direct.ranges[i]
	h := header{
		shard: uint32(f.shard), identity: v.s.m.identity(), frame: uint64(i),
		lo: uint64(r.Lo), rows: uint32(r.Hi - r.Lo), entries: uint32(r.Entries),
		piece: uint32(r.Piece), pieces: uint32(r.Pieces),
		stored: uint32(f.bytes - headerBytes), direction: v.direction,
	}
	if v.s.m.Codec == Zstd {
		h.codec = codecZstd
	}
	return h
}

// checkFrame checks the sum and the header of frame i.
func (v *view) checkFrame(i int, frame []byte) error {
	got, want := frameSum(frame), binary.LittleEndian.Uint32(frame[atSum:])
	if got != want {
		return v.sumError(i, frame, got, want)
	}
	return v.checkHeader(i, frame)
}

// checkAgain checks that frame i is what it was when it had the given sum.
func (v *view) checkAgain(i int, frame []byte, was uint32) error {
	got, want := frameSum(frame), binary.LittleEndian.Uint32(frame[atSum:])
	switch {
	case got != want:
		return v.sumError(i, frame, got, want)
	case got != was:
		return failf(ErrChanged, "%s: changed since it was opened", v.path(v.direct.frames[i].shard))
	}
	return nil
}

// checkHeader compares the header of frame i with what the index says.
func (v *view) checkHeader(i int, b []byte) error {
	h, ok := parseHeader(b)
	if !ok {
		return v.frameError(i, "no frame begins here")
	}
	want := v.wantHeader(i)
	switch {
	case h.identity != want.identity:
		return &CorruptError{Path: v.path(v.direct.frames[i].shard), Offset: -1,
			What: fmt.Sprintf("belongs to store %016x, this is %016x", h.identity, want.identity) + restore}
	case h.shard != want.shard || h.direction != want.direction || h.frame != want.frame:
		return v.frameError(i, "holds frame %d of direction %d of shard %d, want frame %d of direction %d of shard %d",
			h.frame, h.direction, h.shard, want.frame, want.direction, want.shard)
	}
	r := v.direct.ranges[i]
	want.payload = h.payload
	if h.codec == codecPlain && h.payload != h.stored || int(h.payload) > maxPayload(r.Hi-r.Lo, r.Entries) {
		return v.frameError(i, "payload of %d bytes, %d stored", h.payload, h.stored)
	}
	for _, f := range []struct {
		name      string
		got, want uint64
	}{
		{"first row", h.lo, want.lo},
		{"rows", uint64(h.rows), uint64(want.rows)},
		{"entries", uint64(h.entries), uint64(want.entries)},
		{"piece", uint64(h.piece), uint64(want.piece)},
		{"pieces", uint64(h.pieces), uint64(want.pieces)},
		{"stored bytes", uint64(h.stored), uint64(want.stored)},
		{"codec", uint64(h.codec), uint64(want.codec)},
	} {
		if f.got != f.want {
			return v.frameError(i, "%s %d, want %d", f.name, f.got, f.want)
		}
	}
	return nil
}

func (v *view) path(shard int32) string { return v.s.path(v.s.m.Files[shard].Name) }

// frameError is damage in frame i.
func (v *view) frameError(i int, format string, args ...any) error {
	f := v.direct.frames[i]
	return &CorruptError{Path: v.path(f.shard), Offset: f.offset,
		What: fmt.Sprintf("frame %d: ", i) + fmt.Sprintf(format, args...) + restore}
}

// sumError explains a wrong checksum: the file was changed, another frame lies
// here, one bit was flipped, or none of these.
func (v *view) sumError(i int, frame []byte, got, want uint32) error {
	f := v.direct.frames[i]
	if err := v.s.changedError(int(f.shard)); err != nil {
		return err
	}
	if h, ok := parseHeader(frame); ok && h.stored != uint32(len(frame)-headerBytes) && v.wholeFrame(f, h) {
		return v.checkHeader(i, frame)
	}
	return v.frameError(i, "checksum %08x, want %08x%s", got, want, explainFrameFlip(got^want, len(frame), f.offset))
}

// wholeFrame reports whether the header at the place of f begins a whole frame
// of another length.
func (v *view) wholeFrame(f frame, h header) bool {
	if int64(h.stored) > v.s.m.Files[f.shard].Bytes-f.offset-headerBytes {
		return false
	}
	other := make([]byte, headerBytes+int(h.stored))
	if n, _ := v.s.files[f.shard].ReadAt(other, f.offset); n < len(other) {
		return false
	}
	return frameSum(other) == binary.LittleEndian.Uint32(other[atSum:])
}

// changedError says whether a shard is no longer the file that was opened.
func (s *Store) changedError(shard int) error {
	info, err := s.files[shard].Stat()
	if err != nil {
		return err
	}
	was := s.infos[shard]
	if info.Size() == was.Size() && info.ModTime().Equal(was.ModTime()) {
		return nil
	}
	return failf(ErrChanged, "%s: changed since it was opened", s.path(s.m.Files[shard].Name))
}
