package expm

import (
	"context"
	"math"

	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/sparse"
)

// falling returns the Chebyshev coefficients in y = 2μ − 1, μ = 1/(1+γλ), of
// exp(−βλ) = exp(−(β/γ)(1/μ − 1)), from samples points.
func falling(ratio float64, samples int) *expansion {
	coef := cosine(func(y float64) float64 {
		mu := (1 + y) / 2
		if mu <= 0 {
			return 0
		}
		return math.Exp(-ratio * (1/mu - 1))
	}, samples)
	var rest float64
	for len(coef) > 1 && math.Abs(coef[len(coef)-1]) <= epsilon/16 {
		rest += math.Abs(coef[len(coef)-1])
		coef = coef[:len(coef)-1]
	}
	return newExpansion(coef, rest)
}

// terms returns the number of terms that leave a tail of at most eps.
func (s *expansion) terms(eps float64) int {
	for j, tail := range s.tail {
		if tail <= eps {
			return j + 1
		}
	}
	return len(s.tail)
}

// chooseShift returns the γ for which a group's solves are expected to take
// the fewest steps, and the number of terms. Half of the error is the tail's.
func (e *evaluation) chooseShift(group []*part) (gamma float64, terms int) {
	const tries, samples = 32, 256
	steepest := -group[len(group)-1].f.rate
	least, eps := infinity, e.allowed(group[len(group)-1])
	for i := range tries {
		relative := math.Pow(10, -3.2*float64(i)/(tries-1))
		steps := e.steps(relative*steepest, eps)
		most := 0
		for _, p := range group {
			x := falling(-p.f.rate/(relative*steepest), samples)
			if most = max(most, x.terms(e.allowed(p)/2)); float64(most)*steps >= least {
				break
			}
		}
		if cost := float64(most) * steps; cost < least {
			least, gamma, terms = cost, relative*steepest, most
		}
	}
	return gamma, terms
}

// solves is a group's series in M = (I + γH)⁻¹ under way:
//
//	X_j = M·T_j,  T_{j+1} = 2(2X_j − T_j) − T_{j−1},  Y += c_{j+1}·T_{j+1}
//
// An error of X_j reaches the results by at most 4·Σ_{i>j} |c_i|(i−j) times
// its size (twice for j = 0), since errors obey the recurrence of the second
// kind, |U_i| ≤ i + 1; and it is at most the residual, since I + γH ⪰ I.
type solves struct {
	*evaluation
	group []*part
	x     *sparse.Block[float64]
	cg    iterative.CG
	gamma float64

	residual [][]float64 // of each solve, by column, rounding errors of its rows and the step included
	whole    []float64   // of each solve
	steps    int         // of conjugate gradients
	factored bool
}

// drifting is the size of γH from which on rounding errors of solves are taken
// out of the null space, where M does not damp them, after every solve.
const drifting = 100

// runResolvent computes a group of falling exponentials.
func (e *evaluation) runResolvent(ctx context.Context, group []*part) error {
	s := &solves{evaluation: e, group: group, x: sparse.NewBlock[float64](e.n, e.b.Cols)}
	likely := make([]float64, len(group))
	for attempt := 0; ; attempt++ {
		if err := e.split(ctx, group, false); err != nil {
			return err
		}
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
		// A better lower bound of the results' norms is known now.
		for i, p := range group {
			likely[i] = p.lower
		}
	}
}

// run computes the group's results. It returns true where they are not within
// the tolerance because their norms were guessed wrong.
func (s *solves) run(ctx context.Context, first bool) (again bool, err error) {
	s.gamma, _ = s.chooseShift(s.group)
	for _, p := range s.group {
		const samples = 512
		p.expansion = falling(-p.f.rate/s.gamma, samples)
		p.settled, p.added, p.norms, p.out.Method = false, 0, false, Resolvent
	}
	if err := s.prepare(ctx); err != nil {
		return false, err
	}
	s.residual, s.whole = nil, nil
	for j := 0; s.norm > 0; j++ {
		last := 0
		for _, p := range s.group {
			if !p.settled {
				// The last term is one that is added, with the norm measured.
				least := j + 1
				if p.added == j+1 && p.norms {
					least = j
				}
				p.end = max(s.lastTerm(p), least)
				p.settled = p.end == j
			}
			last = max(last, p.end)
		}
		if last <= j {
			break
		}
		if err := s.solve(ctx, j, s.target(j)); err != nil {
			return false, err
		}
		if j == 0 {
			if err := s.review(ctx, last); err != nil {
				return false, err
			}
		}
		if err := s.advance(ctx, j); err != nil {
			return false, err
		}
		if s.gamma*s.meanDiagonal() > drifting && s.null != nil {
			next := s.w[(j+1)%2]
			if err := s.null.RemoveTo(ctx, next, next, s.workers); err != nil {
				return false, err
			}
		}
		s.swept(0, int(laterSolves*float64(last-j-1)*float64(s.steps)/float64(j+1)))
	}
	return s.finishGroup(ctx, first)
}

// prepare sets up the system I + γH.
func (s *solves) prepare(ctx context.Context) error {
	if err := s.meetNeighbours(ctx); err != nil {
		return err
	}
	g := s.graph
	diag, jacobi := make([]float64, s.n), make([]float64, s.n)
	for i, d := range g.Degrees {
		ground := s.ground(i)
		diag[i] = float64(s.gamma*d) + ground
		jacobi[i] = diag[i]
		if g.Loops != nil {
			jacobi[i] -= s.gamma * g.Loops[i]
		}
	}
	s.cg.A = &sparse.Operator[float64]{A: g.A, Scale: -s.gamma, Diag: diag, Workers: s.workers}
	s.cg.Precond, s.cg.Workers = iterative.NewJacobi(jacobi), s.workers
	if s.normalized {
		s.cg.Scale = s.evaluation.inner // I + γL̃ = D^−½·(D + γL)·D^−½
	}
	s.factored = false
	return nil
}

