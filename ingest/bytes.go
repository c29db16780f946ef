package ingest

import (
	"cmp"

	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/ingest/internal/lines"
	"github.com/heatwalk/heatwalk/ingest/internal/sort"
	"github.com/heatwalk/heatwalk/internal/sched"
)

// Counts are those of a graph without weights that is known before it is read, and whose ids are small integers.
type Counts struct {
	Nodes, Lines int64
	Dense        bool // the ids are the numbers of the rows, so that nothing is kept of them
}

// Bytes returns the memory of [Run] for a graph with these counts and without a limit, at the most:
// lines, ids and their numbering, the order of the rows, and the entries that are sorted.
func (n *Counts) Bytes(c *Config) int64 {
	e := n.extent(c)
	entries := e.entries()
	hub := min(entries, 2*e.nodes) // entries of the longest row, which is sorted with as much again
	sorting := (entries + hub) * sort.EntryBytes(int(e.nodes), e.values)
	ordering := int64(0)
	switch e.order {
	case DefaultOrder:
	case DegreeOrder:
		ordering = 4*e.nodes*int64(min(e.workers, countWorkers)) +
			sampleBytes(int(e.nodes))
	default:
		ordering = e.graph() + entries*sort.EntryBytes(int(e.nodes), false)
	}
	return max(e.readingBytes(), e.held+e.numberedBytes()+max(ordering, sorting))
}

// extent returns that of a graph with these counts, with all lines in memory.
func (n *Counts) extent(c *Config) *extent {
	c = cmp.Or(c, new(Config))
	e := &extent{c: c, nodes: n.Nodes, lines: n.Lines,
		values: c.Duplicates == SumDuplicates}
	e.workers = min(sched.Workers(c.Workers),
		int(1+max(n.Lines*8/textio.ChunkBytes, n.Nodes/sort.MaxBucketRows)))
	e.held = 8 * e.lines
	e.bits = max(lines.DenseBits, lines.IDBits*e.nodes/2)
	if n.Dense {
		e.bits = e.nodes
	} else {
		e.rowIDs = 4 * e.nodes
	}
	e.order = c.Order.possible(int(e.nodes), int(e.lines))
	return e
}

// DiskBytes bounds the bytes of the store of a graph with these counts, with the temporary file
// of a run within the limit of c.
func (n *Counts) DiskBytes(c *Config) int64 {
	c = cmp.Or(c, new(Config))
	e := n.extent(c)
	entries := e.entries()
	bytes := int64(storeBytes(float64(e.nodes), float64(entries), false,
		c.Directed, e.order != DefaultOrder))
	if c.Memory > 0 && n.Bytes(c) > c.Memory {
		bytes += e.held + entries*sort.EntryBytes(int(e.nodes), e.values)
	}
	return bytes
}
