package propagation

import (
	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/method/problem"
)

// width returns the number of classes that are propagated at a time, and the bytes that a factor
// may take in addition, 0 for no limit. A factor that fits with a single class fits with all that
// are propagated together, so that its use does not depend on the number of classes.
func width(l *Propagation) (cols int, factor int64) {
	need := func(cols int) int64 { return blockBytes(l, cols) + factorBytes(l, cols) }
	if need(1) > l.Memory && !likelyFactored(l) {
		need = func(cols int) int64 { return blockBytes(l, cols) }
	}
	cols = budget.Widest(min(len(l.P.Names), widest), l.Memory, need)
	return cols, budget.Subtract(l.Memory, blockBytes(l, cols))
}

// walks reports whether label propagation walks: where it has no symmetric system to
// solve, or is given a length or labels that do not absorb all of a walk.
func walks(l *Propagation) bool {
	return l.P.Directed || l.Steps > 0 || l.Alpha < 1
}

// blockBytes returns the memory of propagating cols classes at a time, with the scores of all
// classes and without a factor.
func blockBytes(l *Propagation, cols int) int64 {
	n := len(l.P.Degrees)
	scores := budget.Block[float32](n, len(l.P.Names))
	switch {
	case l.heldOut != nil:
		scores = budget.Block[float32](n, cols)
	case l.Highest != nil:
		scores = budget.Block[float32](n, cols) + problem.HighestBytes(n)
	}
	if walks(l) {
		bytes := scores + 2*budget.Block[float64](n, cols+1) + 24*int64(n)
		if n <= iterative.ExactFirst && l.Steps == 0 {
			bytes += budget.Block[float64](n, n+1+cols)
		}
		return bytes
	}
	const graphVectors = 2 // loops, and degrees without them
	return scores + budget.Block[float64](n, cols) + graphVectors*8*int64(n) +
		iterative.HarmonicBytes(l.P.Graph, cols)
}

// factorBytes returns the memory of the factor that solves slow systems, in addition to the solve
// of cols columns, or of the reduction that predicts the folds.
func factorBytes(l *Propagation, cols int) int64 {
	if walks(l) || l.P.Team() != nil { // no factor
		return 0
	}
	n, entries, _ := iterative.SolvedSize(l.P.Graph)
	bytes := iterative.SampledBytes(n, entries, cols)
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

// Bytes returns the memory of ScoresTo, the scores included, with a factor or an elimination if
// these fit.
func (l *Propagation) Bytes() int64 {
	width, room := width(l)
	bytes := blockBytes(l, width)
	if walks(l) || l.P.Team() != nil {
		return bytes
	}
	n, entries, _ := iterative.SolvedSize(l.P.Graph)
	factor := iterative.FactorBytes(n, entries, width, room)
	if likelyFactored(l) {
		factor = max(factor, factorBytes(l, width))
	}
	return bytes + factor
}

// CompareBytes is the memory of [Propagation.Compare].
func (l *Propagation) CompareBytes() int64 {
	sub := *l
	sub.heldOut, sub.Steps = map[int][]float32{}, comparedSteps(l)
	return l.P.ComponentBytes() + sub.Bytes() +
		int64(len(l.P.Row))*int64(4*len(l.P.Names)+64)
}
