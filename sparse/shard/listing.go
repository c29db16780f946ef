package shard

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/sched"
)

// listing gives access to the files that a manifest lists.
type listing struct {
	fs       durable.FS
	dir      string
	manifest *Manifest
	shards   []durable.File
	infos    []fs.FileInfo // state of the shards when they were opened
	isClosed atomic.Bool
}

func (l *listing) path(name string) string {
	return filepath.Join(l.dir, name)
}

func (l *listing) shardPath(shard int32) string {
	return l.path(l.manifest.Files[shard].Name)
}

func (l *listing) isReplaced() bool {
	if l.manifest == nil {
		return false
	}
	now, err := readManifest(l.fs, l.dir)
	return err == nil && now.Identity != l.manifest.Identity
}

func (l *listing) check(f File) error {
	path := l.path(f.Name)
	info, err := l.fs.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return newDamage(path, "missing (listed in the manifest)")
	}
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return newDamage(path, "no regular file")
	}
	if info.Size() != f.Bytes {
		return newDamage(path, "%d bytes, manifest says %d", info.Size(), f.Bytes)
	}
	return nil
}

func (l *listing) openShards(ctx context.Context) error {
	for _, entry := range l.manifest.shards() {
		if err := sched.Cause(ctx); err != nil {
			return err
		}
		f, err := l.fs.Open(l.path(entry.Name))
		if err != nil {
			return err
		}
		l.shards = append(l.shards, f)
		readInOrder(f)
		info, err := f.Stat()
		if err != nil {
			return err
		}
		l.infos = append(l.infos, info)
	}
	return nil
}

// read checks the listed file of the given name, and calls parse with its path and its content after the head.
func (l *listing) read(name, magic string,
	parse func(path string, b []byte) error) error {
	m := l.manifest
	path := l.path(name)
	entry := m.Files[slices.IndexFunc(m.Files,
		func(f File) bool { return f.Name == name })]
	b, err := readFile(l.fs, path, entry.Bytes)
	if err != nil {
		return err
	}
	if int64(len(b)) != entry.Bytes || len(b) < fileHead {
		return newDamage(path, "%d bytes, manifest says %d", len(b), entry.Bytes)
	}
	want, _ := strconv.ParseUint(entry.CRC, 16, 32)
	if got := crc32.Checksum(b, castagnoli); got != uint32(want) {
		return newDamage(path, "checksum %08x, want %08x", got, want)
	}
	if string(b[:8]) != magic || binary.LittleEndian.Uint64(b[8:]) != m.identity() {
		return newDamage(path, "belongs to store %016x, this is %s",
			binary.LittleEndian.Uint64(b[8:]), m.Identity)
	}
	return parse(path, b[fileHead:])
}

// changedError returns an error if the length or the time of a shard has changed since it was opened.
func (l *listing) changedError(shard int) error {
	info, err := l.shards[shard].Stat()
	if err != nil {
		return closedError(err)
	}
	was := l.infos[shard]
	if info.Size() == was.Size() && info.ModTime().Equal(was.ModTime()) {
		return nil
	}
	return l.changeFault(shard)
}

// checkUnchanged returns the error of changedError for the first changed shard. It finds changes that kept the
// checksums of the frames right.
func (l *listing) checkUnchanged() error {
	for shard := range l.shards {
		if err := l.changedError(shard); err != nil {
			return err
		}
	}
	return nil
}

// changeFault returns the error of a shard that another process has changed.
func (l *listing) changeFault(shard int) error {
	return failf(ErrChanged, "%s: changed since it was opened; leave a store alone while it is read, and run again",
		l.shardPath(int32(shard)))
}

// closedError returns [ErrClosed] if err says that a file is closed. Otherwise it returns err.
func closedError(err error) error {
	if errors.Is(err, fs.ErrClosed) {
		return ErrClosed
	}
	return err
}

func (l *listing) wholeFrame(f frame, h header) bool {
	if int64(h.Stored) > l.manifest.Files[f.shard].Bytes-f.offset-headerBytes {
		return false
	}
	text := make([]byte, headerBytes+int(h.Stored))
	if n, _ := l.shards[f.shard].ReadAt(text, f.offset); n < len(text) {
		return false
	}
	return frameSum(text) == binary.LittleEndian.Uint32(text[atSum:])
}
