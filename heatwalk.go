// Package heatwalk labels the rest of a graph: from a graph and the labels of a few of its
// nodes it predicts the labels of all other nodes. It also computes the kernel blocks,
// eigenvectors, solutions and matrix exponentials that this needs.
//
// [Open] opens a store, a graph file or a folder of LINQS files; [FromMat] takes a gonum
// matrix. The everyday jobs are methods of the resulting [Graph]: [Graph.Classify],
// [Graph.Evaluate], [Graph.Kernel], [Graph.Eigen], [Graph.Solve] and [Graph.Expm]. They
// name nodes by their ids, and take and return gonum matrices whose rows are in the order
// of [Graph.IDs]. docs/library.md shows each job, and docs/architecture.md the packages
// below, which can be used by themselves.
package heatwalk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// Options say how a graph is opened and how its methods compute. Nil means defaults.
type Options struct {
	// Memory limits the bytes of each step: reading, the graph in memory, and the blocks of
	// a method. 0 means no limit. It never changes a result.
	Memory int64

	// Workers is the number of goroutines; 0: one for each processor. It never changes a
	// result.
	Workers int

	// Stream makes every sweep read the graph from disk, whatever memory there is.
	Stream bool

	// Reading says how a graph file is read: columns, directions, duplicates and so on. Nil
	// means defaults. A store is not read with it.
	Reading *ingest.Config

	// TempDir is where a graph file becomes a temporary store; "": the system's directory.
	TempDir string
}

// Graph is an open graph, directed or not, with the everyday jobs as methods. It must be
// closed. Its methods may be called concurrently.
type Graph struct {
	// Graph holds the matrix, the degrees and the ids, for the packages below this one. Its
	// rows may be in another order than the ids, see [shard.Nodes].
	*graph.Graph

	Directed bool // edges have a direction
	Weighted bool // edges have weights other than 1

	// Report says how the graph file was read; nil for a store or a matrix.
	Report *ingest.Report

	options Options
	closers []func() error // in the order of opening
}

