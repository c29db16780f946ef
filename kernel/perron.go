package kernel

import (
	"context"
	"errors"
	"math"
	"slices"

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
	op           *sparse.Operator[float64] // A
	cg           iterative.CG
	b, y, q      *sparse.Block[float64] // of one column
	lower, upper float64
	ratio        float64 // what no (Ay)_i/y_i exceeds
	products     int
}

// shifted is the map I − A/σ.
type shifted struct {
	*sparse.Operator[float64] // A
	sigma                     float64
}

// StepTo implements [sparse.Applier].
func (m *shifted) StepTo(ctx context.Context, dst, x *sparse.Block[float64], s sparse.Step[float64]) error {
	s.Alpha, s.Beta = -s.Alpha/m.sigma, s.Beta+s.Alpha
	return m.Operator.StepTo(ctx, dst, x, s)
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
	w := newPerron(g, lower, upper)
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

// excessive returns y > 0 with α·Ay < y in every row, given an upper bound on ρ and
// α·ρ < 1: that of the first round whose upper bound is below 1/α.
func excessive(ctx context.Context, g *iterative.Graph, alpha, upper float64) ([]float64, error) {
	w := newPerron(g, 0, upper)
	for range perronRounds {
		if err := w.round(ctx); err != nil {
			return nil, err
		}
		if alpha*w.ratio < 1 {
			scaleBy(w.y, 1/slices.Max(w.y.Data))
			return w.y.Data, nil
		}
	}
	return nil, errPerron
}

func newPerron(g *iterative.Graph, lower, upper float64) *perron {
	n := len(g.Degrees)
	w := &perron{
		op: &sparse.Operator[float64]{A: g.A, Workers: g.Workers},
		cg: iterative.CG{Workers: g.Workers}, lower: lower, upper: upper,
	}
	for _, b := range []**sparse.Block[float64]{&w.b, &w.y, &w.q} {
		*b = sparse.NewBlock[float64](n, 1)
	}
	for i := range n {
		w.b.Data[i] = 1
	}
	return w
}

// round solves for y, and makes bounds and the next b of it.
func (w *perron) round(ctx context.Context) error {
	// A little above, or the solve would have no end.
	sigma := w.upper + (w.upper-w.lower)/16 + perronExact/16*w.upper
	w.cg.A = &shifted{w.op, sigma}
	guess := sigma / (sigma - w.lower)
	for i, v := range w.b.Data {
		w.y.Data[i] = guess * v
	}
	result, err := w.cg.SolveTo(ctx, w.y, w.b, &iterative.Settings{
		Start: true, Recurrence: true, Tolerance: epsilon, Enough: w.solved,
		MaxIterations: max(1, perronProducts-w.products),
	})
	switch {
	case errors.Is(err, iterative.ErrIterationLimit), errors.Is(err, iterative.ErrIndefinite): // rounding has made σ too small
		return errPerron
	case err != nil:
		return err
	}
	w.products += result.Sweeps + 1
	if err := w.cg.A.StepTo(ctx, w.q, w.y, sparse.Step[float64]{Alpha: 1}); err != nil {
		return err
	}
	b, y, q := w.b.Data, w.y.Data, w.q.Data
	least, most := math.Inf(1), 0.0
	var square, energy float64
	for lo := 0; lo < len(y); lo += sumRows {
		var squares, energies float64
		for i := lo; i < min(lo+sumRows, len(y)); i++ {
			v := y[i]
			least, most = min(least, q[i]/v), max(most, v)
			squares += float64(v * v)
			energies += float64(v * q[i])
		}
		square, energy = square+squares, energy+energies
	}
	if !(least > 0) {
		return errPerron
	}
	const rounding = 64 * epsilon
	w.ratio = sigma * (1 - least + rounding)
	w.upper = min(w.upper, w.ratio)
	w.lower = max(w.lower, sigma*(1-energy/square-rounding))
	for i, v := range y {
		b[i] = max(v/most, perronFloor)
	}
	return nil
}

// solved reports whether y is positive, and little is left of every residual.
func (w *perron) solved(y, residual []float64) bool {
	for i, r := range residual {
		if !(math.Abs(r) <= perronRest*w.b.Data[i]) || !(y[i] > 0) {
			return false
		}
	}
	return true
}
