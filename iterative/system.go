package iterative

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// System is a symmetric positive semidefinite map of a graph,
//
//	M = diag(1/s)·(Edge·L + diag(Ground))·diag(1/s)
//
// The iteration runs on the middle factor, so that a normalized map costs no more per entry than A.
// [ShiftedLaplacian], [VonNeumann] and others make the systems of kernels on nodes. A System keeps
// its Cholesky factor and its buffers between solves. It must not be used concurrently.
type System struct {
	Graph  *graph.Graph
	Edge   float64          // > 0
	Ground []float64        // ≥ 0; nil means zeros
	Scale  []float64        // s > 0; nil means ones
	Null   *blocks.Disjoint // null space of M; nil: M is definite

	// Least is a lower bound of M's eigenvalues outside the null space; 0 means that no bound is known.
	Least float64

	// Memory is the largest number of bytes that making and keeping the factor may take, in
	// addition to the blocks of a solve; 0 means no limit. A solve returns a [*budget.Error] if it
	// needs the factor and Memory is too small. Results do not depend on Memory.
	Memory int64

	// Sampled forbids a complete factor, which takes too much memory for a rough solve.
	Sampled bool

	// easy is spanned by eigenvectors s of M, one for each component, with the eigenvalues Ground/s². They slow the iteration
	// down the most. If quotients is set, s only approximates eigenvectors, and quotients/s² are their Rayleigh quotients.
	easy      *blocks.Disjoint
	quotients []float64

	// free is 1 in the rows that take part; nil means ones. In the other rows it is 0, M is the identity, Degrees is 0 and
	// Ground is 1.
	free []float64

	boundary *sparse.Operator[float64] // A_UL and zeros, for a [Harmonic] system
	cover    *System                   // solves in place of a signed system; nil: none
	wide     bool                      // weights span so many decades that a small residual may hide a large error

	cg               CG
	jacobi           Preconditioner
	factor           *cholesky
	complete, filled bool
	isSymmetric      bool
	sampledErr       error

	direct    *exact
	directErr error
}

// SolveTo stores in x the solution of M·X = B, or M⁺·B if M is singular. x must not be b. Settings
// and errors are the same as for [CG], except that by default a solve with the factor takes at most
// ten steps for each digit of Tolerance.
//
// If a graph has few edges and its complete Cholesky factor is small, the factor solves the system. Otherwise columns begin
// with Jacobi. SolveTo sets columns aside if their residuals predict more than 60 steps, or more than 45 for a singular M.
// When the other columns are done, it makes the complete or else the sampled factor, and continues with this factor. Its
// decisions for a column, and the bits of the column, depend on this column alone.
//
// For a [Harmonic] system, b must be nil, and Jacobi may take 300 steps. The error is [graph.ErrAsymmetric] if the matrix is
// not symmetric, which the first solve checks.
func (s *System) SolveTo(ctx context.Context, x, b *sparse.Block[float64],
	settings *Settings) (*Result, error) {
	if err := settings.validate(); err != nil {
		return nil, err
	}
	if err := s.checkSymmetric(ctx); err != nil {
		return nil, err
	}
	if s.cover != nil {
		return s.coveredTo(ctx, x, b, settings)
	}
	if s.boundary != nil && b == nil {
		return s.harmonicTo(ctx, x, settings)
	}
	if settings != nil && settings.Eliminate {
		if out, err := s.eliminatedTo(ctx, x, b, settings.Recorder); !errors.Is(err, ErrFill) {
			return out, err
		}
	}
	s.prepare()
	hard := s.Ground == nil // a Laplacian is as hard as its graph
	if hard {
		if err := s.factorCompletely(ctx); err != nil {
			return nil, err
		}
	}
	l := s.newLadder(settings)
	switch {
	case hard && s.complete:
		s.cg.Precond = s.factor
		s.cg.complete = true
	case !s.noFactor() && s.sampledErr == nil:
		s.cg.ladder = l
	}
	out, err := s.cg.SolveTo(ctx, x, b, settings)
	if out == nil {
		return nil, err
	}
	out.SampledCholesky = l.climbed && !s.complete
	out.CompleteCholesky = s.complete && (l.climbed || hard)
	if boundErr := s.bound(ctx, out, x, b); boundErr != nil {
		return nil, boundErr
	}
	return out, err
}

func (s *System) checkSymmetric(ctx context.Context) (err error) {
	if !s.isSymmetric {
		err = s.Graph.CheckSymmetric(ctx)
		s.isSymmetric = err == nil
	}
	return err
}

func (s *System) team() *sparse.Team {
	return sparse.TeamOf(s.Graph.A)
}

// noFactor reports whether the matrix has no factor, because several processes share the rows or the graph is signed.
func (s *System) noFactor() bool {
	return s.team() != nil || s.Graph.Signed
}

// errNoFactor wraps ErrFill, so that the iteration continues with Jacobi as if the factor filled in.
var errNoFactor = fmt.Errorf("%w: %w", ErrFill, sparse.ErrDivided)

// Release frees the buffers and factors that are kept between solves.
func (s *System) Release() {
	s.cg, s.factor, s.complete, s.direct = CG{}, nil, false, nil
}

