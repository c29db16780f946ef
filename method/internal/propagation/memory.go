package propagation

import (
	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/method/problem"
)

// walks reports whether l makes steps instead of solving a system: if the graph is directed, the number of steps is given,
// or labels absorb only part of a walk.
func walks(l *Propagation) bool {
	return l.P.Directed || l.Steps > 0 || l.Alpha < 1
}

// Workspace declares the memory of ScoresTo. The block of scores of all classes is not counted.
func (l *Propagation) Workspace() budget.Workspace {
	n := len(l.P.Degrees)
	columns := min(len(l.P.Names), widest)
	scores := budget.Slabs[float32](1, n, columns)
	if !walks(l) {
		solved, entries, cover := iterative.SolvedSize(l.P.Graph)
		w := budget.Slabs[float64](5, solved, columns).And(budget.Slabs[float64](1, n, columns)).And(scores).And(
			budget.Held(cover, 10*8*int64(solved)))
		if l.P.Team() == nil {
			w = w.And(iterative.FactorWorkspace(solved, entries, l.Rough))
		}
		if reduces(l) {
			w.Optional = budget.AnyOf(w.Optional, iterative.ReductionBytes(n, entries, len(l.P.Row)))
			w.Reserved = w.Optional
		}
		return w
	}
	w := budget.Slabs[float64](2, n, columns).And(scores).AndHeld(5 * 8 * int64(n))
	if n <= iterative.ExactFirst && l.Steps == 0 {
		w = w.AndHeld(budget.Block[float64](n, n+1+columns))
	}
	return w
}

// CompareWorkspace declares the memory of [Propagation.Compare]. Components of the graph are not counted.
func (l *Propagation) CompareWorkspace() budget.Workspace {
	sub := *l
	sub.Steps = comparedSteps(l)
	return sub.Workspace().AndHeld(HeldOutBytes(l.P))
}

func (l *Propagation) room() int64 {
	solved, entries, _ := iterative.SolvedSize(l.P.Graph)
	room := budget.Subtract(l.Memory, l.Workspace().Required(l.Memory))
	if room > 0 && l.P.Team() == nil {
		room += iterative.NeededBytes(solved, entries)
	}
	return room
}

// HeldOutBytes returns the bytes of a [HeldOut] with the scores of all labels.
func HeldOutBytes(p *problem.Problem) int64 {
	return int64(len(p.Row)) * int64(4*len(p.Names)+64)
}
