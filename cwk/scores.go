package cwk

import (
	"context"

	"github.com/heatwalk/heatwalk/internal/pages"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/sparse"
)

// scoreColumns is how many classes Scores walks at once. The order of its
// sums depends on it, so it is the same for any memory.
const scoreColumns = 32

// Scores gives what linear functions of the features give for every node, with the
// features of variant 0 and one function in each column of weights:
//
//	scores[i, o] = bias[o] + Σ_j F[i, j]·weights[j, o]
//
// weights is Classes·(Steps−from+1)×out; a nil bias is zero. The sums are added in float64
// and in a fixed order; F is never stored. Where dst is not nil it is n×out and takes them
// all, and visit is nil. Else Scores calls visit for slabs of functions from first to last,
// with the scores of lo … lo+scores.Cols−1, as many at a time as Memory allows: scores is
// valid during the call, and the first error of visit ends it. Cost: Steps sweeps for each
// 32 classes, and for each slab.
func (w *Walk[T]) Scores(ctx context.Context, dst *sparse.Block[float64], from int, weights *sparse.Block[float64], bias []float64, visit func(lo int, scores *sparse.Block[float64]) error) error {
	if err := w.validate(from); err != nil {
		return err
	}
	if weights.Rows != w.width(from) || bias != nil && len(bias) != weights.Cols {
		panic(badShape)
	}
	n := len(w.Degrees)
	if dst != nil {
		if dst.Rows != n || dst.Cols != weights.Cols {
			panic(badShape)
		}
		s, err := w.scorer(0)
		if err != nil {
			return err
		}
		s.k.sweeps = s.sweeps()
		return s.to(ctx, dst, from, weights, bias)
	}
	s, out, err := w.scoreSlabs(weights.Cols)
	if err != nil {
		return err
	}
	s.k.sweeps = (weights.Cols + out - 1) / out * s.sweeps()
	data := pages.Make[float64](n * out)
	for lo := 0; lo < weights.Cols; lo += out {
		hi := min(lo+out, weights.Cols)
		scores := sparse.BlockOf(n, hi-lo, data[:n*(hi-lo)])
		var b []float64
		if bias != nil {
			b = bias[lo:hi]
		}
		if err := s.to(ctx, scores, from, weights.Columns(lo, hi), b); err != nil {
			return err
		}
		if err := visit(lo, scores); err != nil {
			return err
		}
	}
	return nil
}

// ScoresBytes returns the memory of [Walk.Scores] of so many functions within w.Memory, the
// scores that visit receives included, and its number of sweeps. With 0 functions it is that of
// a call with dst, without dst. The error is that of a limit that is too low.
func (w *Walk[T]) ScoresBytes(functions int) (bytes int64, sweeps int, err error) {
	if err := w.Validate(); err != nil {
		return 0, 0, err
	}
	if functions == 0 {
		s, err := w.scorer(0)
		if err != nil {
			return 0, 0, err
		}
		return s.bytes(0), s.sweeps(), nil
	}
	s, at, err := w.scoreSlabs(functions)
	if err != nil {
		return 0, 0, err
	}
	return s.bytes(at), (functions + at - 1) / at * s.sweeps(), nil
}

// scoreSlabs returns a scorer and how many of the functions fit at a time. Its
// walks go without padding where more then fit in fewer slabs.
func (w *Walk[T]) scoreSlabs(functions int) (*scorer[T], int, error) {
	one := 8 * int64(len(w.Degrees)) // bytes of a column of scores
	s, err := w.scorer(one)
	if err != nil || w.Memory <= 0 {
		return s, functions, err
	}
	fit := func() (at, slabs int) {
		at = clamp((w.Memory-s.bytes(0))/max(1, one), functions)
		return at, (functions + at - 1) / at
	}
	at, slabs := fit()
	if !s.lane.unpadded {
		s.lane.unpadded = true
		if more, fewer := fit(); fewer < slabs {
			return s, more, nil
		}
		s.lane.unpadded = false
	}
	return s, at, nil
}

// scorer computes scores from walks of variant 0, cols classes at a time.
type scorer[T sparse.Float] struct {
	k    *walker[T]
	lane lane[T]
	cols int
}

// scorer returns a scorer whose walks fit into memory beside taken bytes, if
// need be without padding.
func (w *Walk[T]) scorer(taken int64) (*scorer[T], error) {
	if w.classes() < w.Seeds.Classes {
		panic(badSlab)
	}
	s := &scorer[T]{lane: lane[T]{workers: w.Workers}, cols: min(scoreColumns, w.Seeds.Classes)}
	if w.Memory > 0 {
		taken += w.vectorBytes()
		s.lane.unpadded = taken+w.blockBytes(s.cols) > w.Memory
		if need := taken + w.blocksBytes(s.cols, s.lane.unpadded); need > w.Memory {
			return nil, memoryError(w.Memory, need)
		}
	}
	s.k = w.walker([]int{0})
	return s, nil
}

// bytes returns the memory of the walks and of the scores of so many functions.
func (s *scorer[T]) bytes(functions int) int64 {
	w := s.k.w
	return 8*int64(len(w.Degrees))*int64(functions) + w.vectorBytes() + w.blocksBytes(s.cols, s.lane.unpadded)
}

// sweeps returns what one call of to costs.
func (s *scorer[T]) sweeps() int {
	return (s.k.columns() + s.cols - 1) / s.cols * s.k.w.Steps
}

func (s *scorer[T]) to(ctx context.Context, dst *sparse.Block[float64], from int, weights *sparse.Block[float64], bias []float64) error {
	classes, scale := s.k.w.Seeds.Classes, s.k.w.scale(from)
	for lo := 0; lo < classes; lo += s.cols {
		err := s.k.run(ctx, &s.lane, lo, min(lo+s.cols, classes), func(t int, rows sparse.Rows, p *sparse.Block[T]) {
			x := make([]float64, p.Cols)
			for i := rows.Lo; i < rows.Hi; i++ {
				y := dst.Row(i)
				if t == 0 && lo == 0 {
					clear(y)
					copy(y, bias)
				}
				if t < from {
					continue
				}
				for j, v := range p.Row(i) {
					x[j] = float64(T(scale * v))
				}
				of := weights.Data[((t-from)*classes+lo)*weights.Stride:]
				sum := simd.Rows[float64]{Data: y} // one row, to which the others are added in turn
				simd.AddRows(sum, len(x), len(y), sum, x, simd.Rows[float64]{Data: of, Stride: weights.Stride})
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}
