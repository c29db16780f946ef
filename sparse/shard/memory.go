package shard

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/heatwalk/heatwalk/sparse"
)

// InMemory returns a store without files: the symmetric matrix a, whose rows have the ids 0, 1, 2
// and so on. m gives the options and the sources of the manifest; the counts are filled in. It is
// never streamed or copied, because it is in memory in a form that is swept fast.
// The error is that of a sweep. Cost: one sweep.
func InMemory(ctx context.Context, a *sparse.Symmetric, m Manifest,
	o *Options) (*Sweeper, error) {
	s := &Store{Matrix: a, Manifest: &m}
	sweeper := &Sweeper{Store: s, A: a, o: Options{Stream: true}}
	if o != nil {
		sweeper.o.Workers = o.Workers
	}
	rows, _ := a.Dims()
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails
	m.Kind, m.Format, m.Identity = "store", Version,
		fmt.Sprintf("%x", id)
	m.Rows, m.Entries, m.SelfLoops, m.Weighted, m.Negative, m.Nodes = int64(rows),
		a.NNZ(), a.Loops, a.IsWeighted(), a.Negative, nodesImplicit
	s.Nodes = NewNumericNodes(rows)
	var err error
	if s.Degrees, err = sparse.Degrees(ctx, a, sweeper.o.Workers); err != nil {
		return nil, err
	}
	return sweeper, s.plan.Reserve(sparse.LoadBytes(m.Rows, m.Entries, m.Weighted)+
		8*m.Rows, "matrix and degrees")
}
