package evaluate

import (
	"context"
	"time"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
)

// Label propagation walks until no class of no node has changed by more than
// settled in the last settleSteps steps, a few units in the last place of
// float32, and no longer than propagationSteps.
const (
	propagationSteps = 1000
	settleSteps      = 10
	settled          = 0x1p-23
)

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
		hi := min(lo+width, len(p.Names))
		sweeps, err := settle(ctx, w, r.out.Scores, lo, hi, func(done float64) {
			r.tell("walk", (float64(lo)+done*float64(hi-lo))/float64(len(p.Names)))
		})
		if err != nil {
			return nil, err
		}
		r.out.Work.add(Work{sweeps, p.A.NNZ() * int64(sweeps) * int64(hi-lo)})
	}
	r.out.Seconds.Walk = time.Since(start).Seconds()
	return r.out, r.finish(ctx)
}

// settle stores the columns lo ≤ j < hi of a walk in those of dst, each when it
// has settled, whichever are walked beside it, and returns the number of
// sweeps; tell hears what share of them is done.
func settle(ctx context.Context, w *cwk.Walk[float32], dst *sparse.Block[float32], lo, hi int, tell func(done float64)) (sweeps int, err error) {
	rest := hi - lo // columns on the move
	still := make([]bool, rest)
	change := make([][]float32, sched.Workers(w.Workers)) // by worker and column, since the last look
	for i := range change {
		change[i] = make([]float32, rest)
	}
	w.Progress = func(done, all int) {
		sweeps = done
		tell(float64(done) / float64(all))
	}
	look := func(t int) bool {
		if t%settleSteps != 0 {
			return false
		}
		for j := range still {
			var most float32
			for _, c := range change {
				most = max(most, c[j])
				c[j] = 0
			}
			if !still[j] && most <= settled {
				still[j] = true
				rest--
			}
		}
		return rest == 0
	}
	err = w.RunUntil(ctx, lo, hi, func(t int, rows sparse.Rows, p *sparse.Block[float32]) {
		if t%settleSteps != 0 {
			return
		}
		most := change[rows.Worker]
		for i := rows.Lo; i < rows.Hi; i++ {
			kept := dst.Row(i)[lo:hi]
			for j, v := range p.Row(i) {
				if !still[j] {
					most[j] = max(most[j], v-kept[j], kept[j]-v)
					kept[j] = v
				}
			}
		}
	}, look)
	return sweeps, err
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
