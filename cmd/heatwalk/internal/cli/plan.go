package cli

import (
	"errors"
	"runtime/debug"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/pages"
	"github.com/heatwalk/heatwalk/internal/system"
)

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
func (run *session) dataLimit() int64 {
	if run.memory == 0 {
		return 0
	}
	return max(1, budget.Data(run.memory))
}

// newPlan returns the empty plan of a run without a graph.
func (run *session) newPlan() *heatwalk.Plan { return heatwalk.NewPlan(run.dataLimit()) }

// errPlanned ends a run of which only the estimate was asked for.
var errPlanned = errors.New("planned")

// begin limits the heap to the plan of a run. It ends the run if only an estimate is asked for.
func (run *session) begin(p *heatwalk.Plan) error {
	if run.estimating {
		run.planned = p
		return errPlanned
	}
	if run.timed {
		return nil
	}
	// Estimates are within a factor of two of the peak, so that the heap begins with half of one:
	// otherwise the collector would let garbage grow up to the estimate.
	pages.Within(budget.HeapLimit(p.Bytes()/2), budget.HeapLimit(p.Bytes()))
	return nil
}

// beginWith begins a run without a graph whose data take the given memory.
func beginWith(run *session, bytes int64, what string) error {
	p := run.newPlan()
	if err := p.Reserve(bytes, what); err != nil {
		return err
	}
	return run.begin(p)
}

// limitHeap limits the heap to bytes of data; 0 means no limit.
func limitHeap(bytes int64) {
	if bytes > 0 {
		pages.Within(budget.HeapLimit(bytes), budget.HeapLimit(bytes))
	}
}
