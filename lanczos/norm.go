package lanczos

import (
	"context"
	"math"
	"math/rand/v2"
)

// normSteps is the number of steps of Lanczos that estimates a norm within a factor of two.
const normSteps = 20

// measureNorm computes a lower bound of ‖A‖, for methods without Ritz values of both ends, by Lanczos without
// orthogonalisation on a random vector.
func (r *run) measureNorm(ctx context.Context) error {
	chains := newRecurrence(r.p.A, 1, r.s.Workers)
	err := chains.start(ctx, r.s.RNGSeed, r.p.Excluded, func(rng *rand.Rand, row []float64) { row[0] = rng.NormFloat64() })
	for err == nil && chains.steps < normSteps && !chains.columns[0].done {
		err = chains.step(ctx)
		r.report(chains.steps)
	}
	if err != nil {
		return err
	}
	for _, v := range chains.columns[0].Eigenvalues() {
		r.norm = max(r.norm, math.Abs(v))
	}
	r.m.products += chains.steps
	return nil
}
