package propagation

import (
	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/method/problem"
)

// walks reports whether label propagation walks: where it has no symmetric system to
// solve, or is given a length or labels that do not absorb all of a walk.
func walks(l *Propagation) bool {
	return l.P.Directed || l.Steps > 0 || l.Alpha < 1
}

// Workspace declares the memory of ScoresTo without the scores of all classes.
func (l *Propagation) Workspace() budget.Workspace {
	n := len(l.P.Degrees)
	columns := min(len(l.P.Names), widest)
	scores := budget.Slabs[float32](1, n, columns)
	if !walks(l) {
		solved, entries, cover := iterative.SolvedSize(l.P.Graph)
		w := budget.Slabs[float64](5, solved, columns).And(budget.Slabs[float64](1, n, columns)).And(scores).And(
			budget.Held(cover, 14*8*int64(solved)))
		if l.P.Team() == nil {
			w.Optional = max(factorBytes(l), iterative.FactorBytes(solved, entries))
		}
		return w
	}
	w := budget.Slabs[float64](2, n, columns).And(scores).And(budget.Held(5 * 8 * int64(n)))
	if n <= iterative.ExactFirst && l.Steps == 0 {
		w = w.And(budget.Held(budget.Block[float64](n, n+1+columns)))
	}
	return w
}

// CompareWorkspace declares the memory of [Propagation.Compare] without the components.
func (l *Propagation) CompareWorkspace() budget.Workspace {
	sub := *l
	sub.Steps = comparedSteps(l)
	return sub.Workspace().And(budget.Held(HeldOutBytes(l.P)))
}

// HeldOutBytes is the memory of scores of all labels.
func HeldOutBytes(p *problem.Problem) int64 {
	return int64(len(p.Row)) * int64(4*len(p.Names)+64)
}

// width returns the number of classes that are propagated at a time, and the bytes that a factor
// may take in addition, 0 for no limit. A factor that fits with a single class fits with all that
// are propagated together, so that its use does not depend on the number of classes.
func width(l *Propagation) (cols int, factor int64) {
	w := l.Workspace()
	limit := l.Memory
	if likelyFactored(l) || w.Required(1)+factorBytes(l) <= limit {
		limit = budget.Subtract(limit, factorBytes(l))
	}
	w.Columns = w.Width(limit)
	return w.Columns, budget.Subtract(l.Memory, w.Required(0))
}

// shortage is the memory that a solve of one class with a factor needs beyond the limit.
func shortage(l *Propagation) int64 {
	return l.Workspace().Required(1) + factorBytes(l) - l.Memory
}

// factorBytes returns the memory of the factor that solves slow systems, or of the reduction that predicts the folds.
func factorBytes(l *Propagation) int64 {
	if walks(l) || l.P.Team() != nil { // no factor
		return 0
	}
	n, entries, _ := iterative.SolvedSize(l.P.Graph)
	bytes := iterative.SampledBytes(n, entries)
	if reduces(l) {
		bytes = max(bytes, iterative.ReductionBytes(n, entries, len(l.P.Row)))
	}
	return bytes
}

// longDegree is the mean degree up to which a graph may be a road map, a grid or a mesh, whose
// systems are slow without a factor.
const longDegree = 8

// likelyFactored reports whether a solve that must have a factor, if it wants one, may want it.
func likelyFactored(l *Propagation) bool {
	return l.Rough && !walks(l) && l.P.A.NNZ() <= longDegree*int64(len(l.P.Degrees))
}
