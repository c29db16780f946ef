package shard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
)

// What is written is read back from the disk and compared before anything relies
// on it. Of a shard that is done while the rows to come are still being made: a
// goroutine syncs what there is of it, asks the disk for it, and begins again when
// there is another piece; the rest follows when the shard ends, beside what comes then.

// readBackBytes are read at a time: they stay in a core's cache until they are summed.
const readBackBytes = 256 << 10

// pieceBytes is how much of a shard is worth a sync of its own, a multiple of what
// the system keeps or drops at once.
const pieceBytes = 16 << 20

// mark is a place in a file and the checksum of all that is before.
type mark struct {
	bytes int64
	sum   uint32
}

// shardFile is the shard that is being written.
type shardFile struct {
	durable.File
	path    string
	piece   int64 // bytes that are synced and read back at a time
	written mark

	// What came back so far. The goroutine, if there is one, changes it.
	working atomic.Bool
	group   sched.Group
	read    mark
	err     error
}

// Write implements io.Writer, and has what is written read back if nobody does that
// yet.
func (f *shardFile) Write(p []byte) (int, error) {
	done := 0
	for done < len(p) {
		more := p[done:]
		more = more[:min(int64(len(more)), f.piece-f.written.bytes%f.piece)]
		n, err := f.File.Write(more)
		done += n
		f.written = mark{f.written.bytes + int64(n), simd.Checksum(f.written.sum, more[:n])}
		if err == nil && f.written.bytes%f.piece == 0 && !f.working.Load() {
			if err = f.err; err == nil {
				f.follow(f.written)
			}
		}
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// follow begins to read back what has not come back yet up to a mark.
func (f *shardFile) follow(to mark) {
	f.working.Store(true)
	f.group.Go(func() {
		defer f.working.Store(false)
		f.err = f.readBack(to)
	})
}

// readBack makes the file durable and reads it from what came back already to a
// mark.
func (f *shardFile) readBack(to mark) error {
	if err := f.Sync(); err != nil {
		return syncError(err)
	}
	dropCached(f.File, f.read.bytes, to.bytes-f.read.bytes)
	readInOrder(f.File)
	if err := f.read.advance(context.Background(), f.File, to.bytes, make([]byte, readBackBytes)); err != nil {
		return err
	}
	return compareBack(f.path, f.read, to)
}

// wait returns when nobody reads the file back.
func (f *shardFile) wait() error {
	f.group.Wait()
	return f.err
}

// cameBack returns when all shards that have ended are read back.
func (w *Writer) cameBack() error {
	w.back.Wait()
	return w.backErr
}

// readBack reads a file that was just written and synced, from one mark to the
// last, from the disk where the system can be told so, and compares its sum.
func (w *Writer) readBack(ctx context.Context, name string, from, to mark) error {
	path := w.path(name)
	f, err := w.o.fs.Open(path)
	if err != nil {
		return err
	}
	dropCached(f, from.bytes, 0)
	readInOrder(f)
	got := from
	err = got.advance(ctx, f, to.bytes, make([]byte, min(readBackBytes, to.bytes)))
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return compareBack(path, got, to)
}

// compareBack compares what was read of a file with what was written.
func compareBack(path string, got, want mark) error {
	if got == want {
		return nil
	}
	return &CorruptError{Path: path, Offset: -1,
		What: fmt.Sprintf("read back %d bytes with checksum %08x, wrote %d with %s; the disk loses data", got.bytes, got.sum, want.bytes, sumText(want.sum))}
}

// advance goes on with the checksum of f to so many bytes, or to where it ends, by
// way of a buffer.
func (m *mark) advance(ctx context.Context, f io.ReaderAt, to int64, buf []byte) error {
	for m.bytes < to {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := f.ReadAt(buf[:min(int64(len(buf)), to-m.bytes)], m.bytes)
		m.bytes, m.sum = m.bytes+int64(n), simd.Checksum(m.sum, buf[:n])
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	return nil
}
