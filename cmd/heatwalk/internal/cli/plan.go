package cli

import (
	"errors"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/pages"
	"github.com/heatwalk/heatwalk/internal/system"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
)

// needs is what a run takes, found out before it starts: estimate prints it, and
// the run keeps to it.
type needs struct {
	budget.Plan
	disk   int64 // bytes of its files at the most
	sweeps int   // over all entries, but for unknownSweeps
	row    int   // bytes of a row of the widest block that is gathered from; 0: unknown
	short  bool  // the run fits, but not with all that it may turn out to need
}

// unknownSweeps stands where what is found on the way decides.
const unknownSweeps = -1

const (
	// programBytes is resident without any data: the program, its runtime, and
	// what is too small to be planned.
	programBytes = 24 << 20

	// fileBytes of them are pages of the program's file and its variables, which the runtime's
	// own limit does not cover.
	fileBytes = 20 << 20

	// heapShare is how many bytes of data there are for one byte of the heap
	// that is not data. Half of these are tables and garbage not yet collected,
	// half what the runtime gives back and huge pages bring in again.
	heapShare = 8

	// leastMemory is the smallest limit that a run is tried with.
	leastMemory = 64 << 20
)

// resident returns the resident memory of a run with so many bytes of data: at
// least what every run is allowed. Small runs would spend more time on collecting
// garbage than on their work if they were held to less.
func resident(data int64) int64 { return max(leastMemory, programBytes+data+data/heapShare) }

// data returns how many bytes of data a run with so much resident memory has.
func data(resident int64) int64 { return (resident - programBytes) / (heapShare + 1) * heapShare }

// plannable returns the bytes of data whose run stays within the limit.
func (in *invocation) plannable() int64 { return max(1, data(in.memory)) }

// dataLimit returns the limit of a plan; 0 means none.
func (in *invocation) dataLimit() int64 {
	if in.memory == 0 {
		return 0
	}
	return in.plannable()
}

// needs returns the needs of a run within the limit, so far nothing.
func (in *invocation) needs() *needs { return &needs{Plan: budget.Plan{Limit: in.dataLimit()}} }

// needs returns the needs of a run on g, so far those of the graph itself.
func (g *openGraph) needs() *needs {
	n := g.in.needs()
	if g.in.estimating && g.readBytes > 0 {
		n.disk = g.Manifest().BytesTotal() + g.report.SpilledBytes
		_ = n.Reserve(g.readBytes, "ingest")
		n.Release("ingest")
	}
	// It has been opened, so it fits.
	_ = n.Reserve(g.held(), "graph")
	return n
}

// errPlanned ends a run of which only the needs were wanted.
var errPlanned = errors.New("planned")

// fit plans a run with plan. Where it, or what it may turn out to need, does not fit
// beside a graph of which parts stay in memory but would without them, or is faster
// without them, the graph is streamed.
func (in *invocation) fit(g *openGraph, plan func() (*needs, error)) (*needs, error) {
	n, err := plan()
	tooMuch := func() bool { return fault.Code(err) == fault.OverLimit }
	if !g.streamed && (tooMuch() || err == nil && (n.short && g.streamingFits(plan) || g.streamingPays(n.sweeps, plan))) {
		if err := g.stream(); err != nil {
			return nil, err
		}
		n, err = plan()
	}
	if tooMuch() {
		err = &overError{err, in.enough(plan)}
	}
	if err == nil {
		n, err = g.arrange(n, plan)
	}
	return n, err
}

// arrange decides how the graph's copy lies in memory: in the layout that a run with
// the plan n sweeps fastest, if it takes no more sweeps for want of memory. It returns
// the plan of the run as it will be.
func (g *openGraph) arrange(n *needs, plan func() (*needs, error)) (*needs, error) {
	if g.layout == nil {
		return n, nil
	}
	o := sparse.LayoutOptions{RowBytes: n.row}
	if n.sweeps != unknownSweeps {
		o.Sweeps = max(1, n.sweeps)
	}
	if err := g.copyFor(o); err != nil || !g.layout.Reordered && !g.layout.Tiled {
		return n, err
	}
	arranged, err := plan()
	if err == nil && arranged.sweeps == n.sweeps {
		return arranged, nil
	}
	if err := g.copyPlain(); err != nil {
		return n, err
	}
	return plan() // as before
}

