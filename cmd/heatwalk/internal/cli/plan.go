package cli

import (
	"errors"
	"runtime/debug"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/pages"
	"github.com/heatwalk/heatwalk/internal/system"
)

// limits are the limits of a run on memory.
type limits struct {
	maxMemory int64  // --max-memory, 0 if not given
	memory    int64  // bytes to plan with; 0 if not known
	limitedBy string // the limit of the machine

	estimating bool          // the run ends when it has been planned
	planned    *requirements // of an estimated run
}

// leastLimit is the smallest --max-memory. Tests lower it, so that small inputs reach the limit.
var leastLimit int64 = budget.LeastLimit

// limitMemory sets the memory limit: --max-memory, or most of the memory of the machine.
func limitMemory(run *session) error {
	if limit, needed := system.SpaceFor(budget.LeastResident); needed > 0 {
		return fault.Limit(system.AddressLimit, "%s of address space are too little for the program itself; allow %s or more",
			words.Bytes(limit), words.Bytes(needed))
	}
	limit, whose := system.AllowedMemory()
	run.limitedBy = whose
	if run.maxMemory == 0 {
		run.memory = limit / 10 * 9
		return nil
	}
	if run.maxMemory < leastLimit {
		return fault.Limit("--max-memory", "%s is less than any run may be limited to; allow 256MiB or more", words.Bytes(run.maxMemory))
	}
	run.memory = run.maxMemory
	if limit > 0 && limit < run.memory {
		run.warn("limit %s (%s) is used instead of %s", words.Bytes(limit), whose, words.Bytes(run.memory))
		run.memory = limit
	}
	debug.SetMemoryLimit(run.memory - budget.FileBytes)
	return nil
}

// dataLimit returns the bytes of data whose run stays within the limit; 0 means none.
func (l *limits) dataLimit() int64 {
	if l.memory == 0 {
		return 0
	}
	return max(1, budget.Data(l.memory))
}

// requirements are the estimated memory, files and sweeps of a run.
type requirements struct {
	budget.Plan
	Earlier  budget.Item // memory of reading the input, which is freed before the Plan begins
	Disk     int64       // bytes of files
	Sweeps   int         // over all entries, or unknownSweeps
	RowBytes int         // of a row of the widest block that sweeps gather from; 0: not known
}

// unknownSweeps means that the number of sweeps depends on the data.
const unknownSweeps = -1

// peak returns the largest number of bytes of data at one time.
func (n *requirements) peak() int64 { return max(n.Earlier.Bytes, n.Total()) }

// items returns the parts of the resident memory at the peak, and their sum.
func (n *requirements) items() (list []budget.Item, resident int64) {
	list = n.Items()
	if n.Earlier.Bytes > n.Total() {
		list = []budget.Item{n.Earlier}
	}
	resident = budget.Resident(n.peak())
	return append(list, budget.Item{What: "program and heap", Bytes: resident - n.peak()}), resident
}

// compute adds the memory of the computation of a run and returns an error if all of the run
// exceeds the limit. An error of the estimate of the computation within the rest of the limit counts
// as the memory that is missing, so that a refusal names the memory of the whole run.
func (n *requirements) compute(bytes int64, err error, what string) error {
	over := new(budget.Error)
	if errors.As(err, &over) && bytes == 0 {
		bytes, what = n.Room()+over.Need-over.Limit, over.Largest.What
	}
	if all := n.Reserve(bytes, what); all != nil {
		if whole := new(budget.Error); errors.As(all, &whole) {
			whole.Instead = over.Instead
		}
		return all
	}
	return err
}

// needs returns the empty requirements of a run within the limit.
func (l *limits) needs() *requirements {
	return &requirements{Plan: budget.Plan{Limit: l.dataLimit()}}
}

// needs returns the requirements of the graph itself, to which those of a run are added.
func (g *openGraph) needs() *requirements {
	n := g.run.needs()
	if g.run.estimating && g.report != nil {
		n.Disk = g.Manifest.BytesTotal() + g.report.SpilledBytes
		n.Earlier = budget.Item{What: "ingest", Bytes: g.readBytes}
	}
	// Errors are ignored: an open graph fits, and the next part reports attributes that do not.
	_ = n.Reserve(g.Held(), "graph")
	if g.attributes != nil {
		_ = n.Reserve(g.attributes.Table.Bytes, "attributes")
	}
	return n
}

// errPlanned ends a run of which only the needs were wanted.
var errPlanned = errors.New("planned")

// fit plans a run with plan, and settles what of the graph, if there is one, lies in memory.
func (run *session) fit(g *openGraph, plan func() (*requirements, error)) (n *requirements, err error) {
	settle := func() (sweeps, rowBytes int, _ error) {
		if n, err = plan(); err != nil {
			return 0, 0, err
		}
		if n.Sweeps == unknownSweeps {
			return 0, n.RowBytes, nil
		}
		return max(1, n.Sweeps), n.RowBytes, nil
	}
	switch {
	case g == nil:
		_, _, err = settle()
	case g.unread != nil: // attributes that exceed the limit: the error names the memory of the whole run
		if _, _, err = settle(); err == nil {
			err = g.unread
		}
	default:
		err = g.Settle(run.ctx, settle)
	}
	return n, err
}

// take plans a run with plan, as fit does, and begins it.
func (run *session) take(g *openGraph, plan func() (*requirements, error)) error {
	n, err := run.fit(g, plan)
	if err != nil {
		return err
	}
	return run.begin(g, n)
}

// begin keeps the heap within the plan and loads the graph, if there is one. It ends the run if only
// an estimate is wanted.
func (run *session) begin(g *openGraph, n *requirements) error {
	if run.estimating {
		run.planned = n
		return errPlanned
	}
	// Estimates are within a factor of two of the peak, so that the heap begins with half of one:
	// otherwise the collector would let garbage grow up to the estimate.
	pages.Within(budget.HeapLimit(n.peak()/2), budget.HeapLimit(n.peak()))
	if g == nil {
		return nil
	}
	return g.Load(run.ctx)
}
