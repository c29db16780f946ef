package lanczos

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/heatwalk/heatwalk/sparse"
)

// Bounds enclose a spectrum.
type Bounds struct {
	Lo, Hi float64
	Norm   float64 // a lower bound of ‖A‖, 0 where none is known
	Sweeps int     // that were spent on them
}

// IntervalSettings are the settings of [Interval]. Nil means all defaults.
type IntervalSettings struct {
	Steps   int // of Lanczos; 0 means 20
	RNGSeed uint64
	Workers int // goroutines, 0: one for each processor; never changes a result
}

const defaultIntervalSteps = 20

// Interval returns bounds of the spectrum of a symmetric map from a few steps
// of Lanczos on a random vector: the extreme Ritz values, moved outwards by the
// whole length of the residual vector (Zhou and Li 2011). The bounds hold unless
// the random vector has next to nothing of an extreme eigenvector: with
// certainty only Gershgorin's and Anderson and Morley's bounds hold, which a
// caller who knows the entries should prefer. Cost: a sweep with one column for
// each step.
func Interval(ctx context.Context, a sparse.Applier[float64], s *IntervalSettings) (*Bounds, error) {
	n, cols := a.Dims()
	if n != cols {
		panic(badShape)
	}
	if n == 0 {
		return &Bounds{}, nil
	}
	var c IntervalSettings
	if s != nil {
		c = *s
	}
	if c.Steps <= 0 {
		c.Steps = defaultIntervalSteps
	}
	r := newRecurrence(a, 1, c.Workers)
	err := r.rows(ctx, 0, func(i int, _ []float64) {
		if i%segment == 0 {
			rng := rand.New(rand.NewPCG(c.RNGSeed, uint64(i)))
			for at := i; at < min(n, i+segment); at++ {
				r.u.Row(at)[0] = rng.NormFloat64()
			}
		}
	})
	if err == nil {
		err = r.begin(ctx)
	}
	for err == nil && r.steps < c.Steps && !r.ended() {
		err = r.step(ctx)
	}
	if err != nil {
		return nil, err
	}
	column := &r.columns[0]
	values, _ := column.EigenRows()
	b := &Bounds{Lo: math.Inf(1), Hi: math.Inf(-1), Sweeps: r.sweeps}
	for _, v := range values {
		b.Lo, b.Hi = min(b.Lo, v), max(b.Hi, v)
	}
	b.Norm = max(math.Abs(b.Lo), math.Abs(b.Hi))
	slack := column.last + 16*epsilon*b.Norm
	b.Lo -= slack
	b.Hi += slack
	return b, nil
}