func (s *System) newLadder(settings *Settings) *ladder {
	set := settings.withDefaults()
	l := &ladder{jacobiSteps: stepsDefinite}
	if s.Null != nil {
		l.jacobiSteps = stepsSingular
	}
	if s.free != nil {
		l.jacobiSteps = stepsHarmonic
	}
	if s.wide {
		l.jacobiSteps = 0
	}
	if settings == nil || settings.MaxIterations == 0 {
		digits := max(1, math.Ceil(-math.Log10(set.Tolerance)))
		l.allowed = factorStepsPerDigit * int(digits)
	}
	l.climb = func(ctx context.Context) (Preconditioner, error) {
		if s.factor == nil {
			s.cg.run.v.p, s.cg.run.v.q = nil, nil // free memory for the elimination
		}
		l.again = false
		if l.jacobiSteps == stepsDefinite && IsSlow(len(s.Graph.Degrees), s.Graph.A.NNZ()) {
			if err := s.factorCompletely(ctx); err != nil {
				return nil, err
			}
			if !s.complete {
				l.jacobiSteps = stepsSlow
				l.again = true
				return s.jacobi, nil
			}
		}
		f, err := s.anyFactor(ctx)
		if errors.Is(err, ErrFill) {
			l.allowed = 0
			return s.jacobi, nil
		}
		if err != nil {
			return nil, err
		}
		l.climbed = true
		return f, nil
	}
	return l
}

// prepare resets the recurrence to Jacobi.
func (s *System) prepare() {
	c := &s.cg
	if c.A == nil {
		c.A = &sparse.Operator[float64]{A: s.Graph.WithoutHeavyLoops().A,
			Scale: -s.Edge, Left: s.free, Right: s.free, Diag: s.diagonal(false),
			Workers: s.Graph.Workers}
		c.Scale = s.Scale
		c.Null = s.Null
		c.Workers = s.Graph.Workers
		c.easy = s.easy
		c.ground = s.Ground
		if s.quotients != nil {
			c.ground = s.quotients
			c.image = s.Ground
		}
		s.jacobi = NewJacobi(s.diagonal(true))
	}
	c.Precond = s.jacobi
	c.complete = false
	c.ladder = nil
}

// diagonal returns the diagonal that, added to −Edge·A, gives Edge·L + diag(Ground). It includes the loops of A. If
// cancelled is set, diagonal returns the diagonal of Edge·L + diag(Ground) itself.
func (s *System) diagonal(cancelled bool) []float64 {
	sums := s.Graph.WithoutHeavyLoops().Degrees
	diag := make([]float64, len(sums))
	if cancelled {
		sums = graph.LaplacianDiagonal(s.Graph)
	}
	for i, d := range sums {
		diag[i] = float64(s.Edge * d)
		if s.Ground != nil {
			diag[i] += s.Ground[i]
		}
	}
	return diag
}

// factorCompletely makes the complete factor in its first call. It does nothing if the system has no complete factor.
func (s *System) factorCompletely(ctx context.Context) error {
	if s.factor != nil || s.filled || s.Sampled || s.noFactor() ||
		!isLean(len(s.Graph.Degrees), s.Graph.A.NNZ()) {
		return nil
	}
	a, err := freePart(ctx, s.Graph.A, s.free)
	if err != nil {
		return err
	}
	columns, err := completeColumns(ctx, a, s.Edge, s.Ground, nil, limitsOf, s.Memory)
	if errors.Is(err, ErrFill) {
		s.filled = true
		return nil
	}
	if err != nil {
		return err
	}
	s.factor = newFactor(columns, s.Graph.Workers)
	s.complete = true
	return nil
}

// anyFactor returns the complete factor, or else the sampled factor. The error wraps [ErrFill] if both fill in.
func (s *System) anyFactor(ctx context.Context) (*cholesky, error) {
	if s.noFactor() {
		return nil, errNoFactor
	}
	if s.factor != nil || s.sampledErr != nil {
		return s.factor, s.sampledErr
	}
	if err := s.factorCompletely(ctx); err != nil || s.complete {
		return s.factor, err
	}
	a, err := freePart(ctx, s.Graph.A, s.free)
	if err != nil {
		return nil, err
	}
	f, err := newCholesky(ctx, a, s.Edge, s.Ground, s.Memory, s.Graph.Workers)
	if errors.Is(err, ErrFill) {
		s.sampledErr = err
	}
	s.factor = f
	return f, err
}

// Preconditioner returns the Cholesky factor of M for methods other than [System.SolveTo]. The first call makes the factor.
// If the factor fills in, if several processes share the rows, or if the graph is signed, Preconditioner returns the
// diagonal of M and factored is false. p is not defined on the null space of M: callers must project before and after. The
// error is a [*budget.Error], [graph.ErrWeight], [graph.ErrAsymmetric], the error of the context, or an error of a sweep.
func (s *System) Preconditioner(ctx context.Context) (p Preconditioner, factored bool, err error) {
	if err := s.checkSymmetric(ctx); err != nil {
		return nil, false, err
	}
	f, err := s.anyFactor(ctx)
	switch {
	case errors.Is(err, ErrFill):
		diag := s.diagonal(true)
		for i, r := range s.Scale {
			diag[i] /= r * r
		}
		return NewJacobi(diag), false, nil
	case err != nil:
		return nil, false, err
	}
	scaled := *f
	scaled.scale = s.Scale
	return &scaled, true, nil
}

