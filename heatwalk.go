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
)

// Open opens a graph: a store that [ingest.Run] or the command made, or any file that
// it reads (an edge list, Matrix Market, SciPy, METIS, GraphML, GML, Pajek, Parquet, …;
// plain, gzip or zstd) or folder of LINQS files, which becomes a store in a temporary
// directory first. The graph lies in memory, in the layout that is swept fastest, as far
// as the settings allow, and is to be closed. Settings may be nil.
//
// The error is that of [graph.Open] or [ingest.Run].
func Open(ctx context.Context, path string, s *graph.Settings) (*graph.Graph, error) {
	if ingest.IsStore(path) {
		return graph.Open(ctx, path, s)
	}
	dir, err := os.MkdirTemp("", "heatwalk-")
	if err != nil {
		return nil, err
	}
	g, err := openFile(ctx, path, dir, s)
	if err != nil {
		_ = os.RemoveAll(dir) // the error that matters is known
	}
	return g, err
}

// openFile makes a store of a file in a temporary directory and opens it.
func openFile(ctx context.Context, path, dir string, s *graph.Settings) (*graph.Graph, error) {
	var set graph.Settings
	if s != nil {
		set = *s
	}
	set.Temporary = dir
	store := filepath.Join(dir, "graph")
	if _, err := ingest.Run(ctx, store, []string{path}, &ingest.Config{Memory: set.Memory, Workers: set.Workers}); err != nil {
		return nil, err
	}
	return graph.Open(ctx, store, &set)
}
