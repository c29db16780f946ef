package shard

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
)

// Options configure how a store is read; nil means defaults.
type Options struct {
	Memory  int64 // bytes the store may hold, frames included; 0: no limit, all frames stay in memory
	Workers int   // number of goroutines of a sweep; 0: one for each processor
	Stream  bool  // every sweep reads all frames again

	fs durable.FS
}

const (
	// chunkBytes is the largest size of a chunk. Chunks are smaller if Memory has no space for many of them, or if the
	// store has few frames.
	chunkBytes = 256 << 10
)

// Store is an open store, and the matrix of its rows, the out direction. A sweep reads the frames that are not in
// memory in chunks, and checks each frame before it visits the entries. If a frame is damaged, the error is a
// [*CorruptError] or wraps [ErrChanged]. A Store is safe for concurrent use. Its fields must not be changed.
type Store struct {
	sparse.Matrix
	Manifest *Manifest
	Nodes    *Nodes
	Degrees  []float64 // the result of [sparse.Degrees]

	out      *view
	back     *view // the in direction, with columns as rows; for an undirected store equal to out
	listed   listing
	plan     budget.Plan
	resident int64 // bytes of the frames that stay in memory
	longest  int   // bytes of the longest chunk
	buffers  bufferPool
	table    *codeTable // factors of the codes of entries; nil: values are as stored
}

// view is the matrix of one direction of a store.
type view struct {
	s         *Store
	direction uint8
	direct    direction
	chunks    []*chunk
	seen      []atomic.Uint64 // for each frame, 0 or, once it is validated, seenBit + its checksum
}

// seenBit distinguishes the checksum 0 from a frame that was not validated.
const seenBit = 1 << 32

// chunk is a group of consecutive frames lo ≤ i < hi of one shard. They are read at once, and stay in memory together
// or not at all.
type chunk struct {
	lo, hi int
	shard  int32
	offset int64
	bytes  int

	resident atomic.Bool // the chunk stays in memory once it was read
	loading  sync.Mutex  // held while a resident chunk is read
	data     atomic.Pointer[[]byte]
}

// Open opens the store in the directory dir. It reads and checks the manifest, the index, the degrees, the dictionary,
// the order, the length of every file and the first frame of every shard. Other frames are checked when they are read.
// Errors wrap [ErrNotStore], [ErrIncomplete], [ErrVersion] or [sparse.ErrMemory], or are a [*CorruptError].
func Open(ctx context.Context, dir string, o *Options) (*Store, error) {
	if o == nil {
		o = new(Options)
	}
	s, err := openOnce(ctx, dir, o)
	if err == nil {
		return s, nil
	}
	if s.listed.isReplaced() { // another process has removed the listed files
		again, err := openOnce(ctx, dir, o)
		if err == nil {
			return again, s.Close()
		}
		return nil, errors.Join(err, again.Close())
	}
	return nil, errors.Join(err, s.Close())
}

// openOnce opens a store. If it fails, it returns a store too, which the caller must close.
func openOnce(ctx context.Context, dir string, o *Options) (*Store, error) {
	s := &Store{listed: listing{fs: o.fs, dir: dir},
		plan: budget.Plan{Limit: o.Memory}}
	if o.fs == nil {
		s.listed.fs = durable.OS
	}
	return s, s.open(ctx, o)
}

// open opens the store. It checks the sizes of all files before it reads anything large.
func (s *Store) open(ctx context.Context, o *Options) error {
	m, err := readManifest(s.listed.fs, s.listed.dir)
	if err != nil {
		return err
	}
	s.Manifest = m
	s.listed.manifest = m
	s.buffers.valued = m.hasValues()
	workers := sched.Workers(o.Workers)
	if err := s.planFixed(workers, m.leastNodeBytes()); err != nil {
		return err
	}
	for _, f := range m.Files {
		if err := s.listed.check(f); err != nil {
			return err
		}
	}
	if err := sched.Cause(ctx); err != nil {
		return err
	}
	id := m.identity()
	var directions [2]direction
	s.Nodes = NewNumericNodes(int(m.Rows))
	for _, file := range []struct {
		isStored    bool
		name, magic string
		parse       func(path string, b []byte) error
	}{
		{true, fileName(id, indexEnding), indexMagic, func(path string, b []byte) (err error) {
			directions, err = parseIndex(path, b, m)
			return err
		}},
		{true, fileName(id, degreesEnding), degreesMagic, func(path string, b []byte) (err error) {
			s.Degrees, err = parseDegrees(path, b, m)
			return err
		}},
		{m.Nodes != nodesImplicit, fileName(id, nodesEnding), nodesMagic, func(path string, b []byte) (err error) {
			s.Nodes, err = parseNodes(path, b, m)
			return err
		}},
		{m.Order != "", fileName(id, orderEnding), orderMagic,
			func(path string, b []byte) error { return s.Nodes.parseOrder(path, b, m) }},
	} {
		if !file.isStored {
			continue
		}
		if err := s.listed.read(file.name, file.magic, file.parse); err != nil {
			return err
		}
	}
	s.out = &view{s: s, direct: directions[0]}
	s.Matrix = s.out
	s.back = s.out
	if m.Directed {
		s.back = &view{s: s, direction: 1, direct: directions[1]}
	}
	if err := s.listed.openShards(ctx); err != nil {
		return err
	}
	if err := s.checkFirstFrames(); err != nil {
		return err
	}
	return s.planMemory(workers, o.Stream)
}

