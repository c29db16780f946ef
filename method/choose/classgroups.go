package choose

import (
	"context"

	"github.com/heatwalk/heatwalk/sparse"
)

// Products holds the kernel of a trial as a sum over groups of classes, because the features of a
// thousand classes do not fit into memory together. For each length of walks it has the terms
// Σ PₜPₜᵀ of the steps beyond the length before.
type Products struct {
	gram, cross [][]float64 // by length: train×train, and train×span as in [Tester]
}

// ProductsBytes returns the memory of [Products] of a trial with the given numbers of training
// rows, of test rows and of lengths.
func ProductsBytes(train, test, lengths int) int64 {
	return 8 * int64(lengths) * int64(train) * int64(train+span(test))
}

// Add adds to the products of a trial those of a group of classes, whose features are rows of x.
func (w *Tester) Add(ctx context.Context, x *sparse.Block[float32], t *Trial, classes int, sums *Products) error {
	if w.Learner.Whole {
		t = t.withTests()
	}
	if sums.gram == nil {
		for range w.Steps {
			sums.gram = append(sums.gram, make([]float64, len(t.Train)*len(t.Train)))
			sums.cross = append(sums.cross, make([]float64, len(t.Train)*span(len(t.Test))))
		}
	}
	gram, cross := w.gram, w.cross
	defer func() { w.gram, w.cross = gram, cross }()
	from := 0
	for s, steps := range w.Steps {
		w.gram, w.cross = sums.gram[s], sums.cross[s]
		to := (steps - w.MinSteps + 1) * classes
		if err := w.extend(ctx, x, t, from, to); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// RunOn is [Tester.Run] on products that have been added up.
func (w *Tester) RunOn(ctx context.Context, sums *Products, t *Trial, hits Hits) error {
	t.countUnreached(hits)
	t = w.begin(t)
	return w.run(ctx, t, hits, func(step, _, _ int) error { return w.take(sums, step) })
}

// OutcomesOn is [Tester.Outcomes] on products that have been added up.
func (w *Tester) OutcomesOn(ctx context.Context, sums *Products, t *Trial) ([]Outcome, error) {
	all := w.begin(t)
	if err := w.take(sums, 0); err != nil {
		return nil, err
	}
	return w.outcomes(ctx, t, all, w.Steps[0]-w.MinSteps+1)
}

// take adds the products of a length to the kernel.
func (w *Tester) take(sums *Products, step int) error {
	for i, v := range sums.gram[step] {
		w.gram[i] += v
	}
	for i, v := range sums.cross[step] {
		w.cross[i] += v
	}
	return nil
}

// countUnreached counts the test nodes that no label reaches.
func (t *Trial) countUnreached(hits Hits) {
	for _, u := range t.Unreached {
		if u.Class == u.Given {
			hits.all(0)
		}
	}
}
