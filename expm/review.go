package expm

import (
	"context"
	"errors"
	"math"

	"github.com/heatwalk/heatwalk/iterative"
)

// errTooSlow says that after the first solve a series in H looks cheaper.
var errTooSlow = errors.New("expm: a series in H is cheaper")

// review plans again with the steps that the first solve took: a series in H
// if that is cheaper, or a factor as preconditioner.
func (s *solves) review(ctx context.Context, last int) error {
	steps := float64(s.steps)
	if s.settings.Method == Automatic {
		left := solveWeight * (laterSolves*float64(last) - 1) * min(steps, s.factorSteps()*factorCost)
		if s.seriesCost(s.group[len(s.group)-1]) < left {
			return errTooSlow
		}
	}
	if steps <= factorCost*s.factorSteps() {
		return nil
	}
	ground := make([]float64, s.n)
	for i := range ground {
		ground[i] = s.ground(i)
	}
	f, err := iterative.NewCholesky(ctx, s.graph.A, s.gamma, ground, &iterative.CholeskySettings{
		RNGSeed: 1, Memory: s.settings.Memory, Workers: s.workers,
	})
	switch {
	case errors.Is(err, iterative.ErrMemory):
		return nil
	case err != nil:
		return err
	}
	s.cg.Precond, s.factored = f, true
	return nil
}

// factorCost is what a step with a factor takes beside one with Jacobi.
const factorCost = 3

// factorSteps predicts the steps of the first solve with a factor, which
// gains more than a digit in three steps on any graph.
func (s *solves) factorSteps() float64 {
	return 0.9 * math.Log(2*s.norm/s.whole[0])
}

// finishGroup takes the results to the caller's variables and fills the
// outcomes. It returns true where they are not within the tolerance and may be
// with the norms known now.
func (s *solves) finishGroup(ctx context.Context, first bool) (again bool, err error) {
	for _, p := range s.group {
		if s.norm > 0 {
			bound := s.spent(p, -1) * s.outerMax
			if bound > s.tolerance(p)*p.lower && first && p.lower > 0 {
				again = true
			}
		}
	}
	if again {
		return true, nil
	}
	for _, p := range s.group {
		if s.outer != nil {
			err := s.chunks(ctx, func(_, lo, hi int) {
				for i := lo; i < hi; i++ {
					scaleTo(p.y.Row(i), s.outer[i], p.y.Row(i))
				}
			})
			if err != nil {
				return false, err
			}
		}
		var norm float64
		for _, v := range p.colNorms {
			norm = math.Hypot(norm, v)
		}
		columns := make([]float64, len(s.norms))
		bound := 0.0
		if s.norm > 0 {
			bound = s.spent(p, -1) * s.outerMax
			for c := range columns {
				columns[c] = s.spent(p, c) * s.outerMax
			}
		}
		p.out.Degree, p.out.InnerSteps, p.out.SampledCholesky = len(s.whole), s.steps, s.factored
		p.finish(s.evaluation, bound, columns, norm)
	}
	return false, nil
}

// projectRest finishes all groups behind a part by the part of B in the null
// space, where that is within the tolerance: what is left outside does not
// grow with the rate.
func (e *evaluation) projectRest(ctx context.Context, p *part, groups [][]*part) (done bool, err error) {
	if e.outer != nil || e.null == nil {
		return false, nil
	}
	if e.w[0] == nil {
		if err := e.split(ctx, groups[0], false); err != nil {
			return false, err
		}
	}
	if err := e.null.RemoveTo(ctx, e.w[0], p.y, e.workers); err != nil {
		return false, err
	}
	e.sums.Begin(e.b.Cols)
	err = e.chunks(ctx, func(_, lo, hi int) {
		sums := e.sums.Of(lo / chunkRows)
		for i := lo; i < hi; i++ {
			addSquares(sums, 1, e.w[0].Row(i))
		}
	})
	if err != nil {
		return false, err
	}
	left := make([]float64, e.b.Cols)
	bound := e.sums.rootsTo(left) + p.out.ErrorBound
	if bound > e.settings.Tolerance*p.null*(1-16*epsilon) {
		return false, nil
	}
	for _, group := range groups {
		if err := e.split(ctx, group, false); err != nil {
			return false, err
		}
		for _, q := range group {
			columns := make([]float64, e.b.Cols)
			for c, v := range left {
				columns[c] = v + p.out.ColumnBound[c]
			}
			q.out.Method = Projection
			q.finish(e, bound, columns, q.null)
		}
	}
	return true, nil
}
