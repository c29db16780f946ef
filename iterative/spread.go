package iterative

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

const (
	// wideSpread is the ratio of weights above which a small residual of a harmonic function may hide an error as large as its
	// values. Example: a pair joined by an edge of weight 10⁶, with edges of weight 10⁻⁶ to other nodes.
	wideSpread = 1e5

	// sharedSpread replaces wideSpread for a signed graph on several processes, which has no factor.
	sharedSpread = 1e9
)

var errSpread = fmt.Errorf("%w: weights span too many orders of magnitude for a solve without a complete factor", ErrIterationLimit)

// spreadOf returns the spread, which is the largest degree over the smallest weight, and the smallest weight. If all
// degrees are whole numbers of at most wideSpread, it needs no sweep and returns the largest degree and 1.
func spreadOf(ctx context.Context, g *graph.Graph) (spread, least float64, err error) {
	team := sparse.TeamOf(g.A)
	ends := []float64{math.Inf(-1), 0, 0} // negated smallest weight; largest degree; 1 if a degree is not whole
	for i, d := range g.Degrees {
		if !team.IsPadding(i) {
			ends[1] = max(ends[1], d)
			if d != math.Trunc(d) {
				ends[2] = 1
			}
		}
	}
	team.Max(ends)
	if ends[2] == 0 && ends[1] <= wideSpread {
		return ends[1], 1, nil
	}
	lightest, err := sparse.RowSums(ctx, g.A, g.Workers, func(_ []uint32, val []float64) float64 {
		least := math.Inf(1)
		for _, w := range val {
			if w != 0 {
				least = min(least, math.Abs(w))
			}
		}
		return least
	})
	if err != nil {
		return 0, 0, err
	}
	for i, d := range g.Degrees {
		if d > 0 && !team.IsPadding(i) {
			ends[0] = max(ends[0], -lightest[i])
		}
	}
	team.Max(ends)
	return ends[1] / -ends[0], -ends[0], nil
}

const (
	roughTolerance  = 1e-4  // a solution with this tolerance or more is not certified
	wideTolerance   = 1e-13 // tolerance of the residual of a certified solution
	spreadTolerance = 1e-6  // tolerance of the error of a certified solution, relative to the largest value
)

// certify returns an error if it cannot prove that the error of every element of a harmonic function f is within
// spreadTolerance of the largest value. N = L_UU is an M-matrix. The residual r of f for the right-hand side b, with its
// rounding errors, is at most h in each row. If v > 0 and N·v ≥ h/2, then |N⁻¹·r| ≤ 2v. Cost: a solve of one column for v.
func (s *System) certify(ctx context.Context, f, b *sparse.Block[float64]) error {
	q := blocks.Reshape(s.cg.run.v.q, f.Rows, f.Cols)
	if err := s.cg.A.StepTo(ctx, q, f, sparse.Step[float64]{Alpha: 1}); err != nil {
		return err
	}
	largest := blocks.Largest(s.team(), f)
	h := make([]float64, f.Rows)
	right := sparse.NewBlock[float64](f.Rows, 1)
	for i, d := range s.diagonal(true) {
		if s.free[i] == 0 {
			continue
		}
		h[i] = 8 * epsilon * d * largest
		for j, v := range q.Row(i) {
			h[i] = max(h[i], 8*epsilon*d*largest+math.Abs(s.Scale[i]*b.Row(i)[j]-v))
		}
		right.Row(i)[0] = h[i] / s.Scale[i]
	}
	v := sparse.NewBlock[float64](f.Rows, 1)
	if _, err := s.SolveTo(ctx, v, right, &Settings{Tolerance: wideTolerance}); err != nil && !errors.Is(err, ErrStagnation) {
		return err
	}
	blocks.ScaleRows(v, v, blocks.Inverses(s.Scale))
	q = blocks.Reshape(s.cg.run.v.q, f.Rows, 1)
	if err := s.cg.A.StepTo(ctx, q, v, sparse.Step[float64]{Alpha: 1}); err != nil {
		return err
	}
	worst := []float64{0}
	for i, bound := range v.Data {
		worst[0] = max(worst[0], 2*bound)
		if s.free[i] != 0 && !(q.Row(i)[0] >= h[i]/2 && bound >= 0) {
			worst[0] = math.Inf(1)
		}
	}
	s.team().Max(worst)
	if worst[0] > spreadTolerance*largest {
		return errSpread
	}
	return nil
}