// streamingPays tells whether a run of so many sweeps takes less time if frames
// of the graph make room for wider walks. A sweep whose frames come from the
// system's cache takes an eleventh more time; where that has no room for them,
// they stay. The last call of plan is for the graph as it is.
func (g *openGraph) streamingPays(sweeps int, plan func() (*needs, error)) bool {
	const dearer = 12.0 / 11
	frames, spare := g.Manifest().Size(), system.Memory()-g.in.memory
	if sweeps == unknownSweeps || g.Kept() == 0 || g.in.memory == 0 || frames > spare/2 {
		return false
	}
	return g.streamedIs(plan, func(n *needs) bool { return dearer*float64(n.sweeps) < float64(sweeps) })
}

// streamingFits tells whether a run fits with all that it may turn out to need if
// nothing of the graph stays in memory. The last call of plan is for the graph as it is.
func (g *openGraph) streamingFits(plan func() (*needs, error)) bool {
	return g.streamedIs(plan, func(n *needs) bool { return !n.short })
}

// streamedIs tells whether a plan without anything of the graph in memory fits and is
// better.
func (g *openGraph) streamedIs(plan func() (*needs, error), better func(n *needs) bool) bool {
	g.asStreamed = true
	n, err := plan()
	g.asStreamed = false
	if err == nil && better(n) {
		return true
	}
	_, _ = plan() // as before
	return false
}

// overError is the error of a plan that does not fit, and what would fit.
type overError struct {
	error
	enough int64 // bytes, 0 if unknown
}

// Unwrap returns the error of the plan.
func (e *overError) Unwrap() error { return e.error }

// enough returns a limit with which plan fits, with all that the run may turn out to
// need, at most a sixteenth above the least; 0 if there is none.
func (in *invocation) enough(plan func() (*needs, error)) int64 {
	limit := in.memory
	defer func() { in.memory = limit }()
	const most = 1 << 60
	low, high := limit, limit
	for fits := false; !fits; {
		if low, high = high, high+high/2; high > most {
			return 0
		}
		in.memory = high
		n, err := plan()
		if fits = err == nil && !n.short; err != nil && fault.Code(err) != fault.OverLimit {
			return 0
		}
	}
	for high-low > low/16 {
		in.memory = low + (high-low)/2
		if n, err := plan(); err == nil && !n.short {
			high = in.memory
		} else {
			low = in.memory
		}
	}
	return high
}

// take plans a run with plan, as fit does, and takes the plan up.
func (in *invocation) take(g *openGraph, plan func() (*needs, error)) error {
	n, err := in.fit(g, plan)
	if err != nil {
		return err
	}
	return in.begin(g, n)
}

// begin takes up a plan: the heap is kept within it, and the graph is loaded.
// When only an estimate is wanted the run ends here.
func (in *invocation) begin(g *openGraph, n *needs) error {
	if err := in.keepTo(n); err != nil {
		return err
	}
	return g.load()
}

// keepTo is begin without a graph.
func (in *invocation) keepTo(n *needs) error {
	if in.estimating {
		in.planned = n
		return errPlanned
	}
	peak, _ := n.Peak()
	pages.Within(heapLimit(n.Sure()), heapLimit(peak))
	return nil
}

// keepWithin plans a run without a graph and keeps to the plan.
func (in *invocation) keepWithin(plan func() (*needs, error)) error {
	n, err := plan()
	if fault.Code(err) == fault.OverLimit {
		err = &overError{err, in.enough(plan)}
	}
	if err != nil {
		return err
	}
	return in.keepTo(n)
}

// heapLimit returns the runtime's own limit for a run with so many bytes of data:
// it collects garbage before more is resident than [resident] says.
func heapLimit(data int64) int64 { return resident(data) - fileBytes - data/(2*heapShare) }

// reserveList reserves a list.
func (n *needs) reserveList(list []spec.Bytes) error {
	n.row = max(n.row, spec.Row(list))
	for _, b := range list {
		reserve := n.Reserve
		if b.Optional {
			reserve = n.ReservePerhaps
		}
		if b.Bytes == 0 {
			continue
		}
		if err := reserve(b.Bytes, b.What); err != nil {
			return err
		}
	}
	return nil
}

// releaseList releases what reserveList reserved.
func (n *needs) releaseList(list []spec.Bytes) {
	for _, b := range list {
		n.Release(b.What)
	}
}

// walk reserves what a method of a walk takes.
func (n *needs) walk(list []spec.Bytes, sweeps int, err error) error {
	if err != nil {
		return err
	}
	n.sweeps += sweeps
	return n.reserveList(list)
}
