package ledger

import (
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/tall"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/spec"
)

// Ledger adds up what a prediction takes.
type Ledger struct {
	P      *problem.Problem
	Plan   budget.Plan
	Sweeps int

	Row   int  // bytes between the rows of the widest block so far
	Short bool // the limit leaves less than some of it may turn out to need

	over error // of the first that does not fit
}

// New returns the ledger of a problem in which the nodes that a label reaches have
// been found, with a limit in bytes, 0 for none.
func New(p *problem.Problem, memory int64) *Ledger {
	a := &Ledger{P: p, Plan: budget.Plan{Limit: memory}}
	n := int64(len(p.Degrees))
	if p.Directed {
		a.Sweeps = spec.UnknownSweeps
	} else {
		a.Sweeps = 1
	}
	a.Reserve(Kept(p), "reached nodes and components")
	a.Phase(4*n+8*most(p), "components")
	return a
}

// Left returns what the limit leaves, at least 1; 0: there is no limit.
func (a *Ledger) Left() int64 { return a.Plan.Room() }

// Over returns the error of the first that did not fit the limit, nil where all fits.
func (a *Ledger) Over() error { return a.over }

// AddSweeps adds sweeps that are known.
func (a *Ledger) AddSweeps(sweeps int) {
	if a.Sweeps != spec.UnknownSweeps {
		a.Sweeps += sweeps
	}
}

// most returns the number of components that a graph has at the most.
func most(p *problem.Problem) int64 {
	alone := 0
	for _, d := range p.Degrees {
		if d == 0 {
			alone++
		}
	}
	return int64(alone + (len(p.Degrees)-alone)/2)
}

// Kept is what the reached nodes and the components of a graph take.
func Kept(p *problem.Problem) int64 {
	n := int64(len(p.Degrees))
	reached := n / 8
	if p.Directed {
		return reached
	}
	return reached + 4*n + 8*most(p)
}

// Beside returns what they leave of a limit.
func Beside(p *problem.Problem, memory int64) int64 { return budget.Remaining(memory, Kept(p)) }

// Reserve adds what is held to the end.
func (a *Ledger) Reserve(bytes int64, what string) {
	if err := a.Plan.Reserve(bytes, what); a.over == nil {
		a.over = err
	}
}

// Phase is Reserve for what is given back at once.
func (a *Ledger) Phase(bytes int64, what string) { a.PhaseUpTo(bytes, bytes, what) }

// PhaseUpTo is Phase for what takes so many bytes for sure, and most if need be.
func (a *Ledger) PhaseUpTo(most, sure int64, what string) {
	a.Reserve(sure, what)
	if most > sure {
		if err := a.Plan.ReservePerhaps(most-sure, what); a.over == nil {
			a.over = err
		}
	}
	a.Plan.Release(what)
}

// List returns the largest sum so far, what is sure of it first.
func (a *Ledger) List() []spec.Bytes {
	peak, items := a.Plan.Peak()
	if len(items) == 0 {
		return nil
	}
	sure := a.Plan.Sure()
	return []spec.Bytes{
		{What: items[len(items)-1].What, Bytes: sure, Row: a.Row},
		{What: "more, if need be", Bytes: peak - sure, Optional: true, Short: a.Short},
	}
}

// PhaseOf is Phase for a list.
func (a *Ledger) PhaseOf(list []spec.Bytes, what string) {
	for _, b := range list {
		a.Row, a.Short = max(a.Row, b.Row), a.Short || b.Short
	}
	a.PhaseUpTo(spec.Sum(list), spec.Least(list), what)
}

// Scores accounts for the scores and classes of all nodes.
func (a *Ledger) Scores() {
	n := len(a.P.Degrees)
	a.Phase(tall.BlockBytes[float32](n, len(a.P.Names))+8*int64(n), "scores of all nodes")
}
