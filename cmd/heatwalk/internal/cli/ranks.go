package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/partition"
	"github.com/heatwalk/heatwalk/sparse"
)

// rankCost is the cost of a job whose rows several processes share. Rows, entries and ghost rows are those of
// the process with the most of them.
type rankCost struct {
	Ranks      int     `json:"ranks"`
	Rows       int64   `json:"rows"`
	Entries    int64   `json:"entries"`
	Ghosts     int64   `json:"ghost_rows"`       // rows of other processes that a step needs
	AllGhosts  int64   `json:"ghost_rows_total"` // of all processes
	RowBytes   int     `json:"row_bytes"`        // of a block; 4, a column of float32, if it is not known
	StepBytes  int64   `json:"step_bytes"`       // that a process receives in a step
	Seconds10  float64 `json:"seconds_10_gbit"`  // of these bytes at 10 Gb/s
	Seconds100 float64 `json:"seconds_100_gbit"`
	JobBytes   *int64  `json:"job_bytes"`    // that it receives in the whole job; nil: not known
	Memory     int64   `json:"memory_bytes"` // resident, of the process with the most
	Largest    int     `json:"largest"`      // number of that process
	LimitBytes int64   `json:"limit_bytes"`  // of a process

	perNode    float64 // ghost rows of all processes for each node
	isMeasured bool    // the bytes of a row are those of the job
}

const float32Bytes = 4

// costOfRanks returns the cost of a planned job on a graph in ranges of rows, one for each process.
func costOfRanks(ctx context.Context, g *openGraph, p *heatwalk.Plan, ranks int) (*rankCost, error) {
	m := g.Store.Manifest
	if int64(ranks) > max(1, m.Rows) {
		return nil, fault.Usage("--ranks", "the graph has only %s; give at most one process for each", words.Counted(m.Rows, "node"))
	}
	var a sparse.Matrix = g.Store.Store
	bounds := partition.Divide(a, ranks)
	ghosts, err := partition.Ghosts(ctx, a, bounds, ranks)
	if err != nil {
		return nil, err
	}
	if m.Directed && !g.Store.Forward {
		back, err := partition.Ghosts(ctx, g.Store.Transpose(), bounds, ranks)
		if err != nil {
			return nil, err
		}
		for i, n := range back {
			ghosts[i] = max(ghosts[i], n)
		}
	}
	c := &rankCost{Ranks: ranks, RowBytes: cmp.Or(p.RowBytes, float32Bytes), isMeasured: p.RowBytes > 0}
	rows, entries := partition.SizesOf(a, bounds, ranks)
	c.Rows = slices.Max(rows)
	rowBytes := int64(c.RowBytes)
	for i, n := range ghosts {
		c.Entries, c.Ghosts = max(c.Entries, entries[i]), max(c.Ghosts, n)
		c.AllGhosts += n
		local := sparse.DividedBytes(c.Rows, entries[i], n, m.Weighted)
		if m.Directed && !g.Store.Forward {
			local *= 2 // for each direction
		}
		if bytes := memoryOfRank(p, m.Rows, c.Rows, local); bytes > c.Memory {
			c.Memory, c.Largest = bytes, i
		}
	}
	c.StepBytes = c.Ghosts * rowBytes
	c.perNode = float64(c.AllGhosts) / float64(max(1, m.Rows))
	if c.isMeasured && p.Sweeps > 0 {
		bytes := int64(p.Sweeps) * c.StepBytes
		c.JobBytes = &bytes
	}
	c.Seconds10, c.Seconds100 = float64(c.StepBytes)/(10*gigabit), float64(c.StepBytes)/(100*gigabit)
	return c, nil
}

// memoryOfRank returns the resident memory of a process with the given rows of a graph of n rows, whose entries and
// buffers take local bytes. The graph of the plan, that is its degrees and ids, is in every process; other parts of
// the plan shrink with the rows.
func memoryOfRank(p *heatwalk.Plan, n, rows, local int64) int64 {
	bytes := local
	for _, item := range p.Parts() {
		if item.What == heatwalk.GraphPart {
			bytes += item.Bytes
		} else {
			bytes += int64(float64(item.Bytes) / float64(n) * float64(rows))
		}
	}
	return budget.Resident(bytes) + libraryBytes
}

// check refuses processes that exceed the memory limit.
func (c *rankCost) check(limit int64) error {
	if c.LimitBytes = limit; limit > 0 && c.Memory > limit {
		return fault.Limit("--ranks", "process %d of %d needs %s, the limit of each is %s; use more processes, or allow more with --max-memory",
			c.Largest, c.Ranks, words.Bytes(c.Memory), words.Bytes(limit))
	}
	return nil
}

// lines returns the cost as lines of a plan.
func (c *rankCost) lines() [][2]string {
	memory := "at most " + words.Bytes(c.Memory)
	if c.LimitBytes > 0 {
		memory += " of " + words.Bytes(c.LimitBytes)
	}
	received := words.Bytes(c.StepBytes)
	if !c.isMeasured {
		received += " for each column of float32"
	}
	lines := [][2]string{
		{"processes", words.Count(c.Ranks)},
		{"rows of a process", "at most " + words.Count(c.Rows) + ", with " + words.Count(c.Entries) + " entries"},
		{"ghost rows of a process", fmt.Sprintf("at most %s; %.2f for each node in all processes", words.Count(c.Ghosts), c.perNode)},
		{"received in a step", received},
		{"transfer of a step", transfer(c.StepBytes)},
	}
	if c.JobBytes != nil {
		lines = append(lines, [2]string{"received in all", "about " + words.Bytes(*c.JobBytes)}, [2]string{"transfer in all", transfer(*c.JobBytes)})
	}
	return append(lines, [2]string{"memory of a process", fmt.Sprintf("%s (process %d)", memory, c.Largest)})
}

// transfer returns the time of a transfer of bytes as text.
func transfer(bytes int64) string {
	return fmt.Sprintf("%.2g s at 10 Gb/s, %.2g s at 100 Gb/s", float64(bytes)/(10*gigabit), float64(bytes)/(100*gigabit))
}

// gigabit is a billion bits in bytes.
const gigabit = 1e9 / 8
