// Package heatwalk labels the rest of a graph: a streaming sparse-matrix
// engine for large graphs, and the kernels and learners that run on it.
//
// [Open] takes a store, any graph file or a folder of LINQS files. The examples below
// are the usual jobs; docs/library.md tells of them in turn, and docs/architecture.md
// shows how the packages fit together.
package heatwalk

import (
	"context"
	"os"
	"path/filepath"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// Open opens a graph: a store that [ingest.Run] or the command made, or any file that
// it reads (an edge list, Matrix Market, SciPy, METIS, GraphML, GML, Pajek, Parquet, …;
// plain, gzip or zstd) or folder of LINQS files, which becomes a store in a temporary
// directory first. The graph lies in memory, in the layout that is swept fastest, as far
// as the options allow, and is to be closed. Options may be nil.
//
// The error is that of [graph.Open] or [ingest.Run].
func Open(ctx context.Context, path string, o *shard.Options) (*graph.Graph, error) {
	if ingest.IsStore(path) {
		return graph.Open(ctx, path, o)
	}
	dir, err := os.MkdirTemp("", "heatwalk-")
	if err != nil {
		return nil, err
	}
	g, err := openFile(ctx, path, dir, o)
	if err != nil {
		_ = os.RemoveAll(dir) // the error that matters is known
	}
	return g, err
}

// openFile makes a store of a file in a temporary directory and opens it.
func openFile(ctx context.Context, path, dir string, o *shard.Options) (*graph.Graph, error) {
	c := new(ingest.Config)
	if o != nil {
		c.Memory, c.Workers = o.Memory, o.Workers
	}
	store := filepath.Join(dir, "graph")
	if _, err := ingest.Run(ctx, store, []string{path}, c); err != nil {
		return nil, err
	}
	g, err := graph.Open(ctx, store, o)
	if err == nil {
		g.Temporary = dir
	}
	return g, err
}
