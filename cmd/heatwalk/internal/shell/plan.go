package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/pages"
	"github.com/heatwalk/heatwalk/internal/system"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/partition"
	"github.com/heatwalk/heatwalk/sparse"
)

// LeastLimit is the smallest --max-memory. Tests lower it, so that small inputs reach the limit.
var LeastLimit int64 = budget.LeastLimit

// LimitRuntime is replaced by tests, which run many commands in one process, some at the same time.
var LimitRuntime = pages.Within

// limitMemory sets the memory limit: --max-memory, or most of the memory of the machine.
func limitMemory(run *Session) error {
	if limit, needed := system.SpaceFor(budget.LeastResident); needed > 0 {
		return fault.Limit(system.AddressLimit, "%s of address space are too little for the program itself; allow %s or more",
			words.Bytes(limit), words.Bytes(needed))
	}
	limit, whose := system.AllowedMemory()
	run.Costs.limitedBy = whose
	if run.Costs.maxMemory == 0 {
		run.Costs.Memory = limit / 10 * 9
		return nil
	}
	if run.Costs.maxMemory < LeastLimit {
		return fault.Limit("--max-memory",
			"%s is less than any run may be limited to; allow 256MiB or more",
			words.Bytes(run.Costs.maxMemory))
	}
	run.Costs.Memory = run.Costs.maxMemory
	if limit > 0 && limit < run.Costs.Memory {
		run.Console.Warn("limit %s (%s) is used instead of %s", words.Bytes(limit), whose,
			words.Bytes(run.Costs.Memory))
		run.Costs.Memory = limit
	}
	heap := run.Costs.Memory - budget.FileBytes
	LimitRuntime(heap, heap)
	return nil
}

// DataLimit returns the bytes of data whose run stays within the limit; 0 means none.
func (costs *Costs) DataLimit() int64 {
	if costs.Memory == 0 {
		return 0
	}
	return max(1, budget.Data(costs.Memory))
}

// NewPlan returns the empty plan of a run without a graph.
func (costs *Costs) NewPlan() *budget.Plan {
	return &budget.Plan{Limit: costs.DataLimit()}
}

// ErrPlanned ends a run of which only the estimate was asked for.
var ErrPlanned = errors.New("planned")

// Begin limits the heap to the plan of a run. It ends the run if only an estimate is asked for.
func (costs *Costs) Begin(p *budget.Plan) error {
	if costs.Estimating {
		costs.Planned = p
		return ErrPlanned
	}
	if costs.Timed {
		return nil
	}
	// Estimates are at most three times the peak, so that the heap of a large run begins with half of the
	// estimate: otherwise the collector would let garbage grow up to the estimate. The limit rises as needed.
	total := p.Total()
	LimitRuntime(budget.HeapLimit(max(total/2, min(total, budget.LeastLimit))), budget.HeapLimit(total))
	return nil
}

// LimitHeap limits the heap to bytes of data; 0 means no limit.
func LimitHeap(bytes int64) {
	if bytes > 0 {
		LimitRuntime(budget.HeapLimit(bytes), budget.HeapLimit(bytes))
	}
}

