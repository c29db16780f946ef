package expm

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

var errTooSlow = errors.New("expm: a series in H is cheaper")

// solveFirst is the first of last solves of an attempt. Its convergence predicts the cost of the other solves. If a series
// in H is predicted to be cheaper, solveFirst returns errTooSlow; only the first attempt allows it. If Jacobi is slow, a
// Cholesky factor replaces Jacobi. The solve stops as soon as another method is predicted to be cheaper, which on grids,
// trees and small worlds saves 80 to 99 % of the sweeps.
func (s *solves) solveFirst(ctx context.Context, last int, first bool) error {
	// sweeps of a series
	target := s.target(0)
	series := infinity
	if s.e.settings.method == "" && first {
		series = s.e.seriesCost(s.group[len(s.group)-1])
	}
	digits := digitsOf(target / s.e.norm)
	remainder := s.digits(1, last)
	limit := func(pace float64) int {
		if math.IsInf(pace, 1) {
			return 0 // no limit
		}
		return int(math.Ceil(firstSolveFactor * pace * digits))
	}
	worth := series / (solveWeight * remainder) // pace above which a series is cheaper
	if err := s.solve(ctx, 0, target, limit(min(worth, factorPace*factorCost))); err != nil {
		return err
	}
	pace := s.firstSteps / digits
	if pace > min(worth, factorPace*factorCost) &&
		series > solveWeight*factorCost*usualSteps*float64(last) {
		if err := s.factor(ctx); err != nil {
			return err
		}
	}
	left := s.unfinished
	previousSteps := s.firstSteps
	if s.factored {
		pace = factorPace
		worth /= factorCost
	}
	if left > 0 && (s.factored || pace < worth) {
		if err := s.solve(ctx, 0, target, limit(worth)); err != nil {
			return err
		}
		pace = s.firstSteps / digits
		if s.factored {
			pace = (s.firstSteps - previousSteps) / digitsOf(target/left)
		}
	}
	if s.unfinished > 0 || pace > worth {
		return errTooSlow
	}
	return nil
}

// factor replaces Jacobi's preconditioner by a Cholesky factor. If several processes share the matrix, it does nothing.
func (s *solves) factor(ctx context.Context) error {
	if s.m.team != nil {
		return nil
	}
	ground := make([]float64, s.m.n)
	for i := range ground {
		ground[i] = s.m.addedDiagonal(i)
	}
	system := &iterative.System{Graph: s.m.graph, Edge: s.gamma, Ground: ground,
		Memory: s.e.settings.Memory}
	p, factored, err := system.Preconditioner(ctx)
	if err == nil && factored {
		s.cg.Precond = p
		s.factored = true
	}
	return err
}

const (
	// factorCost is the cost of a step with a factor relative to Jacobi.
	factorCost = 3

	// factorPace is the pace of solves with a factor, which take less than three steps for a digit on any graph.
	factorPace = 0.9
	usualSteps = 4

	// firstSolveFactor limits the steps of the first solve, relative to the number at which
	// solves cost as much as another method.
	firstSolveFactor = 1.25
)

// finishGroup fills the outcomes of the group. If this is the first attempt, a tolerance was missed, and an attempt with
// the norms that are known now may meet it, finishGroup returns true instead.
func (s *solves) finishGroup(first bool) (again bool) {
	for i, p := range s.group {
		// The norm is smaller than planned.
		if first && s.e.norm > 0 && p.lower < s.planned[i] {
			allowed := s.e.tolerance(p) * p.lower
			if s.errors.spent(p, p.end) > allowed &&
				s.errors.boundRounding(p, p.end) < allowed*mostGain {
				return true
			}
		}
	}
	for _, p := range s.group {
		var norm float64
		for _, v := range p.colNorms {
			norm = math.Hypot(norm, v)
		}
		columns := make([]float64, len(s.e.norms))
		rounded := make([]float64, len(s.e.norms))
		bound := 0.0
		if s.e.norm > 0 {
			bound = s.errors.spent(p, p.end)
			columns, rounded = s.errors.columnBounds(p)
		}
		p.out.SampledCholesky = s.factored
		p.finish(s.e, bound, columns, rounded, norm)
	}
	return false
}

// mostGain is the factor by which another attempt with a larger γ is trusted to reduce rounding errors.
const mostGain = 2

// projectRest reports whether the result of part p outside the null space is within the tolerance. If so, the results of
// groups, whose rates are larger, are their parts in the null space alone, because the rest does not grow with the rate.
func (e *evaluation) projectRest(p *part, groups [][]*part) (done bool) {
	if e.m.null == nil {
		return false
	}
	if e.w[0] == nil {
		e.split(groups[0], false)
	}
	e.m.null.RemoveTo(e.w[0], p.y, e.m.workers)
	e.sums.begin(e.m.team, e.b.Cols)
	e.m.chunks(func(_, lo, hi int) {
		sums := e.sums.of(lo/blocks.ChunkRows, lo)
		for i := lo; i < hi; i++ {
			addSquares(sums, 1, e.w[0].Row(i))
		}
	})
	left := make([]float64, e.b.Cols)
	bound := e.sums.rootsTo(left) + p.out.ErrorBound
	if bound > e.settings.Tolerance*p.null*(1-16*epsilon) {
		return false
	}
	for _, group := range groups {
		e.split(group, false)
		for _, q := range group {
			columns := slices.Clone(left)
			blocks.AddScaled(columns, 1, p.out.ColumnBound)
			q.out.Method = Projection
			q.finish(e, bound, columns, slices.Clone(p.out.Rounding), q.null)
		}
	}
	return true
}
