package shard

import (
	"cmp"
	"context"
	"errors"

	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
)

// Sweeper is a store for runs of many sweeps. Sweeps read its frames from disk or memory, or a copy in the layout with
// the fastest sweeps. Results have the same bits in each case.
type Sweeper struct {
	*Store
	A       sparse.Matrix  // the matrix for sweeps: the store, or its copy after Load
	Copy    *sparse.Layout // layout of the copy, or nil
	Forward bool           // promises that [Store.Transpose] is not swept

	o Options

	// After Weigh, the matrix and, after its first use, the transpose, with the entries of a pair of nodes added up.
	joined, transposed *sparse.Joined
}

// entries returns the matrix of the store. After [Weigh], the entries of a pair of nodes are added up.
func (s *Sweeper) entries() sparse.Matrix {
	if s.joined != nil {
		return s.joined
	}
	return s.Store
}

// Transpose returns Aᵀ. If the store has codes, [Weigh] must be called before. Cost: one sweep at the first call for a
// directed store with codes.
func (s *Sweeper) Transpose(ctx context.Context) (sparse.Matrix, error) {
	switch {
	case !s.Manifest.Directed:
		return s.entries(), nil
	case s.joined == nil:
		return s.Store.Transpose(), nil
	case s.transposed == nil:
		back := &sparse.Joined{Matrix: s.Store.Transpose()}
		if err := back.Plan(ctx, s.o.Workers); err != nil {
			return nil, err
		}
		s.transposed = back
	}
	return s.transposed, nil
}

// OpenSweeper opens a store as [Open] does. o.Memory limits the memory of the run, of which the store may use half. If
// copied is set, [Sweeper.Load] copies the store, unless o.Stream is set or the copy exceeds an eighth of the limit.
func OpenSweeper(ctx context.Context, dir string, o *Options,
	copied bool) (*Sweeper, error) {
	o = cmp.Or(o, new(Options))
	copied = copied && !o.Stream
	if copied && o.Memory > 0 {
		m, err := readManifest(durable.OS, dir)
		if err != nil {
			return nil, err
		}
		copied = m.copyBytes() <= o.Memory/copyShare
	}
	opened := *o
	opened.Memory /= 2
	opened.Stream = o.Stream || copied // frames do not stay in memory if a copy may be swept
	store, err := Open(ctx, dir, &opened)
	if err != nil {
		return nil, err
	}
	s := &Sweeper{Store: store, A: store, o: *o}
	if copied {
		if err := s.Arrange(ctx, sparse.LayoutOptions{Sweeps: 1}, 0); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// copyShare is the part of the memory limit that a copy may take: 1/copyShare of the limit. A layout may take as much
// in addition to plain ids. Decoding ids takes up to a third of the time of a sweep over few columns.
const copyShare = 8

func (m *Manifest) copyBytes() int64 {
	return sparse.LoadBytes(m.Rows, m.Entries, m.Weighted)
}

// KeepOnDisk makes every following sweep read the matrix from disk. It returns false if sweeps already do, so that
// [Sweeper.Held] does not change. Sweeps of the store may run during the call. Degrees and ids stay in memory, because
// callers refer to them.
func (s *Sweeper) KeepOnDisk() (isLess bool, err error) {
	if s.o.Stream {
		return false, nil
	}
	s.o.Stream = true
	s.A = s.entries()
	s.Copy = nil
	return true, s.Store.planMemory(sched.Workers(s.o.Workers), true)
}

// Arrange chooses the layout of the copy for the sweeps that o describes. With a memory limit, [Sweeper.Held] increases
// by at most spare bytes. If there was no copy before, it may also increase by the memory of a copy with plain column
// ids.
func (s *Sweeper) Arrange(ctx context.Context, o sparse.LayoutOptions,
	spare int64) (err error) {
	a := s.entries()
	o.Workers = s.o.Workers
	o.Ones = !s.Manifest.Weighted
	if limit := s.o.Memory; limit > 0 {
		o.Memory = sparse.LoadBytes(s.Manifest.Rows, a.NNZ(), s.Manifest.Weighted)
		if s.Copy != nil {
			spare += s.Copy.Matrix - o.Memory
		}
		o.Memory += min(spare, limit/copyShare)
	}
	s.Copy, err = sparse.FindLayout(ctx, a, &o)
	return err
}

// Held returns the bytes that the store and its copy hold.
func (s *Sweeper) Held() int64 {
	bytes := s.Store.Held()
	if s.Forward {
		bytes -= s.Store.bytesOnlyTransposed()
	}
	if s.Copy != nil {
		bytes += s.Copy.Matrix
	}
	if s.joined != nil {
		bytes += sparse.JoinedBytes(s.Store, sched.Workers(s.o.Workers))
	}
	return bytes
}

// Load makes the copy if Copy is not nil, and sets A to it.
func (s *Sweeper) Load(ctx context.Context) error {
	if s.Copy == nil {
		return nil
	}
	a, err := s.Copy.Load(ctx)
	if err == nil {
		s.A = a
	}
	return err
}
