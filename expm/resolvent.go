package expm

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// solves computes a group of falling exponentials by a series in M = (I + γH)⁻¹. As a function of the eigenvalues of M a
// falling exponential is smooth, however wide the spectrum of H is (van den Eshof and Hochbruck 2006). With T_j the
// Chebyshev polynomials of 2M − 1, applied to B,
//
//	X_j = M·T_j,  T_{j+1} = 2(2X_j − T_j) − T_{j−1},  Y += c_{j+1}·T_{j+1}
//
// An error of X_j changes the results by at most 4·Σ_{i>j} |c_i|(i−j) times the size of the error, half of this for j = 0,
// because errors obey the recurrence of the second kind, |U_i| ≤ i + 1. The error of X_j is at most the residual, because I
// + γH ⪰ I. Late solves may therefore be coarse (Simoncini and Szyld 2003).
type solves struct {
	e     *evaluation
	m     *Map
	group []*part
	x     *sparse.Block[float64]
	cg    iterative.CG
	gamma float64

	planned []float64 // norms that the attempt was planned with
	errors  solveErrors

	firstSteps float64
	unfinished float64 // residual of the first solve if it reached the limit on steps, else 0
	factored   bool
}

// drifting is a bound of γ times the mean diagonal of H. Above it the part in the null space is removed after every solve,
// because M does not damp rounding errors in the null space.
const drifting = 100

func (e *evaluation) runResolvent(ctx context.Context, group []*part) error {
	s := &solves{e: e, m: e.m, group: group,
		x: sparse.NewBlock[float64](e.m.n, e.b.Cols)}
	likely := make([]float64, len(group))
	for attempt := 0; ; attempt++ {
		e.split(group, false)
		for i, p := range group {
			p.lower = max(p.lower, likely[i])
		}
		again, err := s.run(ctx, attempt == 0)
		switch {
		case err == errTooSlow:
			for _, p := range group {
				if err := p.expand(e); err != nil {
					return err
				}
			}
			return e.runSeries(ctx, group)
		case err != nil || !again:
			return err
		}
		// now with a better lower bound of the norms
		for i, p := range group {
			likely[i] = p.lower
		}
	}
}

// run computes the results of the group. first says that this is the first attempt. If run returns true, the norms of the
// results were guessed wrong, and another attempt may meet the tolerance.
func (s *solves) run(ctx context.Context, first bool) (again bool, err error) {
	s.gamma, _ = s.e.chooseShift(s.group)
	s.planned = s.planned[:0]
	for _, p := range s.group {
		s.planned = append(s.planned, s.e.likely(p))
		const samples = 512
		p.expansion = expandFalling(-p.f.rate/s.gamma, samples)
		p.lastReach = nil
		p.settled = false
		p.added = 0
		p.norms = false
		p.out.Method = Resolvent
	}
	if err := s.prepare(ctx); err != nil {
		return false, err
	}
	s.errors = solveErrors{size: s.e.norm, sizes: s.e.norms,
		expected: s.e.rough * s.e.norm}
	s.firstSteps = 0
	s.unfinished = 0
	for j := 0; s.e.norm > 0; j++ {
		last := 0
		for _, p := range s.group {
			if !p.settled {
				// the norm after the last term is measured
				lowest := j + 1
				if p.added == j+1 && p.norms {
					lowest = j
				}
				p.end = max(min(p.expansion.terms(tailShare*s.budget(p)/s.e.norm),
					len(p.expansion.coef))-1, lowest)
				p.settled = p.end == j
			}
			last = max(last, p.end)
		}
		if last <= j {
			break
		}
		if j == 0 {
			err = s.solveFirst(ctx, last, first)
		} else {
			err = s.solve(ctx, j, s.target(j), 0)
		}
		if err != nil {
			return false, err
		}
		s.advance(j)
		if s.gamma*s.m.laplacian.Mean > drifting && s.m.null != nil {
			next := s.e.w[(j+1)%2]
			s.m.null.RemoveTo(next, next, s.m.workers)
		}
		s.e.swept(0, int(float64(s.e.result.Sweeps)*s.digits(j+1,
			last)/s.digits(0, j+1)))
	}
	return s.finishGroup(first), nil
}

func (s *solves) prepare(ctx context.Context) error {
	if err := s.e.meetNeighbours(ctx); err != nil {
		return err
	}
	l := s.m.graph.Laplacian()
	diag := make([]float64, s.m.n)
	fullDiag := make([]float64, s.m.n)
	for i, d := range graph.LaplacianDiagonal(s.m.graph) {
		ground := s.m.addedDiagonal(i)
		diag[i] = float64(s.gamma*l.Diag[i]) + ground
		fullDiag[i] = float64(s.gamma*d) + ground
	}
	s.cg.A = &sparse.Operator[float64]{A: l.A, Scale: -s.gamma, Diag: diag,
		Workers: s.m.workers}
	s.cg.Precond, s.cg.Workers = iterative.NewJacobi(fullDiag), s.m.workers
	if s.m.normalized {
		s.cg.Scale = s.m.inner // I + γL̃ = D^−½·(D + γL)·D^−½
	}
	s.factored = false
	return nil
}

