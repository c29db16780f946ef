package shard

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
)

func (v *view) SweepRows(ctx context.Context, lo, hi, workers int,
	visit sparse.PanelVisitor) error {
	return v.sweepRows(ctx, lo, hi, workers, v.s.table, visit)
}

func (v *view) sweepRows(ctx context.Context, lo, hi, workers int, table *codeTable,
	visit sparse.PanelVisitor) error {
	first := sort.Search(len(v.chunks),
		func(k int) bool { return v.direct.ranges[v.chunks[k].hi-1].Hi > lo })
	last := sort.Search(len(v.chunks),
		func(k int) bool { return v.direct.ranges[v.chunks[k].lo].Lo >= hi })
	var reads atomic.Bool
	err := sched.Run(ctx, workers, max(0, last-first), func(worker, k int) error {
		if v.s.listed.isClosed.Load() {
			return ErrClosed
		}
		b := v.s.buffers.take()
		c := v.chunks[first+k]
		defer v.s.buffers.give(b)
		defer sched.InRows(v.direct.ranges[c.lo].Lo, v.direct.ranges[c.hi-1].Hi)
		if c.data.Load() == nil {
			reads.Store(true)
		}
		data, err := v.bytes(b, c)
		if err != nil {
			return err
		}
		for i := c.lo; i < c.hi; i++ {
			if r := v.direct.ranges[i]; r.Hi <= lo || r.Lo >= hi {
				continue
			}
			f := v.direct.frames[i]
			p, err := v.decode(b, i, data[f.offset-c.offset:][:f.bytes], c.resident.Load())
			if err != nil {
				return err
			}
			if table != nil {
				table.weigh(&p, b.val)
			}
			if err := visit(worker, p); err != nil {
				return err
			}
			if err := sched.Cause(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && reads.Load() {
		err = v.s.listed.checkUnchanged()
	}
	return err
}

// bufferPool has the buffers that no goroutine uses.
type bufferPool struct {
	valued bool // panels may have values
	mu     sync.Mutex
	idle   []*buffers // guarded by mu
}

func (p *bufferPool) take() *buffers {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.idle)
	if n == 0 {
		return newBuffers(p.valued)
	}
	b := p.idle[n-1]
	p.idle = p.idle[:n-1]
	return b
}

func (p *bufferPool) give(b *buffers) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, b)
}

// bytes returns the bytes of a chunk. If the chunk does not stay in memory, it reads them into b. slack bytes after the
// result are readable, too.
func (v *view) bytes(b *buffers, c *chunk) ([]byte, error) {
	if c.resident.Load() {
		return v.load(c)
	}
	if b.chunk == nil {
		b.chunk = make([]byte, v.s.longest+slack)
	}
	data := b.chunk[:c.bytes]
	return data, v.read(data, c.shard, c.offset)
}

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
	if !c.resident.Load() { // any more
		c.data.Store(nil)
	}
	return data, nil
}

func (v *view) read(dst []byte, shard int32, offset int64) error {
	n, err := v.s.listed.shards[shard].ReadAt(dst, offset)
	if n == len(dst) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		if changed := v.s.listed.changedError(int(shard)); changed != nil {
			return changed
		}
		return &CorruptError{Path: v.s.listed.shardPath(shard),
			Offset: offset + int64(n), What: "ends too early" + restore}
	}
	return closedError(err)
}

// decode checks and decodes frame i. The first time, it checks everything. Later, it compares the checksum with the
// first checksum, unless resident is set because the frame has stayed in memory.
func (v *view) decode(b *buffers, i int, frame []byte,
	resident bool) (p sparse.Panel, err error) {
	seen := v.seen[i].Load()
	if seen == 0 || !resident {
		if err := v.checkFrame(i, frame, seen); err != nil {
			return p, err
		}
	}
	p, wrong := b.decode(frame[headerBytes:], v.direct.ranges[i], v.s.Manifest, seen == 0)
	if wrong == "" && seen == 0 {
		wrong = checkPanel(p, v.s.Manifest.Rows)
		if wrong == "" && v.direction == 0 {
			wrong = checkDegrees(p, v.s.Degrees)
		}
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

// checkFrame checks the checksum of a frame. It also compares the checksum with seen, or checks the header if seen is
// 0.
func (v *view) checkFrame(i int, frame []byte, seen uint64) error {
	got := frameSum(frame)
	want := binary.LittleEndian.Uint32(frame[atSum:])
	switch {
	case got != want:
		// The error says whether the file was changed, whether another frame is in this place, or that the frame is
		// damaged.
		f := v.direct.frames[i]
		if err := v.s.listed.changedError(int(f.shard)); err != nil {
			return err
		}
		if h := headerOf(frame); h.begins() &&
			h.Stored != uint32(len(frame)-headerBytes) && v.s.listed.wholeFrame(f, h) {
			return v.checkHeader(i, frame)
		}
		return v.frameError(i, "checksum %08x, want %08x", got, want)
	case seen == 0:
		return v.checkHeader(i, frame)
	case got != uint32(seen):
		return v.s.listed.changeFault(int(v.direct.frames[i].shard))
	}
	return nil
}

func (v *view) checkHeader(i int, b []byte) error {
	h := headerOf(b)
	r := v.direct.ranges[i]
	want := v.s.Manifest.header(int(v.direction), int64(i), v.direct.frames[i], r)
	switch {
	case !h.begins():
		return v.frameError(i, "no frame begins here")
	case h.Identity != want.Identity:
		return newDamage(v.s.listed.shardPath(v.direct.frames[i].shard),
			"belongs to store %016x, this is %016x", h.Identity, want.Identity)
	case h.Shard != want.Shard || h.Direction != want.Direction ||
		h.Frame != want.Frame:
		return v.frameError(i, "holds frame %d of direction %d of shard %d, want frame %d of direction %d of shard %d",
			h.Frame, h.Direction, h.Shard, want.Frame, want.Direction, want.Shard)
	}
	for _, f := range []struct {
		name      string
		got, want uint64
	}{
		{"first row", h.Lo, want.Lo},
		{"rows", uint64(h.Rows), uint64(want.Rows)},
		{"entries", uint64(h.Entries), uint64(want.Entries)},
		{"piece", uint64(h.Piece), uint64(want.Piece)},
		{"pieces", uint64(h.Pieces), uint64(want.Pieces)},
		{"stored bytes", uint64(h.Stored), uint64(want.Stored)},
		{"payload bytes", uint64(h.Payload), uint64(want.Payload)},
		{"codec", uint64(h.Codec), uint64(want.Codec)},
	} {
		if f.got != f.want {
			return v.frameError(i, "%s %d, want %d", f.name, f.got, f.want)
		}
	}
	return nil
}

func (v *view) frameError(i int, format string, args ...any) error {
	f := v.direct.frames[i]
	return &CorruptError{Path: v.s.listed.shardPath(f.shard), Offset: f.offset,
		What: fmt.Sprintf("frame %d: ", i) + fmt.Sprintf(format, args...) + restore}
}