// ground returns what the system adds to γL in row i.
func (e *evaluation) ground(i int) float64 {
	if d := e.graph.Degrees[i]; e.normalized && d > 0 {
		return d
	}
	return 1
}

// budget returns the error that a part may have, in the norm of H_s.
func (s *solves) budget(p *part) float64 {
	return s.tolerance(p) * s.likely(p)
}

// lastTerm returns the last term of a part's series, whose tail takes half of
// the budget.
func (s *solves) lastTerm(p *part) int {
	return min(p.terms(s.budget(p)/2/s.norm), len(p.coef)) - 1
}

// sensitivity returns by how much an error of X_j may reach a part's result.
func (p *part) sensitivity(j int) float64 {
	var sum float64
	for i := j + 1; i <= p.end; i++ {
		sum += float64(math.Abs(p.coef[i]) * float64(i-j))
	}
	if j == 0 {
		return 2 * sum
	}
	return 4 * sum
}

// spent bounds the error of a part's result so far; column < 0 stands for the
// block.
func (s *solves) spent(p *part, column int) float64 {
	norm, residual := s.norm, func(j int) float64 { return s.whole[j] }
	if column >= 0 {
		norm, residual = s.norms[column], func(j int) float64 { return s.residual[j][column] }
	}
	sum := (p.tail[p.end] + float64(epsilon*float64(p.end+1)*p.size)) * norm
	for j := range s.whole {
		sum += float64(p.sensitivity(j) * residual(j))
	}
	return sum
}

// target returns the residual that solve j may leave in the block: an equal
// share, for the part that can bear least, of what is left of the budget.
func (s *solves) target(j int) float64 {
	target := infinity
	for _, p := range s.group {
		if p.end <= j {
			continue
		}
		budget := s.budget(p)
		left := max(budget-s.spent(p, -1), budget/100)
		target = min(target, left/(float64(p.end-j)*p.sensitivity(j)))
	}
	return target
}

// solve stores M·T_j in x.
func (s *solves) solve(ctx context.Context, j int, target float64) error {
	columns := make([]float64, s.b.Cols)
	for c := range columns {
		columns[c] = target / math.Sqrt(float64(len(columns)))
	}
	r, err := s.cg.SolveTo(ctx, s.x, s.w[j%2], &iterative.Settings{Absolute: columns, Recurrence: true})
	if err != nil {
		return err
	}
	var sum float64
	for _, v := range r.Residual {
		sum += float64(v * v)
	}
	s.residual, s.whole = append(s.residual, r.Residual), append(s.whole, math.Sqrt(sum))
	s.steps += r.Steps
	s.result.Sweeps += r.Sweeps
	return nil
}

// advance makes T_{j+1} and adds terms to the results, two at a time unless
// their norms are wanted.
func (s *solves) advance(ctx context.Context, j int) error {
	for _, p := range s.group {
		p.scheduleSolved(s, j+1)
	}
	s.evaluation.sums.Begin(s.b.Cols)
	if err := s.chunks(ctx, func(_, lo, hi int) { s.advanceRows(j, lo, hi) }); err != nil {
		return err
	}
	rounded := make([]float64, s.b.Cols)
	s.whole[j] += epsilon * (residualRounding*s.evaluation.sums.rootsTo(rounded) + stepRounding*s.norm)
	addScaled(s.residual[j], residualRounding*epsilon, rounded)
	addScaled(s.residual[j], stepRounding*epsilon, s.norms)
	for _, p := range s.group {
		if p.visit {
			p.added = j + 2
		}
		if p.norms {
			norm := p.sums.rootsTo(p.colNorms)
			p.lower = max(p.lower, norm-p.spent(s, j+1)*s.outerMax)
		}
	}
	return nil
}

// scheduleSolved decides what is done for a part when T_j is there. Norms are
// measured after the last term, and now and then before, for a better budget.
func (p *part) scheduleSolved(s *solves, j int) {
	p.visit, p.first, p.norms = false, false, false
	if p.added > p.end {
		return
	}
	pending := j + 1 - p.added
	p.norms = j >= p.end || j >= 4 && j&(j-1) == 0
	p.visit = pending == 2 || p.norms
	p.first = pending == 2
	if p.norms {
		p.sums.Begin(s.b.Cols)
	}
}

func (s *solves) advanceRows(j, lo, hi int) {
	k, now, next := s.b.Cols, s.w[j%2], s.w[(j+1)%2]
	rounded := s.evaluation.sums.Of(lo / chunkRows)
	for i := lo; i < hi; i++ {
		x, a, b := s.x.Row(i), now.Row(i), next.Row(i)
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
		y := rowsOf(p.y, lo)
		if p.first {
			simd.AddRows(y, hi-lo, k, y, p.coef[j:j+1], rowsOf(now, lo))
		}
		simd.AddRows(y, hi-lo, k, y, p.coef[j+1:j+2], rowsOf(next, lo))
		if p.norms {
			sums := p.sums.Of(lo / chunkRows)
			for i := lo; i < hi; i++ {
				addSquares(sums, factor(s.outer, i), p.y.Row(i))
			}
		}
	}
}

// spent bounds the error of a part's result after a term.
func (p *part) spent(s *solves, term int) float64 {
	end := p.end
	p.end = term
	sum := s.spent(p, -1)
	p.end = end
	return sum
}
