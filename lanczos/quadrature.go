package lanczos

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/heatwalk/heatwalk/internal/symmetric"
	"github.com/heatwalk/heatwalk/sparse"
)

// TraceSettings are the settings of [Trace] and [LogDet]. Nil means all
// defaults.
type TraceSettings struct {
	Probes int // random vectors, one column each; 0 means 16

	// Tolerance is the width of the bracket of the quadrature, the mean over the
	// probes, relative to the value; 0 means 1e-4; it must be less than 1. What
	// chance adds is not bounded by it, see [Estimate.StdErr].
	Tolerance float64

	MaxSteps int // of Lanczos; 0 means 500

	// Bounds enclose the spectrum, on the complement of the known vectors; nil
	// means those of [Interval].
	Bounds *Bounds

	// Known, if not nil, are eigenvectors whose part is exact: the probes are
	// orthogonal to them.
	Known *Known

	RNGSeed uint64
	Workers int // goroutines, 0: one for each processor; never changes a result
}

const (
	defaultProbes         = 16
	defaultTraceTolerance = 1e-4
	defaultTraceSteps     = 500
	firstCheck            = 4 // steps before the bracket is looked at, and
	checkEvery            = 3 // steps between looks, a tenth of those done where that is more
)

// Validate reports every setting that is out of range.
func (s *TraceSettings) Validate() error {
	if s == nil {
		return nil
	}
	var all []error
	if s.Probes < 0 {
		all = append(all, fmt.Errorf("lanczos: %d probes; their number must be positive, or 0 for %d", s.Probes, defaultProbes))
	}
	if !(s.Tolerance >= 0 && s.Tolerance < 1) {
		all = append(all, fmt.Errorf("lanczos: tolerance %g; it must be in (0, 1), or 0 for %g", s.Tolerance, defaultTraceTolerance))
	}
	if s.MaxSteps < 0 {
		all = append(all, fmt.Errorf("lanczos: step limit %d; it must be positive, or 0 for %d", s.MaxSteps, defaultTraceSteps))
	}
	if s.Bounds != nil && !(s.Bounds.Lo <= s.Bounds.Hi) {
		all = append(all, fmt.Errorf("lanczos: bounds %g to %g of the spectrum; the lower one must not be the larger", s.Bounds.Lo, s.Bounds.Hi))
	}
	return errors.Join(all...)
}

// Estimate is the estimate of a trace.
type Estimate struct {
	Value float64 // the mean over the probes, and the known part

	// StdErr is the standard error of Value, from how far the probes lie
	// apart: the truth is within two of it in about 95 % of cases. With one
	// probe it is not a number.
	StdErr float64

	// Lower and Upper are the mean bracket of the quadrature, Gauss against
	// Gauss–Radau: what Value would be with exact quadrature lies between them,
	// if the derivatives of the function each keep one sign on the spectrum.
	Lower, Upper float64

	Probes, Steps, Sweeps int
}

// Trace estimates tr f(A) for each function by stochastic Lanczos quadrature
// (Ubaru, Chen and Saad 2017): the mean of zᵀf(A)z over vectors z of random
// signs, all in one block, by the Gauss rule that Lanczos gives for z. The
// number of steps follows from the bracket of the quadrature; too few would
// silently give too small a value. Cost: a sweep with all probes for each step.
//
// On [ErrIterationLimit] the estimates are those of the last step.
func Trace(ctx context.Context, a sparse.Applier[float64], fs []func(x float64) float64, s *TraceSettings) ([]Estimate, error) {
	q, err := newQuadrature(a, fs, s)
	if err != nil {
		return nil, err
	}
	return q.run(ctx)
}

