package iterative

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"

	"github.com/heatwalk/heatwalk/sparse"
)

// System is a symmetric positive semidefinite map of a graph,
//
//	M = diag(1/s)·(Edge·L + diag(Ground))·diag(1/s)
//
// The iteration runs on the middle, so that a normalised map costs no more per
// entry than A, and the factor of the middle preconditions it. The methods of
// [Graph] make the systems of kernels on nodes. A System keeps its factor and
// buffers between solves; it must not be used by two goroutines at a time.
type System struct {
	Graph  *Graph
	Edge   float64    // > 0
	Ground []float64  // ≥ 0; nil means zeros
	Scale  []float64  // s > 0; nil means ones
	Null   *NullSpace // of M; nil: M is definite

	// Least is a lower bound of M's eigenvalues outside the null space; 0
	// means that none is known.
	Least float64

	// Memory is the largest number of bytes that making and keeping the factor
	// may take, see [CholeskyBytes]; 0 means no limit. Where it does not fit,
	// Jacobi stays.
	Memory int64

	cg      CG
	factor  *Cholesky
	jacobi  *Jacobi
	refused error
	probed  bool
	trend   trend
}

// trend is what the probe found: logarithms of a relative residual.
type trend struct{ last, perStep float64 }

// SystemResult is a [Result] with what a [System] adds to it.
type SystemResult struct {
	Result

	// ErrorBound is never below ‖X − M⁺B‖, for each column: the residual and
	// the rounding errors of computing it, over Least. Nil if Least is 0; the
	// only statement about the error is then the estimate Energy.
	ErrorBound []float64

	// Predicted is the number of Jacobi steps that the probe predicted; 0
	// means that the spectrum's bounds already promised few enough.
	Predicted int

	// SampledCholesky says that the factor took part; Fill is its fill.
	SampledCholesky bool
	Fill            float64

	// Refused says that the factor was wanted and did not fit Memory.
	Refused bool
}

const (
	// A step with the factor costs about three sweeps, and about fifteen are
	// enough: the factor pays when Jacobi needs more than this.
	jacobiSteps = 60

	// The same where the null space is not empty: such systems only get harder
	// when the probe has been too friendly.
	jacobiStepsSingular = 45

	probeSteps = 20

	// factorStepsPerDigit bounds the steps with the factor by default.
	factorStepsPerDigit = 10

	rngSeed = 1
)

// SolveTo stores in x the solution of M·X = B, or M⁺·B where M is singular. x
// must not be b. Settings and errors are those of [CG], but that by default
// the factor is given ten steps for each digit of Tolerance.
//
// It begins with Jacobi unless more than 60 steps must be expected (45 for a
// singular M): by the bounds of the spectrum or, where these are too wide, by
// the last of twenty steps on one random column, which is done once for a
// system. Columns that Jacobi leaves after twice as many steps go on with the
// factor. The choice depends on the system and the tolerance and not on B, so
// the bits of a column do not depend on the other columns.
func (s *System) SolveTo(ctx context.Context, x, b *sparse.Block[float64], settings *Settings) (*SystemResult, error) {
	if err := settings.Validate(); err != nil {
		return nil, err
	}
	set := settings.withDefaults()
	given := settings != nil && settings.MaxIterations > 0
	factorSteps := factorStepsPerDigit * max(1, int(math.Ceil(-math.Log10(set.Tolerance))))

	s.prepare()
	out := &SystemResult{}
	most := s.patience()
	if s.stepsBySpectrum(set.Tolerance) > float64(most) {
		if err := s.probe(ctx); err != nil {
			return nil, err
		}
		out.Predicted = s.trend.predict(set.Tolerance)
	}
	if out.Predicted > most {
		if err := s.useFactor(ctx, out); err != nil {
			return nil, err
		}
		if out.SampledCholesky && !given {
			set.MaxIterations = factorSteps
		}
	}
	s.cg.review = func(ctx context.Context, step int, _ []column) (restart bool, err error) {
		if step != 2*most || out.SampledCholesky || out.Refused {
			return false, nil
		}
		if err := s.useFactor(ctx, out); err != nil {
			return false, err
		}
		if out.SampledCholesky && !given {
			s.cg.run.settings.MaxIterations = step + factorSteps
		}
		return out.SampledCholesky, nil
	}
	r, err := s.cg.SolveTo(ctx, x, b, &set)
	if r == nil {
		return nil, err
	}
	out.Result = *r
	s.bound(out, x, b)
	return out, err
}

// prepare makes the recurrence begin with Jacobi.
func (s *System) prepare() {
	c := &s.cg
	if c.A == nil {
		c.A = &sparse.Operator[float64]{A: s.Graph.A, Scale: -s.Edge, Diag: s.diagonal(false), Workers: s.Graph.Workers}
		c.Scale, c.Null, c.Workers = s.Scale, s.Null, s.Graph.Workers
		s.jacobi = NewJacobi(s.diagonal(true))
	}
	c.Precond = s.jacobi
}

