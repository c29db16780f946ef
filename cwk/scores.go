package cwk

import (
	"context"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/internal/system"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// ScoreClasses is the number of classes that [Walk.Scores] walks at a time. The order of sums depends on it, so that
// it must not depend on the memory limit.
const ScoreClasses = 32

// Scores computes linear functions of the features F of every node in variant 0:
//
//	scores[i, o] = bias[o] + Σ_j F[i, j]·weights[j, o]
//
// weights is Classes·(Steps−start+1)×functions. A nil bias is zero. Sums are added in float64 and in a fixed order.
//
// If dst is not nil, it must be n×functions, visit must be nil, and Scores stores all scores in dst. Otherwise Scores
// calls visit for slabs of functions, as wide as Memory allows, with the scores of the functions lo …
// lo+scores.Cols−1. scores is valid during the call. Scores returns the first error of visit. Cost: Steps sweeps for
// each 32 classes, and for each slab.
func (w *Walk[T]) Scores(ctx context.Context, dst *sparse.Block[float64], start int,
	weights *sparse.Block[float64], bias []float64,
	visit func(lo int, scores *sparse.Block[float64]) error) error {
	if err := w.validate(start); err != nil {
		return err
	}
	functions := weights.Cols
	if weights.Rows != w.width(start) || bias != nil && len(bias) != functions {
		panic(badShape)
	}
	n := len(w.Degrees)
	if dst != nil {
		if dst.Rows != n || dst.Cols != functions {
			panic(badShape)
		}
		s, err := newScorer(w, 0)
		if err != nil {
			return err
		}
		s.k.sweeps = s.sweeps(0)
		return s.to(ctx, dst, start, weights, bias)
	}
	s, err := newScorer(w, functions)
	if err != nil {
		return err
	}
	s.k.sweeps = s.sweeps(functions)
	data := system.Make[float64](n * s.functions)
	for lo, hi := range blocks.Slabs(functions, s.functions) {
		scores := sparse.BlockOf(n, hi-lo, data[:n*(hi-lo)])
		var b []float64
		if bias != nil {
			b = bias[lo:hi]
		}
		if err := s.to(ctx, scores, start, weights.Columns(lo, hi), b); err != nil {
			return err
		}
		if err := visit(lo, scores); err != nil {
			return err
		}
	}
	return nil
}

type scorer[T sparse.Float] struct {
	k         *walker[T]
	cols      int // classes of a walk
	functions int // functions in a call of visit
}

// newScorer returns a scorer for as many functions at a time as fit into memory. If the caller has the block of
// scores, functions must be 0, so that the scorer needs no memory for it.
func newScorer[T sparse.Float](w *Walk[T], functions int) (*scorer[T], error) {
	s := &scorer[T]{k: newWalker(w, []int{0}), cols: min(ScoreClasses, w.Seeds.Classes)}
	if err := budget.Check(w.Memory, s.bytes(min(1, functions)), narrowest); err != nil {
		return nil, err
	}
	s.functions = min(functions, budget.Widest(functions, w.Memory, s.bytes))
	return s, nil
}

func (s *scorer[T]) bytes(functions int) budget.Size {
	w := s.k.w
	column := budget.Vector[float64](len(w.Degrees) + s.cols*(w.Steps+1))
	return budget.AllOf(w.bytes(s.cols), budget.Times(functions, column))
}

func (s *scorer[T]) sweeps(functions int) int {
	return max(1, (functions+s.functions-1)/max(1, s.functions)) * s.k.sweepsAt(s.cols)
}

func (s *scorer[T]) to(ctx context.Context, dst *sparse.Block[float64], start int,
	weights *sparse.Block[float64], bias []float64) error {
	classes := s.k.w.Seeds.Classes
	scale := s.k.w.scale(start)
	for lo := 0; lo < classes; lo += s.cols {
		hi := min(lo+s.cols, classes)
		err := s.k.run(ctx, lo, hi, func(t int, rows sparse.Rows, p *sparse.Block[T]) {
			x := make([]float64, p.Cols)
			for i := rows.Lo; i < rows.Hi; i++ {
				y := dst.Row(i)
				if t == 0 && lo == 0 {
					clear(y)
					copy(y, bias)
				}
				if t < start {
					continue
				}
				for j, v := range p.Row(i) {
					x[j] = float64(T(scale * v))
				}
				step := simd.RowsOf(weights.Data, weights.Stride, (t-start)*classes+lo)
				sum := simd.Rows[float64]{Data: y} // the first row collects the others
				simd.AddRows(sum, len(x), len(y), sum, x, step)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}
