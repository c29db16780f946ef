package shard

import (
	"context"
	"errors"

	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
)

// Sweeper is a store for runs of many sweeps: streamed, with frames in memory, or copied into memory in the
// layout with the fastest sweeps. The results have the same bits.
type Sweeper struct {
	*Store
	A       sparse.Matrix  // the matrix for sweeps: the store, or after Load its copy
	Copy    *sparse.Layout // layout of the copy, or nil
	Forward bool           // [Store.Transpose] is not swept

	o       Options
	planned sparse.LayoutOptions // of the copy

	// The entries of a store with codes after Weigh, and of its transpose after the first use.
	joined, transposed *sparse.Joined
}

// entriesOf returns the matrix of the store, where entries that differ by their codes alone are joined after [Weigh].
func entriesOf(s *Sweeper) sparse.Matrix {
	if s.joined != nil {
		return s.joined
	}
	return s.Store
}

// Transpose returns Aᵀ. It must not be called before [Weigh] of a store with codes. Cost: one sweep at the first call
// for a directed store with codes.
func (s *Sweeper) Transpose(ctx context.Context) (sparse.Matrix, error) {
	switch {
	case !s.Manifest.Directed:
		return entriesOf(s), nil
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

// OpenSweeper opens a store as [Open] does for a run with the memory limit o.Memory. The store may use half of
// it. If copied is set and the store is small, [Sweeper.Settle] plans a copy instead.
func OpenSweeper(ctx context.Context, dir string, o *Options,
	copied bool) (*Sweeper, error) {
	copied = copied && !o.Stream
	if copied && o.Memory > 0 {
		m, err := readManifest(durable.OS, dir)
		if err != nil {
			return nil, err
		}
		copied = copyRoom(m, o.Memory) > 0
	}
	opened := *o
	opened.Memory /= 2
	opened.Stream = o.Stream || copied // its frames do not stay in memory if a copy may be swept instead
	store, err := Open(ctx, dir, &opened)
	if err != nil {
		return nil, err
	}
	s := &Sweeper{Store: store, A: store, o: *o}
	if copied {
		if err := s.plan(ctx, sparse.LayoutOptions{Sweeps: 1}); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// copyShare is the smallest ratio of the memory limit to the memory of a copy, which only saves time.
const copyShare = 8

// copyBytes returns the memory of a copy with plain column ids.
func copyBytes(m *Manifest) int64 {
	return sparse.LoadBytes(m.Rows, m.Entries, m.Weighted)
}

// copyRoom returns the memory limit of a copy for a run with the given memory, or 0 for no copy. Decoding ids
// takes up to a third of the time of a sweep over few columns, so that a copy is faster; it is made if it
// needs a small part of the memory.
func copyRoom(m *Manifest, run int64) int64 {
	if plain := copyBytes(m); plain <= run/copyShare {
		return plain + run/copyShare
	}
	return 0
}

// keepOnDisk decides that the matrix does not stay in memory. Degrees and ids are not read again, because callers
// already refer to them.
func keepOnDisk(s *Sweeper) error {
	s.o.Stream, s.A, s.Copy = true, entriesOf(s), nil
	return planMemory(s.Store, sched.Workers(s.o.Workers), &s.o)
}

// plan plans a copy.
func (s *Sweeper) plan(ctx context.Context, o sparse.LayoutOptions) (err error) {
	s.planned = o
	o.Workers = s.o.Workers
	if s.o.Memory > 0 {
		o.Memory = max(copyBytes(s.Manifest), copyRoom(s.Manifest, s.o.Memory))
	}
	o.Ones = !s.Manifest.Weighted
	s.Copy, err = sparse.FindLayout(ctx, entriesOf(s), &o)
	return err
}

// IsStreamed reports whether every sweep reads the store from disk.
func (s *Sweeper) IsStreamed() bool {
	return s.o.Stream && s.Copy == nil && s.A == entriesOf(s)
}

// Held returns the memory of the store and its copy in bytes.
func (s *Sweeper) Held() int64 {
	bytes := s.Store.Held()
	if s.Forward {
		bytes -= bytesOnlyTransposed(s.Store)
	}
	if s.Copy != nil {
		bytes += s.Copy.Matrix
	}
	if s.joined != nil {
		bytes += sparse.JoinedBytes(s.Store, sched.Workers(s.o.Workers))
	}
	return bytes
}

// Settle decides which parts of the store stay in memory, and in which layout. plan returns an error if the run
// does not fit into the memory limit together with [Sweeper.Held] bytes. It also returns the number of sweeps and
// the bytes of a row of the widest block, 0 if they are not known. Settle calls plan again after each decision,
// so that the last call is for the final state, and returns its error. If the run fits only without frames in
// memory, every sweep reads them from disk. A copy has the layout for these sweeps unless the run then does
// not fit. If copied is not set, the run makes no copy, and a later one may.
func (s *Sweeper) Settle(ctx context.Context, copied bool,
	plan func() (sweeps, rowBytes int, err error)) error {
	if planned := s.Copy; planned != nil && !copied {
		s.Copy = nil
		defer func() {
			if !s.o.Stream {
				s.Copy = planned
			}
		}()
	}
	sweeps, rowBytes, err := plan()
	if err != nil && !s.o.Stream {
		if err := keepOnDisk(s); err != nil {
			return err
		}
		_, _, err = plan()
	}
	if err != nil || s.Copy == nil {
		return err
	}
	if err := s.plan(ctx,
		sparse.LayoutOptions{Sweeps: sweeps, RowBytes: rowBytes}); err != nil ||
		!s.Copy.Tiled {
		return err
	}
	if _, _, err := plan(); err == nil {
		return nil
	}
	if err := s.plan(ctx, sparse.LayoutOptions{Sweeps: 1}); err != nil {
		return err
	}
	_, _, err = plan() // fits, as before
	return err
}

// Load makes the copy, if there is to be one.
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