// addedDiagonal returns element i of the diagonal that the solves add to γL: 1, or the degree if H is normalized.
func (m *Map) addedDiagonal(i int) float64 {
	if d := m.graph.Degrees[i]; m.normalized && d > 0 {
		return d
	}
	return 1
}

// budget returns the error that a part may have, in the Frobenius norm.
func (s *solves) budget(p *part) float64 {
	return s.e.tolerance(p) * s.e.likely(p)
}

type solveErrors struct {
	size          float64     // norm of the block to which a function is applied
	sizes         []float64   // norms of its columns
	expected      float64     // rounding errors of a solve, estimated
	residual      [][]float64 // residuals of each solve, by column
	residualNorms []float64   // norm of the residual of each solve
	rounded       [][]float64 // rounding errors of each solve and step, by column
	wrong         []float64   // norms of rounded
}

// spent bounds the error of p's result after the solves so far, if its series ends with term end.
func (s *solveErrors) spent(p *part, end int) float64 {
	sum := p.expansion.tail[end]*s.size + s.boundRounding(p, end)
	for j, r := range s.residualNorms {
		sum += float64(p.sensitivity(j, end) * r)
	}
	return sum
}

func (s *solveErrors) boundRounding(p *part, end int) float64 {
	sum := float64(epsilon*float64(end+1)*p.expansion.size) * s.size
	for j, r := range s.wrong {
		sum += float64(p.sensitivity(j, end) * r)
	}
	return sum
}

func (s *solveErrors) columnBounds(p *part) (bounds, rounded []float64) {
	bounds = make([]float64, len(s.sizes))
	rounded = make([]float64, len(s.sizes))
	blocks.AddScaled(bounds, p.expansion.tail[p.end], s.sizes)
	blocks.AddScaled(rounded, epsilon*float64(p.end+1)*p.expansion.size, s.sizes)
	for j := range s.residual {
		reach := p.sensitivity(j, p.end)
		blocks.AddScaled(bounds, reach, s.residual[j])
		blocks.AddScaled(rounded, reach, s.rounded[j])
	}
	blocks.AddScaled(bounds, 1, rounded)
	return bounds, rounded
}

func (s *solveErrors) lastWrong() float64 {
	if len(s.wrong) > 0 {
		return s.wrong[len(s.wrong)-1]
	}
	return s.expected
}

// target returns the residual at which solve j may end. Each solve gets an equal share of the error budget that the
// rounding errors of later solves leave; the strictest part decides. The target is not far below the rounding errors of a
// solve.
func (s *solves) target(j int) float64 {
	wrong := s.errors.lastWrong()
	target := infinity
	for _, p := range s.group {
		if p.end <= j {
			continue
		}
		rounded := s.errors.boundRounding(p, p.end)
		left := s.budget(p) - s.errors.spent(p, p.end)
		for i := j; i < p.end; i++ {
			later := float64(p.sensitivity(i, p.end) * wrong)
			left -= later
			rounded += later
		}
		share := max(left/float64(p.end-j),
			rounded/(beneathRounding*float64(p.end)))
		target = min(target, share/p.sensitivity(j, p.end))
	}
	return max(target, wrong/beneathRounding)
}

// digits returns the natural logarithm of the product of the factors by which the solves j to last − 1 must reduce
// residuals.
func (s *solves) digits(j, last int) (sum float64) {
	for ; j < last; j++ {
		sum += digitsOf(s.target(j) / s.e.norm)
	}
	return sum
}