// LogDet estimates log det A of a positive definite map. With a scale p > 0,
// one number for each row, it is Σ log pᵢ + log det P^-½AP^-½, of which the
// first part is exact: with a scale near the diagonal of A (1 + α·dᵢ for I + αL)
// hubs are gone from the second, and a few steps do. The bounds in the settings
// are those of P^-½AP^-½; the lower one must be positive.
func LogDet(ctx context.Context, a sparse.Applier[float64], scale []float64, s *TraceSettings) (Estimate, error) {
	n, _ := a.Dims()
	var exact float64
	if scale != nil {
		if len(scale) != n {
			panic(badShape)
		}
		root := make([]float64, n)
		for i, p := range scale {
			if !(p > 0) {
				return Estimate{}, fmt.Errorf("lanczos: scale %g in row %d; it must be positive", p, i)
			}
			exact += math.Log(p)
			root[i] = 1 / math.Sqrt(p)
		}
		workers := 0
		if s != nil {
			workers = s.Workers
		}
		a = &congruent{a: a, root: root, e: newEngine(n, workers)}
	}
	q, err := newQuadrature(a, []func(float64) float64{math.Log}, s)
	if err != nil {
		return Estimate{}, err
	}
	if n > 0 {
		if err := q.enclose(ctx); err != nil {
			return Estimate{}, err
		}
		if !(q.bounds.Lo > 0) {
			return Estimate{}, fmt.Errorf("lanczos: the spectrum is only known to lie above %g; the logarithm of a determinant needs a positive lower bound", q.bounds.Lo)
		}
	}
	out, err := q.run(ctx)
	if out == nil {
		return Estimate{}, err
	}
	e := out[0]
	e.Value += exact
	e.Lower += exact
	e.Upper += exact
	return e, err
}

// congruent is the map root·A·root, with a diagonal root.
type congruent struct {
	a    sparse.Applier[float64]
	root []float64
	e    *engine
	x    *sparse.Block[float64]
}

func (c *congruent) Dims() (rows, cols int) { return c.a.Dims() }

// StepTo implements [sparse.Applier] for plain products.
func (c *congruent) StepTo(ctx context.Context, dst, x *sparse.Block[float64], s sparse.Step[float64]) error {
	if c.x == nil || c.x.Cols != x.Cols {
		c.x = sparse.NewBlock[float64](x.Rows, x.Cols)
	}
	if err := c.scaleTo(ctx, c.x, x); err != nil {
		return err
	}
	if err := c.a.StepTo(ctx, dst, c.x, sparse.Step[float64]{Alpha: s.Alpha}); err != nil {
		return err
	}
	return c.scaleTo(ctx, dst, dst)
}

// scaleTo stores root·x in dst, which may be x.
func (c *congruent) scaleTo(ctx context.Context, dst, x *sparse.Block[float64]) error {
	return c.e.Each(ctx, 0, func(_, chunk int, _ []float64) {
		for i := chunk * segment; i < min(len(c.root), (chunk+1)*segment); i++ {
			to := dst.Row(i)
			for j, v := range x.Row(i) {
				to[j] = c.root[i] * v
			}
		}
	})
}

// quadrature is one call under way.
type quadrature struct {
	s      TraceSettings
	fs     []func(x float64) float64
	r      *recurrence
	known  projection
	bounds *Bounds
}

func newQuadrature(a sparse.Applier[float64], fs []func(x float64) float64, s *TraceSettings) (*quadrature, error) {
	n, cols := a.Dims()
	if n != cols || s != nil && s.Known != nil && len(s.Known.unit) != n {
		panic(badShape)
	}
	if err := s.Validate(); err != nil {
		return nil, err
	}
	q := &quadrature{fs: fs}
	if s != nil {
		q.s = *s
	}
	if q.s.Probes == 0 {
		q.s.Probes = defaultProbes
	}
	if q.s.Tolerance == 0 {
		q.s.Tolerance = defaultTraceTolerance
	}
	if q.s.MaxSteps == 0 {
		q.s.MaxSteps = defaultTraceSteps
	}
	q.r = newRecurrence(a, q.s.Probes, q.s.Workers)
	q.known = projection{Known: q.s.Known, workers: q.r.e.Workers}
	q.bounds = q.s.Bounds
	return q, nil
}

// enclose finds the bounds of the spectrum, where none were given.
func (q *quadrature) enclose(ctx context.Context) error {
	if q.bounds != nil {
		return nil
	}
	var err error
	q.bounds, err = Interval(ctx, q.r.a, &IntervalSettings{RNGSeed: q.s.RNGSeed, Workers: q.s.Workers})
	return err
}

