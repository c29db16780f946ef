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

// Settings say how a graph is opened or made. Nil means all defaults.
type Settings struct {
	// Memory is the largest number of bytes for the matrix of [Open]; 0 means no limit.
	// What does not fit stays on disk and is read anew by every sweep. It never changes a
	// result.
	Memory int64

	// Workers is the number of goroutines; 0 means one for each processor. It never
	// changes a result.
	Workers int

	// Columns is the number of float64 columns of the widest block that will be swept;
	// 0 means that it is not known. The layout of [Open] in memory suits it.
	Columns int

	// Components are those of the matrix of [New], nil where they are not known yet. They
	// are numbered anew in the order of the ids, where that is another one.
	Components *sparse.Components

	// Nodes are the ids of the rows of [New]'s matrix; nil: node i is row i.
	Nodes *shard.Nodes

	// Temporary is a directory, the one that the store of [Open] lies in, that Close
	// removes; "": it stays.
	Temporary string

	// KeepLoops makes the Laplacian of [New]'s matrix with its diagonal, whatever that
	// weighs.
	KeepLoops bool
}

// Open opens the store in the directory dir, copied into memory in the layout that is
// swept fastest where it fits. The graph is to be closed. The error is that of
// [shard.Open], ErrDirected, or that of [New]. Cost: [Sweeps] and up to five more.
func Open(ctx context.Context, dir string, s *Settings) (g *Graph, err error) {
	var set Settings
	if s != nil {
		set = *s
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
	layout, err := store.Layout(ctx, &sparse.LayoutOptions{
		RowBytes: 8 * sparse.Stride[float64](set.Columns), Memory: set.Memory, Workers: set.Workers,
	})
	if err != nil {
		return nil, err
	}
	a := sparse.Matrix(store)
	if layout != nil {
		if a, err = layout.Load(ctx); err != nil {
			return nil, err
		}
	}
	if g, err = New(ctx, a, &Settings{Nodes: store.Nodes, Workers: set.Workers}); err != nil {
		return nil, err
	}
	g.store, g.temporary = store, set.Temporary
	return g, nil
}

// FromMat returns the graph of a symmetric gonum matrix of weights ≥ 0. One that can
// visit its non-zeros, as those of package sparse of James Bowman can, is never made
// dense. Node i is row i. The error wraps [sparse.ErrStructure], also where two mirror
// images differ by more than rounding, or is that of [New].
func FromMat(ctx context.Context, m mat.Matrix, s *Settings) (*Graph, error) {
	var set Settings
	if s != nil {
		set = *s
	}
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
	return New(ctx, a, &Settings{Workers: set.Workers})
}

// Close lets go of what Open has opened. The graph is not to be used any more.
func (g *Graph) Close() error {
	var err error
	if g.store != nil {
		err = g.store.Close()
	}
	if g.temporary != "" {
		err = errors.Join(err, os.RemoveAll(g.temporary))
	}
	g.store, g.temporary = nil, ""
	return err
}