func (s *Store) checkFirstFrames() error {
	for _, v := range s.storedViews() {
		for i, f := range v.direct.frames {
			if f.offset > 0 {
				continue
			}
			b := make([]byte, f.bytes)
			if n, err := s.listed.shards[f.shard].ReadAt(b, 0); n < len(b) {
				return err
			}
			if err := v.checkFrame(i, b, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Store) storedViews() []*view {
	if s.out == nil { // see InMemory
		return nil
	}
	if s.Manifest.Directed {
		return []*view{s.out, s.back}
	}
	return []*view{s.out}
}

// planFixed reserves the memory that the limit does not change: degrees, nodes bytes of ids, and decoded frames. If the
// sum exceeds the limit, the error states the sum.
func (s *Store) planFixed(workers int, nodes int64) (err error) {
	s.plan = budget.Plan{Limit: s.plan.Limit}
	for _, item := range []budget.Item{
		{What: "degrees", Bytes: 8 * s.Manifest.Rows},
		{What: "node ids", Bytes: nodes},
		{What: "decoded frames",
			Bytes: int64(workers) * buffersBytes(s.Manifest.hasValues())},
	} {
		if over := s.plan.Reserve(item.Bytes, item.What); over != nil {
			err = fmt.Errorf("%s: %w", s.listed.dir, over)
		}
	}
	return err
}

// planMemory cuts the frames into chunks, unless they are cut, and decides which chunks stay in memory. If stream is
// set, none stay; without a limit, all stay. With a limit, as many stay as fit in addition to the buffers. They are
// spread over the sweep, so that the disk can work while they are decoded. Once the frames are cut, sweeps may run
// during the call.
func (s *Store) planMemory(workers int, stream bool) error {
	if err := s.planFixed(workers, s.Nodes.Bytes()); err != nil {
		return err
	}
	left, limited := s.plan.Left()
	total := s.Manifest.size()
	const residentChunks, workerChunks = 16, 32 // chunks at least that are kept, if any are, and that a worker takes
	target := min(chunkBytes, total/int64(workerChunks*workers))
	if limited {
		target = min(target, left/residentChunks)
	}
	chunks := 0
	for _, v := range s.storedViews() {
		if v.seen == nil {
			s.longest = max(s.longest, v.cut(int(target)))
		}
		chunks += len(v.chunks)
	}
	fits := !stream && (!limited || left >= total+int64(chunks)*slack)
	keep := total
	if !fits {
		if err := s.plan.Reserve(int64(workers)*int64(s.longest+slack),
			"chunks in flight"); err != nil {
			return fmt.Errorf("%s: %w", s.listed.dir, err)
		}
		if left, limited := s.plan.Left(); limited {
			keep = left
		}
	}
	if stream {
		keep = 0
	}
	keep = min(keep, total)
	var credit int64
	for _, v := range s.storedViews() {
		for _, c := range v.chunks {
			// Of every total bytes that pass, keep bytes are kept.
			credit += int64(float64(c.bytes) / float64(total) * float64(keep))
			stays := fits || credit >= int64(c.bytes+slack)
			c.resident.Store(stays)
			if stays {
				credit -= int64(c.bytes + slack)
			} else {
				c.data.Store(nil)
			}
		}
	}
	s.resident = keep
	return s.plan.Reserve(keep, "frames kept in memory")
}

// cut cuts the frames into chunks of at most target bytes, and returns the bytes of the longest chunk. A larger frame
// is a chunk of its own.
func (v *view) cut(target int) (longest int) {
	v.seen = make([]atomic.Uint64, len(v.direct.frames))
	var c *chunk
	for i, f := range v.direct.frames {
		if c == nil || c.shard != f.shard || c.bytes+int(f.bytes) > target {
			c = &chunk{lo: i, shard: f.shard, offset: f.offset}
			v.chunks = append(v.chunks, c)
		}
		c.hi = i + 1
		c.bytes += int(f.bytes)
		longest = max(longest, c.bytes)
	}
	return longest
}

// Transpose returns Aᵀ, which is the in direction of a directed store. For an undirected store it returns the store.
func (s *Store) Transpose() sparse.Matrix {
	if s.Manifest.Directed {
		return s.back
	}
	return s
}

// Held returns the bytes that the store holds once everything was read, including the buffers of sweeps. Options.Memory
// bounds them.
func (s *Store) Held() int64 { return s.plan.Required() }

// bytesOnlyTransposed returns the bytes of the frames in memory that only sweeps of [Store.Transpose] read.
func (s *Store) bytesOnlyTransposed() int64 {
	var bytes int64
	if s.back == s.out {
		return 0
	}
	for _, v := range s.storedViews()[1:] {
		for _, c := range v.chunks {
			if c.resident.Load() {
				bytes += int64(c.bytes)
			}
		}
	}
	return bytes
}

// Resident reports whether every frame stays in memory after it is read.
func (s *Store) Resident() bool {
	for _, v := range s.storedViews() {
		for _, c := range v.chunks {
			if !c.resident.Load() {
				return false
			}
		}
	}
	return true
}

// Close closes the files. Running and later sweeps return [ErrClosed]. A second call does nothing.
func (s *Store) Close() error {
	if s.listed.isClosed.Swap(true) {
		return nil
	}
	var errs []error
	for _, f := range s.listed.shards {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

func (v *view) Dims() (r, c int) {
	return int(v.s.Manifest.Rows), int(v.s.Manifest.Rows)
}

func (v *view) NNZ() int64 { return v.s.Manifest.Entries }

func (v *view) Ranges() []sparse.Range { return v.direct.ranges }