// Open opens a store, a graph file of any format that [ingest.Run] reads (an edge list,
// Matrix Market, SciPy, METIS, GraphML, GML, Pajek, Parquet, …; plain, gzip or zstd), or a
// folder of LINQS files. A graph file becomes a temporary store first, which [Graph.Close]
// removes. The graph lies in memory, in the layout that is swept fastest, as far as the
// options allow.
func Open(ctx context.Context, path string, o *Options) (*Graph, error) {
	g := new(Graph)
	if o != nil {
		g.options = *o
	}
	if err := g.open(ctx, path); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

func (g *Graph) open(ctx context.Context, path string) (err error) {
	dir := path
	if !ingest.IsStore(path) {
		if loaded, err := g.load(ctx, path); loaded || err != nil {
			return err
		}
		if dir, err = g.read(ctx, path); err != nil {
			return err
		}
	}
	o := &shard.Options{Memory: g.options.Memory, Workers: g.options.Workers, Stream: g.options.Stream}
	g.Graph, err = graph.Open(ctx, dir, o)
	switch {
	case errors.Is(err, graph.ErrDirected):
		return g.openDirected(ctx, dir, o)
	case err != nil && dir != path: // a message must not name the temporary store alone
		return fmt.Errorf("%s: %w", path, err)
	case err == nil:
		g.closers = append(g.closers, g.Graph.Close)
	}
	return err
}

// openDirected opens a store whose edges have directions.
func (g *Graph) openDirected(ctx context.Context, dir string, o *shard.Options) error {
	store, err := shard.Open(ctx, dir, o)
	if err != nil {
		return err
	}
	g.closers = append(g.closers, store.Close)
	g.Directed, g.Weighted = true, store.Manifest.Weighted
	if g.Graph, err = graph.New(ctx, store, &graph.Settings{Nodes: store.Nodes, Workers: o.Workers}); err == nil {
		g.In = store.Transpose()
	}
	return err
}

// load opens a sparse matrix that can be swept as it is in the file, and reports whether it has.
func (g *Graph) load(ctx context.Context, path string) (bool, error) {
	if !ingest.Loads(path) {
		return false, nil
	}
	s, report, err := ingest.Load(ctx, path, g.reading())
	if s == nil {
		return false, err
	}
	g.Report, g.Weighted = report, s.Manifest.Weighted
	g.Graph, err = graph.New(ctx, s.A, &graph.Settings{Nodes: s.Nodes, Workers: g.options.Workers})
	return true, err
}

// reading returns the settings of a graph file.
func (g *Graph) reading() *ingest.Config {
	c := new(ingest.Config)
	if g.options.Reading != nil {
		*c = *g.options.Reading
	}
	c.Memory, c.Workers = g.options.Memory, g.options.Workers
	return c
}

// read makes a temporary store of a graph file and returns its directory.
func (g *Graph) read(ctx context.Context, path string) (dir string, err error) {
	temp, err := os.MkdirTemp(g.options.TempDir, "heatwalk-")
	if err != nil {
		return "", err
	}
	g.closers = append(g.closers, func() error { return os.RemoveAll(temp) })
	dir = filepath.Join(temp, "graph")
	if g.Report, err = ingest.Run(ctx, dir, []string{path}, g.reading()); err != nil {
		return "", err
	}
	g.Weighted = g.Report.Store.Weighted
	return dir, nil
}

// FromMat returns the graph of a square gonum matrix of weights ≥ 0. A matrix that offers
// [mat.RowNonZeroDoer] or [mat.NonZeroDoer], as those of github.com/james-bowman/sparse do,
// is never made dense. The id of node i is i, from 0. A matrix that is not symmetric up to
// rounding is that of a directed graph: m[i][j] is the weight of the edge from i to j.
func FromMat(ctx context.Context, m mat.Matrix, o *Options) (*Graph, error) {
	g := new(Graph)
	if o != nil {
		g.options = *o
	}
	n, _ := m.Dims()
	set := &graph.Settings{Nodes: shard.NewNumericNodes(n), Workers: g.options.Workers}
	var err error
	if g.Graph, err = graph.FromMat(ctx, m, set); errors.Is(err, sparse.ErrStructure) {
		if rows, cols := m.Dims(); rows == cols {
			err = g.fromDirected(ctx, m, set)
		}
	}
	if err != nil {
		return nil, err
	}
	g.Weighted = true
	g.closers = append(g.closers, g.Graph.Close)
	return g, nil
}

// fromDirected makes the graph of a matrix that need not be symmetric.
func (g *Graph) fromDirected(ctx context.Context, m mat.Matrix, set *graph.Settings) error {
	a, err := sparse.FromMat(m)
	if err != nil {
		return err
	}
	in, err := sparse.FromMat(a.T())
	if err != nil {
		return err
	}
	if g.Graph, err = graph.New(ctx, a, set); err == nil {
		g.Directed, g.In = true, in
	}
	return err
}

// Close releases the graph and removes its temporary files.
func (g *Graph) Close() error {
	var all []error
	for len(g.closers) > 0 {
		last := len(g.closers) - 1
		all = append(all, g.closers[last]())
		g.closers = g.closers[:last]
	}
	return errors.Join(all...)
}

// IDs returns the ids of all nodes in their order: that of the rows of the matrices that
// methods take and return.
func (g *Graph) IDs() []string {
	ids := make([]string, 0, g.Nodes.Len())
	for row := range g.Nodes.Rows() {
		ids = append(ids, g.Nodes.ID(row))
	}
	return ids
}

// IDError is the error about an id that is not in the graph.
type IDError struct{ ID string }

// Error implements error.
func (e *IDError) Error() string { return fmt.Sprintf("heatwalk: %q is not a node of the graph", e.ID) }

// rows returns the rows of ids, of all nodes in their order for nil.
func (g *Graph) rows(ids []string) ([]int, error) {
	var rows []int
	if ids == nil {
		for row := range g.Nodes.Rows() {
			rows = append(rows, row)
		}
		return rows, nil
	}
	for _, id := range ids {
		row, ok := g.Nodes.Lookup(id)
		if !ok {
			return nil, &IDError{id}
		}
		rows = append(rows, row)
	}
	return rows, nil
}
