package lanczos

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/heatwalk/heatwalk/sparse"
)

// bounds enclose a spectrum.
type bounds struct {
	lo, hi float64
	norm   float64 // a lower bound of ‖A‖
	sweeps int     // that were spent on them
}

const defaultIntervalSteps = 20

// enclose returns bounds of the spectrum of a symmetric map from a few steps
// of Lanczos on a random vector: the extreme Ritz values, moved outwards by the
// whole length of the residual vector (Zhou and Li 2011). The bounds hold unless
// the random vector has next to nothing of an extreme eigenvector. Cost: a sweep
// with one column for each step.
func enclose(ctx context.Context, a sparse.Applier[float64], steps int, seed uint64, workers int) (*bounds, error) {
	n, _ := a.Dims()
	if n == 0 {
		return &bounds{}, nil
	}
	r := newRecurrence(a, 1, workers)
	err := r.start(ctx, seed, func(rng *rand.Rand, row []float64) { row[0] = rng.NormFloat64() })
	for err == nil && r.steps < steps && !r.ended() {
		err = r.step(ctx)
	}
	if err != nil {
		return nil, err
	}
	column := &r.columns[0]
	values, _ := column.EigenRows()
	b := &bounds{lo: math.Inf(1), hi: math.Inf(-1), sweeps: r.steps}
	for _, v := range values {
		b.lo, b.hi = min(b.lo, v), max(b.hi, v)
	}
	b.norm = max(math.Abs(b.lo), math.Abs(b.hi))
	slack := column.last + 16*epsilon*b.norm
	b.lo -= slack
	b.hi += slack
	return b, nil
}

// density returns about how many eigenvalues there are around σ for each unit of
// length, and the sweeps that took: of a random vector Lanczos makes a quadrature
// rule of the spectrum (Lin, Saad and Yang 2016), and the two nodes next to σ tell
// their distance and the share of eigenvalues that lie between.
func (w *solve) density(ctx context.Context, near float64) (density float64, sweeps int, err error) {
	r := newRecurrence(w.p.A, width, w.s.Workers)
	err = r.start(ctx, w.s.RNGSeed, func(rng *rand.Rand, row []float64) {
		bits := rng.Uint64()
		for j := range row {
			row[j] = float64(int(bits>>j&1)*2 - 1)
		}
	})
	for err == nil && r.steps < densitySteps && !r.ended() {
		err = r.step(ctx)
	}
	if err != nil {
		return 0, 0, err
	}
	for j := range r.columns {
		density += r.columns[j].densityAt(near) * float64(w.n) / width
	}
	return density, r.steps, nil
}

// densityAt returns the share of the spectrum around a number for each unit of
// length: half the weights of the two nodes around it over their distance. It is 0
// beyond the nodes, and where these are the eigenvalues themselves.
func (c *chain) densityAt(near float64) float64 {
	if c.done {
		return 0
	}
	nodes, first := c.EigenRows(0)
	var below, above int
	lo, hi := math.Inf(-1), math.Inf(1)
	for i, v := range nodes {
		if v <= near && v > lo {
			below, lo = i, v
		}
		if v > near && v < hi {
			above, hi = i, v
		}
	}
	return (first[below]*first[below] + first[above]*first[above]) / 2 / (hi - lo)
}