func (q *quadrature) run(ctx context.Context) ([]Estimate, error) {
	if err := q.enclose(ctx); err != nil {
		return nil, err
	}
	if err := q.start(ctx); err != nil {
		return nil, err
	}
	out := make([]Estimate, len(q.fs))
	for check := firstCheck; ; {
		if err := q.r.step(ctx); err != nil {
			return nil, err
		}
		last := q.r.ended() || q.r.steps >= q.s.MaxSteps
		if q.r.steps < check && !last {
			continue
		}
		fine, width := q.evaluate(out)
		switch {
		case fine || q.r.ended():
			return out, nil
		case last:
			return out, fmt.Errorf("%w: the quadrature of %d steps is known to %.3g of the value", ErrIterationLimit, q.r.steps, width)
		}
		check = q.r.steps + max(checkEvery, q.r.steps/10)
	}
}

// start draws the probes.
func (q *quadrature) start(ctx context.Context) error {
	n := q.r.e.rows
	err := q.r.rows(ctx, 0, func(i int, _ []float64) {
		if i%segment != 0 {
			return
		}
		rng := rand.New(rand.NewPCG(q.s.RNGSeed, uint64(i)))
		for at := i; at < min(n, i+segment); at++ {
			row := q.r.u.Row(at)
			var bits uint64
			for j := range row {
				if j%64 == 0 {
					bits = rng.Uint64()
				}
				row[j] = float64(int(bits>>(j%64)&1)*2 - 1)
			}
		}
	})
	if err == nil {
		err = q.known.remove(ctx, q.r.u)
	}
	if err == nil {
		err = q.r.begin(ctx)
	}
	return err
}

// evaluate stores the estimates and reports whether all brackets are narrow,
// and the width of the widest relative to its value.
func (q *quadrature) evaluate(out []Estimate) (fine bool, widest float64) {
	probes := len(q.r.columns)
	value := make([]float64, probes)
	for i, f := range q.fs {
		var e Estimate
		var sum, width float64
		for j := range q.r.columns {
			c := &q.r.columns[j]
			lower, upper := c.bracket(f, q.bounds)
			value[j] = (lower + upper) / 2
			sum += value[j]
			width += upper - lower
		}
		exact := 0.0
		if q.s.Known != nil {
			exact = float64(q.s.Known.Count()) * f(q.s.Known.value)
		}
		mean, half := sum/float64(probes), width/float64(probes)/2
		var squares float64
		for _, v := range value {
			squares += (v - mean) * (v - mean)
		}
		e.Value = exact + mean
		e.StdErr = math.Sqrt(squares / float64(probes-1) / float64(probes))
		e.Lower, e.Upper = e.Value-half, e.Value+half
		e.Probes, e.Steps, e.Sweeps = probes, q.r.steps, q.r.sweeps
		if q.s.Bounds == nil {
			e.Sweeps += q.bounds.Sweeps
		}
		out[i] = e
		widest = max(widest, 2*half/math.Abs(e.Value))
	}
	return !(widest > q.s.Tolerance), widest
}

// bracket returns bounds of zᵀf(A)z: the rule of Gauss, and those of Gauss and
// Radau with a node at either end of the spectrum (Golub and Meurant 1994).
func (c *chain) bracket(f func(float64) float64, spectrum *Bounds) (lower, upper float64) {
	if c.norm == 0 {
		return 0, 0
	}
	gauss := c.norm * c.norm * c.Quadrature(f)
	lower, upper = gauss, gauss
	if c.last == 0 {
		return lower, upper
	}
	for _, end := range [...]float64{spectrum.Lo, spectrum.Hi} {
		radau, ok := c.radau(end)
		if !ok {
			continue
		}
		v := c.norm * c.norm * radau.Quadrature(f)
		lower, upper = min(lower, v), max(upper, v)
	}
	return lower, upper
}

// radau returns T with one more row, such that end is an eigenvalue. It reports
// whether end lies outside of the eigenvalues of T.
func (c *chain) radau(end float64) (symmetric.Tridiagonal, bool) {
	// The last pivot of T − end.
	pivot := c.Diag[0] - end
	sign := math.Signbit(pivot)
	for i := 1; i < len(c.Diag) && pivot != 0; i++ {
		pivot = c.Diag[i] - end - c.Off[i-1]*c.Off[i-1]/pivot
		if math.Signbit(pivot) != sign {
			return symmetric.Tridiagonal{}, false
		}
	}
	if pivot == 0 {
		return symmetric.Tridiagonal{}, false
	}
	m := len(c.Diag)
	return symmetric.Tridiagonal{
		Diag: append(c.Diag[:m:m], end+c.last*c.last/pivot),
		Off:  append(c.Off[:m-1:m-1], c.last),
	}, true
}
