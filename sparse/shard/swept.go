package shard

import (
	"context"
	"errors"

	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/system"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
)

// Swept is a store as runs of many sweeps use it: streamed, with frames in memory, or
// copied into memory in the layout that is swept fastest. It changes no bit of a result.
type Swept struct {
	*Store
	A       sparse.Matrix  // what is to be swept: the store, and after Load its copy
	Copy    *sparse.Layout // the layout of the copy, nil if there is to be none
	Forward bool           // no sweep is made of [Store.Transpose]

	o Options

	asStreamed bool // Held is that of the store without frames in memory
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
	return spec.Sum(sparse.LoadMemory(m.Rows, m.Entries, m.Weighted))
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
	switch {
	case s.asStreamed:
		bytes -= s.kept
	case s.Forward:
		bytes -= s.keptBack()
	}
	if s.Copy != nil && !s.asStreamed {
		bytes += s.Copy.Matrix + s.Copy.Copies
	}
	return bytes
}

// Settle decides what of the store lies in memory, and how. plan returns what the run takes
// beside what Held then tells, or an error if it does not fit; the last call is for what
// was decided, and its error is returned. Nothing of the store stays in memory if only
// so the run fits, with all that it may turn out to need, or if sweeps that are wider then
// are so many fewer that they take less time. A copy lies in the layout that is swept
// fastest, unless that makes more sweeps for want of memory.
func (s *Swept) Settle(ctx context.Context, plan func() (spec.Demand, error)) error {
	d, err := plan()
	if !s.o.Stream && (err != nil || s.streamedIsBetter(d, plan)) {
		if err := s.stream(); err != nil {
			return err
		}
		d, err = plan()
	}
	if err != nil || s.Copy == nil {
		return err
	}
	o := sparse.LayoutOptions{RowBytes: d.RowBytes}
	if d.Sweeps != spec.UnknownSweeps {
		o.Sweeps = max(1, d.Sweeps)
	}
	if err := s.plan(ctx, o); err != nil || !s.Copy.Reordered && !s.Copy.Tiled {
		return err
	}
	if arranged, err := plan(); err == nil && arranged.Sweeps == d.Sweeps {
		return nil
	}
	if err := s.plan(ctx, sparse.LayoutOptions{Sweeps: 1}); err != nil {
		return err
	}
	_, err = plan() // as before
	return err
}

// streamedIsBetter tells whether a run with the demand d fits with all that it may turn out
// to need, or takes less time, if nothing of the store stays in memory. A sweep whose frames
// come from the system's cache takes an eleventh more time; where that has no room for
// them, they stay. The last call of plan is for the store as it is.
func (s *Swept) streamedIsBetter(d spec.Demand, plan func() (spec.Demand, error)) bool {
	const dearer = 12.0 / 11
	mayPay := d.Sweeps != spec.UnknownSweeps && s.kept > 0 && s.o.Memory > 0 && s.Manifest.size() <= (system.Memory()-s.o.Memory)/2
	if !d.Short && !mayPay {
		return false
	}
	s.asStreamed = true
	streamed, err := plan()
	s.asStreamed = false
	if err == nil && (d.Short && !streamed.Short || mayPay && dearer*float64(streamed.Sweeps) < float64(d.Sweeps)) {
		return true
	}
	_, _ = plan() // as before
	return false
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
