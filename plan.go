package heatwalk

import (
	"context"
	"errors"

	"github.com/heatwalk/heatwalk/internal/budget"
)

// Part is a named part of the memory of a job.
type Part struct {
	What  string `json:"what"`
	Bytes int64  `json:"bytes"`
}

// UnknownSweeps means that the number of sweeps of a job depends on the data.
const UnknownSweeps = -1

// Plan is the estimated cost of a job before it begins. Its memory is an upper bound.
type Plan struct {
	Sweeps   int // over all entries, or UnknownSweeps
	RowBytes int // of a row of the widest block that sweeps gather from; 0: not known

	memory budget.Plan
}

// NewPlan returns an empty plan of a job with at most limit bytes of data; 0 means no limit.
func NewPlan(limit int64) *Plan { return &Plan{memory: budget.Plan{Limit: limit}} }

// Reserve adds a part to the memory of the job. The error wraps [sparse.ErrMemory] if the sum
// exceeds the limit; the part is in the plan all the same, so that the plan can be printed.
func (p *Plan) Reserve(bytes int64, what string) error { return p.memory.Reserve(bytes, what) }

// ReserveJob adds the memory that a job has estimated for itself, or its error. An error about
// memory counts as the missing memory, so that a refusal reports the memory of the whole job.
func (p *Plan) ReserveJob(bytes int64, err error, what string) error {
	over := new(budget.Error)
	if errors.As(err, &over) && bytes == 0 {
		bytes, what = p.Room()+over.Need-over.Limit, over.Largest.What
	}
	if refusal := p.Reserve(bytes, what); refusal != nil {
		if total := new(budget.Error); errors.As(refusal, &total) {
			total.Instead = over.Instead
		}
		return refusal
	}
	return err
}

// Limit returns the largest number of bytes; 0 means no limit.
func (p *Plan) Limit() int64 { return p.memory.Limit }

// Room returns the bytes that the limit leaves, at least 1; 0 means no limit.
func (p *Plan) Room() int64 { return p.memory.Room() }

// Bytes returns the sum of all parts.
func (p *Plan) Bytes() int64 { return p.memory.Total() }

// Parts returns the parts in the order in which they were reserved.
func (p *Plan) Parts() (list []Part) {
	for _, item := range p.memory.Items() {
		list = append(list, Part(item))
	}
	return list
}

// Reserve counts memory of the caller, for example of a table that it keeps next to the graph,
// against the limit of all following jobs.
func Reserve(g *Graph, bytes int64, what string) {
	g.reserved = append(g.reserved, Part{what, bytes})
}

// Room returns the bytes that the limit leaves for a job; 0 means no limit.
func Room(g *Graph) int64 { return newPlan(g).Room() }

// GraphPart names the memory of the graph itself in a [Plan].
const GraphPart = "graph"

// newPlan returns a plan with the graph itself and the memory of the caller. Errors are ignored,
// because the next part that a job reserves reports them.
func newPlan(g *Graph) *Plan {
	p := NewPlan(g.options.Memory)
	if g.Store != nil {
		_ = p.Reserve(g.Store.Held(), GraphPart)
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
		p.Sweeps = UnknownSweeps
		if estimate != nil {
			err = estimate(p)
		}
		if err != nil || p.Sweeps == UnknownSweeps {
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
		g.A, g.settled = g.Store.A, true
	}
	return err
}
