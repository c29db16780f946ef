package shard

import (
	"context"
	"errors"

	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
)

// Swept is a store as runs of many sweeps use it: streamed, with frames in memory, or
// copied into memory in the layout that is swept fastest. It changes no bit of a result.
type Swept struct {
	*Store
	A       sparse.Matrix  // what is to be swept: the store, and after Load its copy
	Copy    *sparse.Layout // the layout of the copy, nil if there is to be none
	Forward bool           // no sweep is made of [Store.Transpose]

	o Options
}

// OpenSwept is [Open] for a run with so much memory, o.Memory: of it the store has one
// half, or, if it may be copied and takes little, the copy that [Swept.Settle] plans.
func OpenSwept(ctx context.Context, dir string, o *Options, copied bool) (*Swept, error) {
	s := &Swept{Store: new(Store), o: *o}
	if err := s.open(ctx, dir, copied && !o.Stream); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// open opens the store; no frame of it stays in memory if it is streamed, or if a copy that
// there may be is to be swept in its place.
func (s *Swept) open(ctx context.Context, dir string, copied bool) error {
	o := s.o
	o.Memory /= 2
	if copied && s.o.Memory > 0 {
		m, err := readManifest(durable.OS, dir)
		if err != nil {
			return err
		}
		copied = copyRoom(m, s.o.Memory) > 0
	}
	o.Stream = o.Stream || copied
	store, err := Open(ctx, dir, &o)
	if err != nil {
		return err
	}
	s.Store, s.A = store, store
	if copied {
		err = s.plan(ctx, sparse.LayoutOptions{Sweeps: 1})
	}
	return err
}

// copyShare is how many times as much memory a run must have as what only saves time takes.
const copyShare = 8

// copyBytes returns what a copy with plain column ids takes.
func copyBytes(m *Manifest) int64 {
	return sparse.LoadBytes(m.Rows, m.Entries, m.Weighted)
}

// copyRoom returns how many bytes a copy may take in a run that has so many; 0 if there is
// to be none. Coded ids cost a sweep over few columns up to a third of its time; a copy is
// for where it takes little of the memory that there is.
func copyRoom(m *Manifest, run int64) int64 {
	if plain := copyBytes(m); plain <= run/copyShare {
		return plain + run/copyShare
	}
	return 0
}

// stream settles that nothing of the matrix stays in memory. Degrees and ids are those that
// callers have already: read anew they would be there twice.
func (s *Swept) stream() error {
	s.o.Stream, s.A, s.Copy = true, s.Store, nil
	return s.planMemory(sched.Workers(s.o.Workers), &s.o)
}

// plan plans a copy.
func (s *Swept) plan(ctx context.Context, o sparse.LayoutOptions) (err error) {
	o.Workers = s.o.Workers
	if s.o.Memory > 0 {
		o.Memory = max(copyBytes(s.Manifest), copyRoom(s.Manifest, s.o.Memory))
	}
	s.Copy, err = s.Layout(ctx, &o)
	return err
}

// Held returns the bytes of memory that the store and its copy take.
func (s *Swept) Held() int64 {
	bytes := s.Store.Held()
	if s.Forward {
		bytes -= s.keptBack()
	}
	if s.Copy != nil {
		bytes += s.Copy.Matrix
	}
	return bytes
}

// Settle decides which parts of the store stay in memory, and in which layout. plan checks
// whether the run fits beside [Swept.Held] bytes and returns the number of its sweeps and the
// bytes of a row of its widest block, 0 where they are not known in advance. Settle calls it
// again after each decision, so that the last call is for the final state, and returns its
// error. If the run fits only without frames in memory, every sweep reads them again. A copy is
// laid out for the sweeps unless the better layout leaves too little memory.
func (s *Swept) Settle(ctx context.Context, plan func() (sweeps, rowBytes int, err error)) error {
	sweeps, rowBytes, err := plan()
	if err != nil && !s.o.Stream {
		if err := s.stream(); err != nil {
			return err
		}
		_, _, err = plan()
	}
	if err != nil || s.Copy == nil {
		return err
	}
	if err := s.plan(ctx, sparse.LayoutOptions{Sweeps: sweeps, RowBytes: rowBytes}); err != nil || !s.Copy.Tiled {
		return err
	}
	if _, _, err := plan(); err == nil {
		return nil
	}
	if err := s.plan(ctx, sparse.LayoutOptions{Sweeps: 1}); err != nil {
		return err
	}
	_, _, err = plan() // as before
	return err
}

// Load makes the copy, if there is to be one.
func (s *Swept) Load(ctx context.Context) error {
	if s.Copy == nil {
		return nil
	}
	a, err := s.Copy.Load(ctx)
	if err == nil {
		s.A = a
	}
	return err
}
