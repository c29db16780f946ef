package cli

import (
	"errors"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/pages"
	"github.com/heatwalk/heatwalk/spec"
)

// dataLimit returns the bytes of data whose run stays within the limit; 0 means none.
func (in *invocation) dataLimit() int64 {
	if in.memory == 0 {
		return 0
	}
	return max(1, budget.Data(in.memory))
}

// needs returns the needs of a run within the limit, so far nothing.
func (in *invocation) needs() *budget.Needs {
	return &budget.Needs{Plan: budget.Plan{Limit: in.dataLimit()}}
}

// needs returns the needs of a run on g, so far those of the graph itself.
func (g *openGraph) needs() *budget.Needs {
	n := g.in.needs()
	if g.in.estimating && g.report != nil {
		n.Disk = g.Manifest.BytesTotal() + g.report.SpilledBytes
		_ = n.Reserve(g.readBytes, "ingest")
		n.Release("ingest")
	}
	// It has been opened, so it fits.
	_ = n.Reserve(g.Held(), "graph")
	if g.attributes != nil {
		_ = n.Reserve(g.attributes.Table.Bytes, "attributes") // if they do not fit, fit tells
	}
	return n
}

// errPlanned ends a run of which only the needs were wanted.
var errPlanned = errors.New("planned")

// fit plans a run with plan, and settles what of the graph, if there is one, lies in memory.
func (in *invocation) fit(g *openGraph, plan func() (*budget.Needs, error)) (n *budget.Needs, err error) {
	settle := func() (sweeps, rowBytes int, _ error) {
		if n, err = plan(); err != nil {
			return 0, 0, err
		}
		if n.Sweeps == spec.UnknownSweeps {
			return 0, n.RowBytes, nil
		}
		return max(1, n.Sweeps), n.RowBytes, nil
	}
	switch {
	case g == nil:
		_, _, err = settle()
	case g.unread != nil:
		err = g.unread
	default:
		err = g.Settle(in.ctx, settle)
	}
	if tooMuch(err) {
		err = &overError{err, in.enough(plan)}
	}
	return n, err
}

// overError is the error of a plan that does not fit, and what would fit.
type overError struct {
	error
	enough int64 // bytes, 0 if unknown
}

// Unwrap returns the error of the plan.
func (e *overError) Unwrap() error { return e.error }

// enough returns a limit with which plan fits; 0 if there is none.
func (in *invocation) enough(plan func() (*budget.Needs, error)) int64 {
	limit := in.memory
	defer func() { in.memory = limit }()
	return budget.Enough(limit, func(limit int64) (*budget.Needs, error) {
		in.memory = limit
		return plan()
	}, tooMuch)
}

// tooMuch reports whether an error is that of a plan that does not fit.
func tooMuch(err error) bool { return fault.Code(err) == fault.OverLimit }

// take plans a run with plan, as fit does, and begins it.
func (in *invocation) take(g *openGraph, plan func() (*budget.Needs, error)) error {
	n, err := in.fit(g, plan)
	if err != nil {
		return err
	}
	return in.begin(g, n)
}

// begin keeps the heap within the plan and loads the graph, if there is one. It ends the run if only
// an estimate is wanted.
func (in *invocation) begin(g *openGraph, n *budget.Needs) error {
	if in.estimating {
		in.planned = n
		return errPlanned
	}
	peak, _ := n.Peak()
	// Estimates are within a factor of two of the peak, so that the heap begins with half of one:
	// otherwise the collector would let garbage grow up to the estimate.
	pages.Within(budget.HeapLimit(n.Sure()/2), budget.HeapLimit(peak))
	if g == nil {
		return nil
	}
	return g.Load(in.ctx)
}
