package kernel

import (
	"context"
	"errors"
	"math"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/sparse"
)

// perron bounds the spectral radius ρ of A ≥ 0 from both sides, also where many
// eigenvalues are next to it, as on a grid, and Lanczos takes long to tell them
// from each other. It is Noda's iteration (1971): for σ > ρ and b > 0 the solution
// of
//
//	(I − A/σ)·y = b
//
// is positive, and so is what conjugate gradients have made of it if they have
// come near enough. By Collatz and Wielandt's theorem and Rayleigh's
//
//	σ − σ·yᵀq/yᵀy ≤ ρ ≤ σ − σ·min_i q_i/y_i,  q = (I − A/σ)·y
//
// The next b is y, and the next σ about the upper bound: each round leaves some
// hundredths of the distance from ρ.
type perron struct {
	op           *sparse.Operator[float64]
	b, y, r, p   *sparse.Block[float64] // of one column
	q            *sparse.Block[float64]
	partial      []float64
	lower, upper float64
	products     int
}

const (
	perronRounds   = 12
	perronProducts = 20000 // in all
	perronExact    = 1e-10 // relative distance of the bounds

	// perronRest is what a solve leaves of each element of b, perronFloor the least
	// of these, the largest being 1: an eigenvector may all but vanish somewhere.
	perronRest  = 0.01
	perronFloor = 1e-5

	sumRows = 4096 // whose products are added before the sums of chunks are
)

// errPerron says that the bounds have not met.
var errPerron = errors.New("kernel: the largest eigenvalue is not told from those next to it")

// radiusBetween returns an upper bound on ρ that is next to a lower one, given two
// that are not.
func radiusBetween(ctx context.Context, g *iterative.Graph, lower, upper float64) (float64, error) {
	if g.A.NNZ() == 0 {
		return 0, nil
	}
	n := len(g.Degrees)
	w := &perron{
		op:      &sparse.Operator[float64]{A: g.A, Workers: g.Workers},
		partial: make([]float64, (n+sumRows-1)/sumRows), lower: lower, upper: upper,
	}
	for _, b := range []**sparse.Block[float64]{&w.b, &w.y, &w.r, &w.p, &w.q} {
		*b = sparse.NewBlock[float64](n, 1)
	}
	for i := range w.b.Data {
		w.b.Data[i] = 1
	}
	for range perronRounds {
		if err := w.round(ctx); err != nil {
			return 0, err
		}
		if w.upper-w.lower <= perronExact*w.upper {
			return w.upper, nil
		}
	}
	return 0, errPerron
}

// round solves for y, and makes bounds and the next b of it.
func (w *perron) round(ctx context.Context) error {
	// A little above, or the solve would have no end.
	sigma := w.upper + (w.upper-w.lower)/16 + perronExact/16*w.upper
	if err := w.solve(ctx, sigma); err != nil {
		return err
	}
	b, y, q := w.b.Data, w.y.Data, w.q.Data
	if err := w.product(ctx, w.q, w.y, sigma); err != nil {
		return err
	}
	least, most := math.Inf(1), 0.0
	for i, v := range y {
		least, most = min(least, q[i]/v), max(most, v)
	}
	if !(least > 0) {
		return errPerron
	}
	square, err := w.dot(ctx, y, y)
	if err != nil {
		return err
	}
	energy, err := w.dot(ctx, y, q)
	if err != nil {
		return err
	}
	const rounding = 64 * epsilon
	w.upper = min(w.upper, sigma*(1-least+rounding))
	w.lower = max(w.lower, sigma*(1-energy/square-rounding))
	for i, v := range y {
		b[i] = max(v/most, perronFloor)
	}
	return nil
}

// solve is the method of conjugate gradients (Hestenes and Stiefel 1952).
func (w *perron) solve(ctx context.Context, sigma float64) error {
	b, y, r, p, q := w.b.Data, w.y.Data, w.r.Data, w.p.Data, w.q.Data
	guess := sigma / (sigma - w.lower)
	for i, v := range b {
		y[i] = guess * v
	}
	if err := w.product(ctx, w.q, w.y, sigma); err != nil {
		return err
	}
	for i, v := range q {
		r[i] = b[i] - v
	}
	copy(p, r)
	square, err := w.dot(ctx, r, r)
	for err == nil && !w.solved() {
		if w.products >= perronProducts {
			return errPerron
		}
		if err = w.product(ctx, w.q, w.p, sigma); err != nil {
			break
		}
		var curve float64
		if curve, err = w.dot(ctx, p, q); err != nil {
			break
		}
		if !(curve > 0) {
			return errPerron // rounding has made σ too small
		}
		step, before := square/curve, square
		square, err = w.sum(ctx, func(lo, hi int) (sum float64) {
			y, r, p, q := y[lo:hi], r[lo:hi], p[lo:hi], q[lo:hi]
			for i, v := range p {
				y[i] += float64(step * v)
				r[i] -= float64(step * q[i])
				sum += float64(r[i] * r[i])
			}
			return sum
		})
		if err != nil {
			break
		}
		_, err = w.sum(ctx, func(lo, hi int) float64 {
			r, p := r[lo:hi], p[lo:hi]
			for i, v := range r {
				p[i] = v + float64(square/before*p[i])
			}
			return 0
		})
	}
	return err
}

// solved reports whether y is positive, and little is left of every residual.
func (w *perron) solved() bool {
	for i, r := range w.r.Data {
		if !(math.Abs(r) <= perronRest*w.b.Data[i]) || !(w.y.Data[i] > 0) {
			return false
		}
	}
	return true
}

// product stores (I − A/σ)·x in dst.
func (w *perron) product(ctx context.Context, dst, x *sparse.Block[float64], sigma float64) error {
	w.products++
	return w.op.StepTo(ctx, dst, x, sparse.Step[float64]{Alpha: -1 / sigma, Beta: 1})
}

func (w *perron) dot(ctx context.Context, x, y []float64) (float64, error) {
	return w.sum(ctx, func(lo, hi int) (sum float64) {
		y := y[lo:hi]
		for i, v := range x[lo:hi] {
			sum += float64(v * y[i])
		}
		return sum
	})
}

// sum adds up what f returns for all chunks of rows.
func (w *perron) sum(ctx context.Context, f func(lo, hi int) float64) (total float64, err error) {
	err = sched.Run(ctx, w.op.Workers, len(w.partial), func(_, chunk int) error {
		w.partial[chunk] = f(chunk*sumRows, min((chunk+1)*sumRows, len(w.b.Data)))
		return nil
	})
	for _, v := range w.partial {
		total += v
	}
	return total, err
}
