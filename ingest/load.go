package ingest

import (
	"context"
	"math"
	"time"

	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// loadShare bounds a graph in memory: a graph that takes more than 1/loadShare of the memory limit becomes a
// store, so that sweeps can stream it.
const loadShare = 8

// Loads reports whether [Load] may read a file, which must be an archive or a folder of arrays.
func Loads(path string) bool {
	return graphfile.HoldsArrays(path)
}

// Load opens the sparse matrix in a SciPy archive or in a folder of arrays and keeps it in memory. It must be
// the matrix of an undirected graph with sorted rows. If it is not, if a setting changes the graph, or if the
// graph takes more than an eighth of Memory, Load returns nil without an error; the caller must then call
// [Run]. The rows and the report are the same as for a store in the default order that Run writes. The error
// is the error of the context.
func Load(ctx context.Context, path string,
	c *Config) (*shard.Sweeper, *Report, error) {
	if c == nil {
		c = new(Config)
	}
	if !c.loads() {
		return nil, nil, nil
	}
	start := time.Now()
	a, err := graphfile.LoadCSR(ctx, path, c.Memory/loadShare, c.Workers, func(done, total int64) {
		if c.Progress != nil {
			c.Progress(readingStage+" "+path, done, total)
		}
	})
	if err != nil || a == nil || a.Loops > 0 && !c.KeepLoops ||
		a.Negative > 0 && !c.Signed {
		return nil, nil, err
	}
	r := &Report{
		Files: []FileReport{{Name: path, Format: a.Format.Title, Bytes: a.Bytes}},
		Edges: (a.NNZ() + a.Loops) / 2, Entries: a.NNZ(),
		Reciprocal: (a.NNZ() - a.Loops) / 2, Averaged: a.Averaged,
		SelfLoops: a.Loops,
		Weighted:  a.IsWeighted(), Weights: weightsOf(a.CSR), IDs: "numeric",
		Bytes: a.Bytes,
	}
	sum, err := textio.SumFile(ctx, graphfile.Files(path)...)
	if err != nil {
		return nil, nil, err
	}
	r.Files[0].CRC = sum.CRC
	m := shard.Manifest{Options: c.storeOptions(),
		Sources: []shard.File{{Name: path, Bytes: a.Bytes, CRC: r.Files[0].CRC}}}
	s, err := shard.InMemory(ctx, a.Symmetric, m,
		&shard.Options{Workers: c.Workers})
	if err != nil {
		return nil, nil, err
	}
	for _, d := range s.Degrees {
		if math.IsInf(d, 0) {
			return nil, nil, nil // Run names the node
		}
		if d == 0 {
			r.Isolated++
		}
	}
	r.Nodes = s.Manifest.Rows
	r.Store = s.Manifest
	if a.Averaged > 0 {
		warning := faultAveraged(path, a.Averaged)
		r.Warnings = append(r.Warnings, warning.Error())
		if c.Warn != nil {
			c.Warn(warning)
		}
	}
	r.Seconds = time.Since(start).Seconds()
	r.SecondsRead = r.Seconds
	return s, r, nil
}

// loads reports whether no setting changes a symmetric matrix or the order of its rows.
func (c *Config) loads() bool {
	return !c.Directed && c.Duplicates == DefaultDuplicates && c.Nodes == "" &&
		c.Fields == nil && c.Weight == "" && !c.hasCodes() && !c.Bipartite &&
		c.Header == nodefile.AutoHeader && c.Missing == nil && !c.SkipBadLines &&
		c.UnknownIDs == DefaultUnknown &&
		(c.Order == DefaultOrder || c.Order == AutoOrder) && c.Sources == nil &&
		c.Store == nil
}

func faultAveraged(name string, n int64) error {
	return textio.Fault(name, 0, "keep directions with {directed}",
		"%s whose weights of both directions differ by rounding, less than 1e-10 of the larger, have their mean", words.Counted(n, "edge"))
}

func weightsOf(a *sparse.CSR) string {
	if !a.IsWeighted() {
		return "none"
	}
	rows, _ := a.Dims()
	for i := range rows {
		_, val := a.Row(i)
		for _, v := range val {
			if float64(float32(v)) != v {
				return "float64"
			}
		}
	}
	return "float32"
}
