package evaluate

import (
	"context"
	"time"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/sparse"
)

// propagationSteps is how long label propagation walks.
const propagationSteps = 1000

// labelPropagation is the walk with α = 1: a node gets the class of the label
// that a walk from it is most likely to meet first.
type labelPropagation struct{}

// Name implements [Method].
func (labelPropagation) Name() string { return "lp" }

// Takes implements [Method].
func (labelPropagation) Takes() []string { return []string{"prior"} }

// Tune implements [Method]: there is nothing to choose.
func (labelPropagation) Tune(context.Context, *Problem, []Split, *Settings) (*Choice, error) {
	return nil, nil
}

// propagated returns how many classes are walked at a time.
func propagated(p *Problem, set *Settings) int {
	n, k := len(p.Degrees), len(p.Names)
	cols := k
	vectors := 16 * int64(n)
	for set.Memory > 0 && cols > 1 && sparse.BlockBytes[float32](n, k)+2*sparse.BlockBytes[float32](n, cols)+vectors > set.Memory {
		cols--
	}
	return cols
}

// Predict implements [Method].
func (labelPropagation) Predict(ctx context.Context, p *Problem, _ *Parameters, s *Settings) (*Prediction, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	set := s.filled()
	set.Memory = beside(p, set.Memory)
	start := time.Now()
	r := &predictor{p: p, set: &set, out: &Prediction{}}
	var err error
	if r.out.Reached, err = p.reached(ctx, set.Workers, &r.out.Work); err != nil {
		return nil, err
	}
	n, _ := p.A.Dims()
	r.out.Scores = sparse.NewBlock[float32](n, len(p.Names))
	w := walkOf[float32](p, &set, propagationSteps)
	w.Variants = []cwk.Variant{{Absorb: 1}}
	width := propagated(p, &set)
	for lo := 0; lo < len(p.Names); lo += width {
		err = w.RunColumns(ctx, lo, min(lo+width, len(p.Names)), func(t int, rows sparse.Rows, x *sparse.Block[float32]) {
			if t == propagationSteps {
				for i := rows.Lo; i < rows.Hi; i++ {
					copy(r.out.Scores.Row(i)[lo:], x.Row(i))
				}
			}
		})
		if err != nil {
			return nil, err
		}
		r.out.Work.Sweeps += propagationSteps
	}
	r.out.Work.EntryColumns += p.A.NNZ() * propagationSteps * int64(len(p.Names))
	r.out.Seconds.Walk = time.Since(start).Seconds()
	return r.out, r.finish(ctx)
}

// majority gives every node the largest class, whether a label reaches it or
// not, with the scores of an unreached one.
type majority struct{}

// Name implements [Method].
func (majority) Name() string { return "majority" }

// Takes implements [Method].
func (majority) Takes() []string { return nil }

// Tune implements [Method]: there is nothing to choose.
func (majority) Tune(context.Context, *Problem, []Split, *Settings) (*Choice, error) {
	return nil, nil
}

// Predict implements [Method].
func (majority) Predict(ctx context.Context, p *Problem, _ *Parameters, s *Settings) (*Prediction, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	set := s.filled()
	n, _ := p.A.Dims()
	r := &predictor{p: p, set: &set, out: &Prediction{Scores: sparse.NewBlock[float32](n, len(p.Names))}}
	var err error
	if r.out.Reached, err = p.reached(ctx, set.Workers, &r.out.Work); err != nil {
		return nil, err
	}
	prior := priorOf(p)
	for i := range n {
		copy(r.out.Scores.Row(i), prior)
	}
	return r.out, r.finish(ctx)
}