// diagonal returns Edge·d + Ground; without loops it is the diagonal of
// Edge·L + diag(Ground), else what the operator adds to −Edge·A.
func (s *System) diagonal(withoutLoops bool) []float64 {
	diag := make([]float64, len(s.Graph.Degrees))
	for i, d := range s.Graph.Degrees {
		if withoutLoops && s.Graph.Loops != nil {
			d -= s.Graph.Loops[i]
		}
		diag[i] = float64(s.Edge * d)
		if s.Ground != nil {
			diag[i] += s.Ground[i]
		}
	}
	return diag
}

// patience is the number of Jacobi steps from which the factor pays.
func (s *System) patience() int {
	if s.Null != nil {
		return jacobiStepsSingular
	}
	return jacobiSteps
}

// stepsBySpectrum bounds the number of Jacobi steps: with the diagonal split
// off, the eigenvalues lie within 1 ± max a·d/(a·d + g).
func (s *System) stepsBySpectrum(tolerance float64) float64 {
	var radius float64
	for i, d := range s.Graph.Degrees {
		if d > 0 {
			var g float64
			if s.Ground != nil {
				g = s.Ground[i]
			}
			radius = max(radius, s.Edge*d/(s.Edge*d+g))
		}
	}
	condition := (1 + radius) / (1 - radius)
	return math.Sqrt(condition) / 2 * math.Log(2/tolerance)
}

// probe finds out how fast Jacobi converges on a random column.
func (s *System) probe(ctx context.Context) error {
	if s.probed {
		return nil
	}
	n := len(s.Graph.Degrees)
	rng := rand.New(rand.NewPCG(rngSeed, 0))
	x, b := sparse.NewBlock[float64](n, 1), sparse.NewBlock[float64](n, 1)
	for i := range n {
		b.Row(i)[0] = rng.NormFloat64()
	}
	c := CG{A: s.cg.A, Scale: s.Scale, Null: s.Null, Precond: s.jacobi, Workers: s.Graph.Workers}
	r, err := c.SolveTo(ctx, x, b, &Settings{Tolerance: 1e-15, MaxIterations: probeSteps, Recurrence: true})
	if r == nil {
		return err
	}
	last := len(r.History) - 1
	from := last / 2
	s.trend.last = math.Log(r.History[last])
	s.trend.perStep = (s.trend.last - math.Log(r.History[from])) / float64(max(1, last-from))
	s.probed = true
	return nil
}

// predict returns the number of steps to a relative residual.
func (t trend) predict(tolerance float64) int {
	left := math.Log(tolerance) - t.last
	switch {
	case left >= 0:
		return probeSteps
	case !(t.perStep < 0):
		return math.MaxInt
	}
	return probeSteps + int(min(left/t.perStep, 1e9))
}

// useFactor makes the factor the preconditioner, if it fits.
func (s *System) useFactor(ctx context.Context, out *SystemResult) error {
	f, err := s.Factor(ctx)
	switch {
	case errors.Is(err, ErrMemory):
		out.Refused = true
		return nil
	case err != nil:
		return err
	}
	s.cg.Precond = f
	out.SampledCholesky, out.Fill = true, f.Fill()
	return nil
}

// Factor returns the sampled Cholesky factor of Edge·L + diag(Ground), which
// is made once. The errors are those of [NewCholesky].
func (s *System) Factor(ctx context.Context) (*Cholesky, error) {
	if s.factor == nil && s.refused == nil {
		f, err := NewCholesky(ctx, s.Graph.A, s.Edge, s.Ground, &CholeskySettings{
			RNGSeed: rngSeed, Memory: s.Memory, Workers: s.Graph.Workers,
		})
		switch {
		case errors.Is(err, ErrMemory):
			s.refused = err
		case err != nil:
			return nil, err
		}
		s.factor = f
	}
	return s.factor, s.refused
}

// bound fills ErrorBound. Computing a residual errs by less than
// 10ε(‖B‖ + ‖M‖·‖X‖), with the largest sum of a row of |M|, or of what is
// similar to it, for ‖M‖.
func (s *System) bound(out *SystemResult, x, b *sparse.Block[float64]) {
	if s.Least == 0 {
		return
	}
	var norm float64
	for i, d := range s.Graph.Degrees {
		sum := 2 * s.Edge * d
		if s.Ground != nil {
			sum += s.Ground[i]
		}
		if s.Scale != nil {
			sum /= s.Scale[i] * s.Scale[i]
		}
		norm = max(norm, sum)
	}
	const rounding = 10 * 0x1p-52
	out.ErrorBound = make([]float64, b.Cols)
	sizeX, sizeB := columnNorms(x), columnNorms(b)
	for j, r := range out.Residual {
		out.ErrorBound[j] = (r + rounding*(sizeB[j]+norm*sizeX[j])) / s.Least
	}
}

// columnNorms returns the norms of the columns of b.
func columnNorms(b *sparse.Block[float64]) []float64 {
	norm := make([]float64, b.Cols)
	for i := range b.Rows {
		for j, v := range b.Row(i) {
			norm[j] += float64(v * v)
		}
	}
	for j, v := range norm {
		norm[j] = math.Sqrt(v)
	}
	return norm
}
