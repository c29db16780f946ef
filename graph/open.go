package graph

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// ErrDirected is returned for a graph with directions, whose matrix need not be
// symmetric.
var ErrDirected = errors.New("graph: edges have a direction, and a graph's maps need a symmetric matrix; ingest without directions, or sweep over the store itself")

// Open opens the store in the directory dir, copied into memory in the layout that is
// swept fastest where that takes no more than Options.Memory, and is not to be streamed. What
// stays on disk is read anew by every sweep. The graph is to be closed. The error is that of
// [shard.Open], ErrDirected, or that of [New]. Cost: [Sweeps] and up to five more.
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

// FromMat returns the graph of a symmetric gonum matrix of weights ≥ 0. One that can
// visit its non-zeros, as those of package sparse of James Bowman can, is never made
// dense. Node i is row i unless the settings name the nodes. The error wraps
// [sparse.ErrStructure], also where two mirror images differ by more than rounding, or is that
// of [New].
func FromMat(ctx context.Context, m mat.Matrix, s *Settings) (*Graph, error) {
	a, err := sparse.FromMat(m)
	if err != nil {
		return nil, err
	}
	if rows, cols := a.Dims(); rows != cols {
		return nil, fmt.Errorf("%w: a matrix of %d rows and %d columns is no graph", sparse.ErrStructure, rows, cols)
	}
	a.DoNonZero(func(i, j int, v float64) {
		const rounding = 1e-12
		if mirror := a.At(j, i); err == nil && math.Abs(v-mirror) > rounding*max(v, mirror) {
			err = fmt.Errorf("%w: row %d, column %d: value %g, and %g in its mirror image", sparse.ErrStructure, i, j, v, mirror)
		}
	})
	if err != nil {
		return nil, err
	}
	return New(ctx, a, s)
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
