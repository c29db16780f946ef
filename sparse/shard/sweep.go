package shard

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
)

// Sweep implements [sparse.Matrix], see [Store].
func (v *view) Sweep(ctx context.Context, workers int, visit func(worker int, p sparse.Panel) error) error {
	workers = min(sched.Workers(workers), len(v.chunks))
	r := v.s.runs.take(workers)
	defer v.s.runs.put(r)
	var reads atomic.Bool
	err := sched.Run(ctx, workers, len(v.chunks), func(worker, k int) error {
		b, c := r.buffers[worker], &v.chunks[k]
		defer sched.InRows(v.direct.ranges[c.lo].Lo, v.direct.ranges[c.hi-1].Hi)
		if c.data.Load() == nil {
			reads.Store(true)
		}
		data, err := v.bytes(b, c)
		if err != nil {
			return err
		}
		for i := c.lo; i < c.hi; i++ {
			f := v.direct.frames[i]
			p, err := v.decode(b, i, data[f.offset-c.offset:][:f.bytes], c.resident)
			if err != nil {
				return err
			}
			if err := visit(worker, p); err != nil {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && reads.Load() {
		err = v.s.checkUnchanged()
	}
	return err
}

// run holds the buffers of a sweep, those of each worker.
type run struct{ buffers []*buffers }

// runs holds the buffers of sweeps that have ended.
type runs struct {
	weighted bool

	mu   sync.Mutex
	idle []*run
}

// take returns buffers for so many workers.
func (s *runs) take(workers int) *run {
	s.mu.Lock()
	var r *run
	if n := len(s.idle); n > 0 {
		r, s.idle = s.idle[n-1], s.idle[:n-1]
	}
	s.mu.Unlock()
	if r == nil {
		r = new(run)
	}
	for len(r.buffers) < workers {
		r.buffers = append(r.buffers, newBuffers(s.weighted))
	}
	return r
}

// put gives the buffers back.
func (s *runs) put(r *run) {
	s.mu.Lock()
	s.idle = append(s.idle, r)
	s.mu.Unlock()
}

// bytes returns the bytes of a chunk: from memory if it stays there, else read
// into the buffers. What follows them stays readable.
func (v *view) bytes(b *buffers, c *chunk) ([]byte, error) {
	if c.resident {
		return v.load(c)
	}
	if b.chunk == nil {
		b.chunk = make([]byte, v.s.longest+slack)
	}
	data := b.chunk[:c.bytes]
	return data, v.read(data, c.shard, c.offset)
}

// load returns the bytes of a chunk that stays in memory.
func (v *view) load(c *chunk) ([]byte, error) {
	if data := c.data.Load(); data != nil {
		return *data, nil
	}
	c.loading.Lock()
	defer c.loading.Unlock()
	if data := c.data.Load(); data != nil {
		return *data, nil
	}
	data := make([]byte, c.bytes+slack)
	if err := v.read(data[:c.bytes], c.shard, c.offset); err != nil {
		return nil, err
	}
	c.data.Store(&data)
	return data, nil
}

// read fills dst from the given place of a shard.
func (v *view) read(dst []byte, shard int32, offset int64) error {
	n, err := v.s.files[shard].ReadAt(dst, offset)
	if n == len(dst) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		if changed := v.s.changedError(int(shard)); changed != nil {
			return changed
		}
		return &CorruptError{Path: v.path(shard), Offset: offset + int64(n), What: "ends too early" + restore}
	}
	return err
}

// decode checks and decodes frame i. The first time everything is checked; what was
// read again must have the sum that it had, what is resident since is the same.
func (v *view) decode(b *buffers, i int, frame []byte, resident bool) (p sparse.Panel, err error) {
	seen := v.seen[i].Load()
	if seen == 0 {
		err = v.checkFrame(i, frame)
	} else if !resident {
		err = v.checkAgain(i, frame, uint32(seen))
	}
	if err != nil {
		return p, err
	}
	payload := frame[headerBytes:]
	if frame[atCodec] == codecZstd {
		if payload, err = v.decompress(b, i, frame); err != nil {
			return p, err
		}
	}
	p, wrong := b.decode(payload, v.direct.ranges[i], v.s.Manifest.Weighted, seen == 0)
	if wrong == "" && seen == 0 {
		wrong = cmp.Or(checkPanel(p, v.s.Manifest.Rows), v.checkDegrees(p))
	}
	if wrong != "" {
		return p, v.frameError(i, "%s", wrong)
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
		shard: uint32(f.shard), identity: v.s.Manifest.identity(), frame: uint64(i),
		lo: uint64(r.Lo), rows: uint32(r.Hi - r.Lo), entries: uint32(r.Entries),
		piece: uint32(r.Piece), pieces: uint32(r.Pieces),
		stored: uint32(f.bytes - headerBytes), direction: v.direction,
	}
	if v.s.Manifest.Codec == Zstd {
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
		return v.s.changed(int(v.direct.frames[i].shard))
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

func (v *view) path(shard int32) string { return v.s.path(v.s.Manifest.Files[shard].Name) }

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
	if int64(h.stored) > v.s.Manifest.Files[f.shard].Bytes-f.offset-headerBytes {
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
	return s.changed(shard)
}

// checkUnchanged says whether some shard is no longer what was opened, though all
// that was read of it was in order: someone is writing where nobody should.
func (s *Store) checkUnchanged() error {
	for shard := range s.files {
		if err := s.changedError(shard); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) changed(shard int) error {
	return failf(ErrChanged, "%s: changed since it was opened; leave a store alone while it is read, and run the command again",
		s.path(s.Manifest.Files[shard].Name))
}
