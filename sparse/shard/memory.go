package shard

import (
	"context"
	"sync/atomic"

	"github.com/heatwalk/heatwalk/sparse"
)

// InMemory returns a store without files for the symmetric matrix a, whose rows have the ids 0, 1, 2 and so on. m has
// the options and the sources of the manifest; InMemory sets the counts. The store is never streamed or copied, because
// sweeps of a are fast. The error is the error of a sweep. Cost: two sweeps.
func InMemory(ctx context.Context, a *sparse.Symmetric, m Manifest,
	o *Options) (*Sweeper, error) {
	s := &Store{Matrix: a, Manifest: &m}
	sweeper := &Sweeper{Store: s, A: a, o: Options{Stream: true}}
	if o != nil {
		sweeper.o.Workers = o.Workers
	}
	rows, _ := a.Dims()
	m.Kind = "store"
	m.Format = Version
	m.Rows, m.Entries, m.SelfLoops, m.Weighted, m.Negative, m.Nodes = int64(rows),
		a.NNZ(), a.Loops, a.IsWeighted(), a.Negative, nodesImplicit
	s.Nodes = NewNumericNodes(rows)
	var pairs atomic.Uint64
	err := sparse.Sweep(ctx, a, sweeper.o.Workers, func(_ int, p sparse.Panel) error {
		for i := range p.Hi - p.Lo {
			col, val := p.Row(i)
			pairs.Add(contentSum(false, uint32(p.Lo+i), col, val, nil))
		}
		return nil
	})
	if err == nil {
		s.Degrees, err = sparse.Degrees(ctx, a, sweeper.o.Workers)
	}
	if err != nil {
		return nil, err
	}
	m.setContent(pairs.Load(), s.Nodes, "")
	m.Identity = m.Content()
	return sweeper, s.plan.Reserve(sparse.LoadBytes(m.Rows, m.Entries, m.Weighted)+
		8*m.Rows, "matrix and degrees")
}