const rngSeed = 1

// bound fills ErrorBound and Rounding, or ErrorEstimate if Least is 0. The error of computing a residual is less than
// 10ε(‖B‖ + ‖M‖·‖X‖). The largest row sum of |M|, or of a similar matrix, bounds ‖M‖.
func (s *System) bound(ctx context.Context, out *Result,
	x, b *sparse.Block[float64]) error {
	switch {
	case s.Least == 0 && out.CompleteCholesky && s.Null != nil:
		return s.estimateByFactor(ctx, out, x)
	case s.Least == 0:
		out.ErrorEstimate = columnNorms(s.team(), x)
		for j, e := range out.estimate {
			out.ErrorEstimate[j] *= e
		}
		return nil
	}
	norm := 0.0 // largest row sum
	sums := s.Graph.WithoutHeavyLoops().Degrees
	for i, d := range sums {
		sum := 2 * s.Edge * d
		if s.Ground != nil {
			sum += s.Ground[i]
		}
		if s.Scale != nil {
			sum /= s.Scale[i] * s.Scale[i]
		}
		norm = max(norm, sum)
	}
	norm = blocks.MaxOver(s.team(), norm)
	const rounding = 10 * 0x1p-52
	out.ErrorBound = make([]float64, b.Cols)
	out.Rounding = make([]float64, b.Cols)
	sizeX := columnNorms(s.team(), x)
	sizeB := columnNorms(s.team(), b)
	for j, r := range out.Residual {
		out.Rounding[j] = rounding * (sizeB[j] + norm*sizeX[j]) / s.Least
		out.ErrorBound[j] = r/s.Least + out.Rounding[j]
	}
	if s.Scale == nil && uneven(s.team(), s.Ground) {
		return s.boundByRows(ctx, out, x, b)
	}
	return nil
}

// IsWide reports whether a small residual may hide a large error.
func (s *System) IsWide() bool { return s.wide }

// unevenGround is the ratio of elements of Ground above which boundByRows pays.
const unevenGround = 1e5

// uneven reports whether elements of ground span so many decades that boundByRows is worth its sweep.
func uneven(team *sparse.Team, ground []float64) bool {
	ends := []float64{math.Inf(-1), 0} // negated smallest, and largest element
	for i, g := range ground {
		if g > 0 && !team.IsPadding(i) {
			ends[0], ends[1] = max(ends[0], -g), max(ends[1], g)
		}
	}
	team.Max(ends)
	return ends[1] > -unevenGround*ends[0]
}

// boundByRows lowers ErrorBound and Rounding if bounds by rows are smaller. The M-matrix N has the elements −|m_ij| off the
// diagonal. No element of |M⁻¹| exceeds the same element of N⁻¹, and N maps 1 to g or more, so that
//
//	|X − X*| ≤ N⁻¹·|R| ≤ max_i |R_i|/g_i
//
// where the rounding error of R_i depends on the row alone. A row with g = 0 has no entries, and X is 0 there. Cost: a sweep.
func (s *System) boundByRows(ctx context.Context, out *Result,
	x, b *sparse.Block[float64]) error {
	q := blocks.Reshape(s.cg.run.v.q, x.Rows, x.Cols) // free between solves
	if err := s.cg.A.StepTo(ctx, q, x, sparse.Step[float64]{Alpha: 1}); err != nil {
		return err
	}
	const rounding = 10 * 0x1p-52
	k := x.Cols
	largest := make([]float64, k)
	residual := make([]float64, k)
	slack := make([]float64, k)
	team := s.team()
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			largest[j] = max(largest[j], math.Abs(v))
		}
	}
	team.Max(largest)
	sums := s.Graph.WithoutHeavyLoops().Degrees
	for i, g := range s.Ground {
		if g <= 0 {
			continue
		}
		norm := 2*s.Edge*sums[i] + g
		for j, v := range b.Row(i) {
			residual[j] = max(residual[j], math.Abs(v-q.Row(i)[j])/g)
			slack[j] = max(slack[j], rounding*(math.Abs(v)+norm*largest[j])/g)
		}
	}
	team.Max(residual)
	team.Max(slack)
	root := math.Sqrt(float64(team.TotalOf(x.Rows))) // bound of the norm of a column over its largest element
	for j := range k {
		if total := root * (residual[j] + slack[j]); total < out.ErrorBound[j] {
			out.ErrorBound[j], out.Rounding[j] = total, root*slack[j]
		}
	}
	return nil
}

// columnNorms returns the norms of the columns of b. A norm is infinite if its square overflows.
func columnNorms(team *sparse.Team, b *sparse.Block[float64]) []float64 {
	norms := blocks.Dots(team, b, b)
	for j, v := range norms {
		norms[j] = math.Sqrt(v)
	}
	return norms
}