// solve stores M·T_j in x, up to a residual of target. If limit is positive, it stops after limit steps. If rounding errors
// may have made the residual of the recurrence wrong, solve continues from the true residual.
func (s *solves) solve(ctx context.Context, j int, target float64,
	limit int) error {
	columns, err := absoluteTargets(target, s.e.b.Cols)
	if err != nil {
		return err
	}
	r, err := s.cg.SolveTo(ctx, s.x, s.e.w[j%2],
		&iterative.Settings{Absolute: columns, Recurrence: true,
			Start: s.unfinished > 0, MaxIterations: limit})
	s.unfinished = 0
	if limit > 0 && errors.Is(err, iterative.ErrIterationLimit) {
		s.firstSteps += float64(r.Steps)
		s.e.result.Sweeps += r.Sweeps
		for _, v := range r.Residual {
			s.unfinished = math.Hypot(s.unfinished, v)
		}
		return nil
	}
	if err != nil && !roundingEnded(err) {
		return err
	}
	steps := r.Steps
	sweeps := r.Sweeps
	drift := s.drift(r)
	if err != nil || !(drift <= mostDrift*columns[0]) {
		for c := range columns { // steps among rounding errors may be harmful
			columns[c] = max(columns[c],
				aboveRounding*s.errors.lastWrong()/math.Sqrt(float64(len(columns))))
		}
		r, err = s.cg.SolveTo(ctx, s.x, s.e.w[j%2],
			&iterative.Settings{Absolute: columns, Start: true})
		if err != nil && !roundingEnded(err) {
			return err
		}
		steps += r.Steps
		sweeps += r.Sweeps
		drift = 0
	}
	var sum float64
	for c := range r.Residual {
		r.Residual[c] += drift
		sum += float64(r.Residual[c] * r.Residual[c])
	}
	s.errors.residual, s.errors.residualNorms = append(s.errors.residual,
		r.Residual), append(s.errors.residualNorms, math.Sqrt(sum))
	if j == 0 {
		s.firstSteps += float64(steps)
	}
	s.e.result.Sweeps += sweeps
	return nil
}

const (
	// mostDrift is the largest error of the residual of a recurrence, as a share of its target.
	mostDrift = 0.05

	// aboveRounding is the factor by which a true residual may exceed rounding errors.
	aboveRounding = 4

	// driftRounding allows for rounding errors of a step, in ε.
	driftRounding = 12
)

// drift bounds the distance between the residuals of a recurrence and the true residuals. Each step adds rounding errors of
// ε‖I + γH‖ times the largest approximation (Greenbaum 1997). Because I + γH ⪰ I, the approximation is not larger than the
// right-hand side and the largest residual.
func (s *solves) drift(r *iterative.Result) float64 {
	size := slices.Max(s.e.norms) * (1 + slices.Max(r.History))
	return driftRounding * epsilon * float64(r.Steps+1) * (1 +
		2*s.gamma*s.m.Hi) * size
}

// advance computes T_{j+1} and adds terms to the results. It adds two terms at a time, or one term if the norm of the
// result is needed.
func (s *solves) advance(j int) {
	for _, p := range s.group {
		p.scheduleSolved(s, j+1)
	}
	s.e.sums.begin(s.m.team, s.e.b.Cols)
	s.m.chunks(func(_, lo, hi int) { s.advanceRows(j, lo, hi) })
	rounded := make([]float64, s.e.b.Cols)
	norms := s.e.sums.rootsTo(rounded)
	s.errors.wrong = append(s.errors.wrong,
		epsilon*(residualRounding*norms+stepRounding*s.e.norm))
	scaleTo(rounded, residualRounding*epsilon, rounded)
	blocks.AddScaled(rounded, stepRounding*epsilon, s.e.norms)
	s.errors.rounded = append(s.errors.rounded, rounded)
	for _, p := range s.group {
		if p.visit {
			p.added = j + 2
		}
		if p.norms {
			norm := p.sums.rootsTo(p.colNorms)
			p.lower = max(p.lower, norm-s.errors.spent(p, j+1))
		}
	}
}

// scheduleSolved decides which terms are added to the part once T_j is known, and whether its norm is measured. Norms are
// measured after the last term and at powers of two.
func (p *part) scheduleSolved(s *solves, j int) {
	p.visit = false
	p.first = false
	p.norms = false
	if p.added > p.end {
		return
	}
	p.schedule(j, j >= p.end || j >= 4 && j&(j-1) == 0, s.e)
}

// advanceRows computes T_{j+1} = 4X_j − 2T_j − T_{j−1} in rows lo ≤ i < hi, where X_j is the last solve, and adds the
// scheduled terms.
func (s *solves) advanceRows(j, lo, hi int) {
	now := s.e.w[j%2]
	next := s.e.w[(j+1)%2]
	rounded := s.e.sums.of(lo/blocks.ChunkRows, lo)
	for i := lo; i < hi; i++ {
		x := s.x.Row(i)
		a := now.Row(i)
		b := next.Row(i)
		addSquares(rounded, s.roundingOf(i), x)
		if j == 0 {
			for c := range b {
				b[c] = 2*x[c] - a[c]
			}
		} else {
			for c := range b {
				b[c] = 4*x[c] - 2*a[c] - b[c]
			}
		}
	}
	for _, p := range s.group {
		if !p.visit {
			continue
		}
		p.addTerms(j+1, lo, hi, now, next)
		if p.norms {
			sums := p.sums.of(lo/blocks.ChunkRows, lo)
			for i := lo; i < hi; i++ {
				addSquares(sums, 1, p.y.Row(i))
			}
		}
	}
}
