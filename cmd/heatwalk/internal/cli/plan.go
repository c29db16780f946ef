package cli

import (
	"errors"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/account"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/internal/pages"
	"github.com/heatwalk/heatwalk/internal/system"
	"github.com/heatwalk/heatwalk/sparse"
)

// plannable returns the bytes of data whose run stays within the limit.
func (in *invocation) plannable() int64 { return max(1, account.Data(in.memory)) }

// dataLimit returns the limit of a plan; 0 means none.
func (in *invocation) dataLimit() int64 {
	if in.memory == 0 {
		return 0
	}
	return in.plannable()
}

// needs returns the needs of a run within the limit, so far nothing.
func (in *invocation) needs() *account.Needs { return account.Within(in.dataLimit()) }

// needs returns the needs of a run on g, so far those of the graph itself.
func (g *openGraph) needs() *account.Needs {
	n := g.in.needs()
	if g.in.estimating && g.readBytes > 0 {
		n.Disk = g.Manifest.BytesTotal() + g.report.SpilledBytes
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
func (in *invocation) fit(g *openGraph, plan func() (*account.Needs, error)) (*account.Needs, error) {
	n, err := plan()
	if !g.streamed && (tooMuch(err) || err == nil && (n.Short && g.streamingFits(plan) || g.streamingPays(n.Sweeps, plan))) {
		if err := g.stream(); err != nil {
			return nil, err
		}
		n, err = plan()
	}
	if tooMuch(err) {
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
func (g *openGraph) arrange(n *account.Needs, plan func() (*account.Needs, error)) (*account.Needs, error) {
	if g.layout == nil {
		return n, nil
	}
	o := sparse.LayoutOptions{RowBytes: n.Row}
	if n.Sweeps != account.UnknownSweeps {
		o.Sweeps = max(1, n.Sweeps)
	}
	if err := g.copyFor(o); err != nil || !g.layout.Reordered && !g.layout.Tiled {
		return n, err
	}
	arranged, err := plan()
	if err == nil && arranged.Sweeps == n.Sweeps {
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
func (g *openGraph) streamingPays(sweeps int, plan func() (*account.Needs, error)) bool {
	const dearer = 12.0 / 11
	frames, spare := g.Manifest.Size(), system.Memory()-g.in.memory
	if sweeps == account.UnknownSweeps || g.Kept() == 0 || g.in.memory == 0 || frames > spare/2 {
		return false
	}
	return g.streamedIs(plan, func(n *account.Needs) bool { return dearer*float64(n.Sweeps) < float64(sweeps) })
}

// streamingFits tells whether a run fits with all that it may turn out to need if
// nothing of the graph stays in memory. The last call of plan is for the graph as it is.
func (g *openGraph) streamingFits(plan func() (*account.Needs, error)) bool {
	return g.streamedIs(plan, func(n *account.Needs) bool { return !n.Short })
}

// streamedIs tells whether a plan without anything of the graph in memory fits and is
// better.
func (g *openGraph) streamedIs(plan func() (*account.Needs, error), better func(n *account.Needs) bool) bool {
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

// enough returns a limit with which plan fits; 0 if there is none.
func (in *invocation) enough(plan func() (*account.Needs, error)) int64 {
	limit := in.memory
	defer func() { in.memory = limit }()
	return account.Enough(limit, func(limit int64) (*account.Needs, error) {
		in.memory = limit
		return plan()
	}, tooMuch)
}

// tooMuch reports whether an error is that of a plan that does not fit.
func tooMuch(err error) bool { return fault.Code(err) == fault.OverLimit }

// take plans a run with plan, as fit does, and takes the plan up.
func (in *invocation) take(g *openGraph, plan func() (*account.Needs, error)) error {
	n, err := in.fit(g, plan)
	if err != nil {
		return err
	}
	return in.begin(g, n)
}

// begin takes up a plan: the heap is kept within it, and the graph is loaded.
// When only an estimate is wanted the run ends here.
func (in *invocation) begin(g *openGraph, n *account.Needs) error {
	if err := in.keepTo(n); err != nil {
		return err
	}
	return g.load()
}

// keepTo is begin without a graph.
func (in *invocation) keepTo(n *account.Needs) error {
	if in.estimating {
		in.planned = n
		return errPlanned
	}
	peak, _ := n.Peak()
	pages.Within(account.HeapLimit(n.Sure()), account.HeapLimit(peak))
	return nil
}

// keepWithin plans a run without a graph and keeps to the plan.
func (in *invocation) keepWithin(plan func() (*account.Needs, error)) error {
	n, err := plan()
	if tooMuch(err) {
		err = &overError{err, in.enough(plan)}
	}
	if err != nil {
		return err
	}
	return in.keepTo(n)
}