// RankCost is the cost of a job whose rows several processes share. Rows, entries and ghost rows are those of
// the process with the most of them.
type RankCost struct {
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
func costOfRanks(ctx context.Context, g *OpenGraph, p *budget.Plan,
	ranks int) (*RankCost, error) {
	m := g.Store.Manifest
	if int64(ranks) > max(1, m.Rows) {
		return nil, fault.Usage("--ranks",
			"the graph has only %s; give at most one process for each",
			words.Counted(m.Rows, "node"))
	}
	a := g.A
	bounds := partition.Divide(a, ranks)
	ghosts, err := partition.Ghosts(ctx, a, bounds, ranks)
	if err != nil {
		return nil, err
	}
	if m.Directed && !g.Store.Forward {
		in, err := g.Store.Transpose(ctx)
		if err != nil {
			return nil, err
		}
		back, err := partition.Ghosts(ctx, in, bounds, ranks)
		if err != nil {
			return nil, err
		}
		for i, n := range back {
			ghosts[i] = max(ghosts[i], n)
		}
	}
	c := &RankCost{Ranks: ranks, RowBytes: cmp.Or(p.RowBytes, float32Bytes),
		isMeasured: p.RowBytes > 0}
	rows, entries := partition.SizesOf(a, bounds, ranks)
	c.Rows = slices.Max(rows)
	rowBytes := int64(c.RowBytes)
	for i, n := range ghosts {
		c.Entries = max(c.Entries, entries[i])
		c.Ghosts = max(c.Ghosts, n)
		c.AllGhosts += n
		local := sparse.DividedBytes(c.Rows+int64(p.Named), entries[i], n,
			m.Weighted)
		if m.Directed && !g.Store.Forward {
			local *= 2 // for each direction
		}
		if bytes := memoryOfRank(p, m.Rows, c.Rows, local); bytes > c.Memory {
			c.Memory = bytes
			c.Largest = i
		}
	}
	c.StepBytes = c.Ghosts * rowBytes
	c.perNode = float64(c.AllGhosts) / float64(max(1, m.Rows))
	if c.isMeasured && p.Sweeps > 0 {
		bytes := int64(p.Sweeps) * c.StepBytes
		c.JobBytes = &bytes
	}
	c.Seconds10 = float64(c.StepBytes) / (10 * gigabit)
	c.Seconds100 = float64(c.StepBytes) / (100 * gigabit)
	return c, nil
}

// memoryOfRank returns an upper bound of the resident memory of a process with the given rows of a graph of n rows, whose
// entries and buffers take local bytes. Degrees, ids and labels are in every process. Other parts of the plan shrink with
// the rows and the named nodes, except for the kernel between named nodes, if a part has space for one.
func memoryOfRank(p *budget.Plan, n, rows, local int64) int64 {
	bytes := local
	named := int64(p.Named)
	share := min(1, float64(rows+named)/float64(n))
	for _, item := range p.Items() {
		fixed := 8 * named * named
		switch {
		case item.What == budget.GraphPart || item.What == budget.LabelPart:
			fixed = item.Bytes
		case fixed > item.Bytes:
			fixed = 0
		}
		bytes += fixed + int64(share*float64(item.Bytes-fixed))
	}
	return budget.Resident(bytes) + libraryBytes
}

// Check refuses processes that exceed the memory limit.
func (c *RankCost) Check(limit int64) error {
	c.LimitBytes = limit
	if limit > 0 && c.Memory > limit {
		return fault.Limit("--ranks", "process %d of %d needs %s, the limit of each is %s; use more processes, or allow more with --max-memory",
			c.Largest, c.Ranks, words.Bytes(c.Memory), words.Bytes(limit))
	}
	return nil
}

// Lines returns the cost as lines of a plan.
func (c *RankCost) Lines() [][2]string {
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
		{"rows of a process",
			"at most " + words.Count(c.Rows) + ", with " + words.Count(c.Entries) +
				" entries"},
		{"ghost rows of a process",
			fmt.Sprintf("at most %s; %.2f for each node in all processes",
				words.Count(c.Ghosts), c.perNode)},
		{"received in a step", received},
		{"transfer of a step", transfer(c.StepBytes)},
	}
	if c.JobBytes != nil {
		lines = append(lines,
			[2]string{"received in all", "about " + words.Bytes(*c.JobBytes)},
			[2]string{"transfer in all", transfer(*c.JobBytes)})
	}
	return append(lines, [2]string{"memory of a process",
		fmt.Sprintf("%s (process %d)", memory, c.Largest)})
}

// transfer returns the time of a transfer of bytes as text.
func transfer(bytes int64) string {
	return fmt.Sprintf("%.2g s at 10 Gb/s, %.2g s at 100 Gb/s",
		float64(bytes)/(10*gigabit), float64(bytes)/(100*gigabit))
}

// gigabit is a billion bits in bytes.
const gigabit = 1e9 / 8

// ReserveNumbers adds an upper bound of the size of a file of numbers of nodes, of its ids and of the run file to an
// estimate. Real runs need none, and formatting all ids takes time.
func (costs *Costs) ReserveNumbers(ids Axis) {
	const line = 100 // bytes of the numbers of a line
	if costs.Estimating {
		costs.Disk += RunFileBytes + IDBytes(ids) + line*int64(ids.N)
	}
}

// Costs are the limits of memory of a run, and its plan.
type Costs struct {
	maxMemory int64  // 0 if not given
	Memory    int64  // bytes to plan with; 0 if not known
	libraries int64  // further bytes, for the libraries that connect several processes
	limitedBy string // the limit of the machine
	Timed     bool   // a benchmark: no limit of the heap, because collections would be timed

	Estimating bool         // the run ends when it has been planned
	Planned    *budget.Plan // of an estimated run
	Ranks      int          // processes of an estimated run; 0: one, with all rows
	Cut        *RankCost    // of these processes
	Disk       int64        // bytes of the files of the run
	Reading    budget.Item  // memory of reading the input, freed before the run computes
}
