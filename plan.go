package heatwalk

import (
	"context"

	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/sparse"
)

// Plan is the estimate of the memory and the sweeps of a job, see [Options.Planned].
type Plan = budget.Plan

// Reserve counts memory of the caller, for example of a table that it keeps next to the graph,
// against the limit of all following jobs.
func Reserve(g *Graph, bytes int64, what string) {
	g.reserved = append(g.reserved, budget.Item{What: what, Bytes: bytes})
}

// Room returns the bytes that the limit leaves for a job; 0 means no limit.
func Room(g *Graph) int64 { return newPlan(g).Room() }

// newPlan returns a plan with the graph itself and the memory of the caller. Errors are ignored,
// because the next part that a job reserves reports them.
func newPlan(g *Graph) *Plan {
	p := &budget.Plan{Limit: g.options.Memory}
	if g.Store != nil {
		_ = p.Reserve(g.Store.Held()+sparse.LongRowBytes(g.Store.Store, g.options.Workers), budget.GraphPart)
	}
	for _, item := range g.reserved {
		_ = p.Reserve(item.Bytes, item.What)
	}
	return p
}

// Begin begins a job. estimate, unless it is nil, adds the memory and the sweeps of the job to
// the plan. The first job decides which parts of the graph stay in memory, and in which layout;
// therefore estimate may be called several times, the last time for the final decision. Then
// Begin calls [Options.Planned] and loads the graph. The methods of Graph call Begin
// themselves; it is exported for jobs that use the packages below.
func Begin(ctx context.Context, g *Graph, estimate func(p *Plan) error) error {
	var p *Plan
	plan := func() (sweeps, rowBytes int, err error) {
		p = newPlan(g)
		p.Sweeps = budget.UnknownSweeps
		if estimate != nil {
			err = estimate(p)
		}
		if err != nil || p.Sweeps == budget.UnknownSweeps {
			return 0, p.RowBytes, err
		}
		return max(1, p.Sweeps), p.RowBytes, nil
	}
	var err error
	if g.settled {
		_, _, err = plan()
	} else {
		err = g.Store.Settle(ctx, plan)
	}
	if err == nil && g.options.Planned != nil {
		err = g.options.Planned(p)
	}
	if err != nil || g.settled {
		return err
	}
	if err = g.Store.Load(ctx); err == nil {
		g.A = g.Store.A
		g.settled = true
	}
	return err
}
