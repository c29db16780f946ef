package graph

import (
	"context"
	"errors"
	"fmt"
	"os"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// ErrDirected is returned for a directed graph, because its matrix is not symmetric.
var ErrDirected = errors.New("graph: edges have a direction, but a Graph needs a symmetric matrix; ingest as undirected, or sweep over the store itself")

// Open opens the store in the directory dir. Unless Options.Stream is set, the matrix is loaded
// into memory in the layout with the fastest sweeps that fits into Options.Memory; otherwise
// every sweep reads it from disk. The caller must close the graph. The error is that of
// [shard.Open], [ErrDirected], or that of [New]. Cost: [Sweeps], and up to five more to load it.
func Open(ctx context.Context, dir string, o *shard.Options) (g *Graph, err error) {
	var set shard.Options
	if o != nil {
		set = *o
	}
	store, err := shard.Open(ctx, dir, &shard.Options{Stream: true, Workers: set.Workers})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, store.Close())
		}
	}()
	if store.Manifest.Directed {
		return nil, fmt.Errorf("%s: %w", dir, ErrDirected)
	}
	a := sparse.Matrix(store)
	if !set.Stream {
		layout, err := store.Layout(ctx, &sparse.LayoutOptions{Memory: set.Memory, Workers: set.Workers})
		if err != nil {
			return nil, err
		}
		if layout != nil {
			if a, err = layout.Load(ctx); err != nil {
				return nil, err
			}
		}
	}
	if g, err = New(ctx, a, &Settings{Nodes: store.Nodes, Workers: set.Workers}); err != nil {
		return nil, err
	}
	g.store = store
	return g, nil
}

// FromMat returns the graph of a symmetric gonum matrix with weights ≥ 0. A matrix that can visit
// its nonzero elements, such as the types of github.com/james-bowman/sparse, is not converted to
// dense form. Node i is row i unless s.Nodes is set. Elements (i, j) and (j, i) that differ by
// rounding, at most 1e-10 of the larger one, have their mean. The error wraps
// [sparse.ErrStructure] if the matrix is not square or not symmetric, or is that of [New].
func FromMat(ctx context.Context, m mat.Matrix, s *Settings) (*Graph, error) {
	workers := 0
	if s != nil {
		workers = s.Workers
	}
	a, err := sparse.SymmetricFromMat(ctx, m, workers)
	if err != nil {
		return nil, err
	}
	return New(ctx, a.CSR, s)
}

// Close closes the store of [Open] and removes temporary files. The graph must not be used
// afterwards.
func (g *Graph) Close() error {
	var err error
	if g.store != nil {
		err = g.store.Close()
	}
	if g.Temporary != "" {
		err = errors.Join(err, os.RemoveAll(g.Temporary))
	}
	g.store, g.Temporary = nil, ""
	return err
}
