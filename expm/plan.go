package expm

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

type plan struct {
	series   []*part
	groups   [][]*part // groups that share a resolvent, by increasing rates
	rational []*part
	steepest *part // falling exponential of the series with the largest rate
	sweeps   int
}

const (
	// fewSweeps is the number of sweeps up to which a series is taken without considering solves.
	fewSweeps = 60

	// solveWeight is the cost of a step of conjugate gradients relative to a step of a series, which moves fewer vectors.
	solveWeight = 1.4

	// groupSpan is the largest ratio between rates that share solves.
	groupSpan = 16

	// WideSpectrum is the ratio of λ to σ above which a Matérn function of a Laplacian is computed as a sum of resolvents.
	WideSpectrum = 600

	// tameProduct is the largest product of rate and λ for which solves are accurate enough for usual tolerances.
	tameProduct = 1e8

	// guess is the assumed norm of an unknown result relative to B.
	guess = 1e-3
)

type costs struct {
	m        *Map
	settings Settings
	norm     float64 // ‖B − P₀B‖; 0: unknown
	rough    float64 // see measureRough
}

func (e *evaluation) plan(ctx context.Context) (*plan, error) {
	pl := &plan{}
	var falling []*part
	for i := range e.parts {
		p := &e.parts[i]
		switch {
		case p.f.kind == matern && e.m.solvable() &&
			e.m.Hi > WideSpectrum*p.f.shift:
			pl.rational = append(pl.rational, p)
		case p.f.kind == exponential && p.f.rate < 0 && e.m.solvable() &&
			e.settings.method != Chebyshev:
			falling = append(falling, p)
		default:
			if err := p.expand(e); err != nil {
				return nil, err
			}
			pl.series = append(pl.series, p)
		}
	}
	for _, p := range pl.series {
		d, _ := p.expansion.reach(0, e.settings.Tolerance*guess*p.expansion.size)
		pl.sweeps = max(pl.sweeps, d)
	}
	if err := e.cut(ctx, pl, falling); err != nil {
		return nil, err
	}
	for _, p := range pl.rational {
		pl.sweeps += p.fitMatern(e)
	}
	return pl, nil
}

func (m *Map) solvable() bool {
	return m.graph != nil && m.Lo == 0 && m.Hi > 0
}

func (p *part) expand(e *evaluation) (err error) {
	p.expansion, err = p.f.expand(e.m.Lo, e.m.Hi)
	if err == nil && e.m.Hi > e.m.Lo {
		p.expansion.productRounding = e.m.rounding
		p.expansion.slope = max(p.expansion.slope,
			e.m.slopeOf(2*p.expansion.steepest()/(e.m.Hi-e.m.Lo)))
	}
	return err
}

// cut divides falling exponentials into series and groups of resolvents with the fewest expected sweeps.
func (e *evaluation) cut(ctx context.Context, pl *plan, falling []*part) error {
	if len(falling) == 0 {
		return nil
	}
	if tame := tameProduct / e.m.Hi; slices.ContainsFunc(falling,
		func(p *part) bool { return -p.f.rate > tame }) {
		// Solves for such a rate lose their digits to rounding, and the remainder at a smaller rate
		// usually shows that no solve is needed.
		f := Exp(-tame)
		y := sparse.NewBlock[float64](e.m.n, e.b.Cols)
		falling = append(falling,
			&part{tame: true, f: &f, out: &Outcome{}, y: y, dest: y})
	}
	slices.SortStableFunc(falling,
		func(a, b *part) int { return cmp.Compare(b.f.rate, a.f.rate) })
	first, err := e.countSeries(ctx, pl, falling)
	if err != nil {
		return err
	}
	pl.groups = groupsOf(falling[first:])
	for _, g := range pl.groups {
		if position := slices.Index(falling, g[0]); position > 0 {
			falling[position-1].strict = true
		}
	}
	for _, p := range falling[:first] {
		if err := p.expand(e); err != nil {
			return err
		}
		pl.series = append(pl.series, p)
		pl.steepest = p
		pl.sweeps = max(pl.sweeps,
			degree(-p.f.rate*e.m.Hi/2, min(e.allowError(p), 1)))
	}
	for _, g := range pl.groups {
		pl.sweeps += int(e.resolventCost(g))
	}
	return nil
}

// countSeries returns how many of the falling exponentials, sorted by rate, use series.
func (e *evaluation) countSeries(ctx context.Context, pl *plan, falling []*part) (count int, err error) {
	steepest := falling[len(falling)-1]
	z := -steepest.f.rate * e.m.Hi / 2
	mayBeSeries := e.settings.method != Resolvent
	if mayBeSeries && (degree(z, e.settings.Tolerance*guess) <= fewSweeps ||
		!MaySolve(e.m.kind(), e.m.degrees, -steepest.f.rate)) {
		return len(falling), nil
	}
	e.split(falling[:1], false)
	if err := e.measureRough(ctx); err != nil {
		return 0, err
	}
	for _, p := range falling {
		p.null = falling[0].null
		p.lower = p.leastNorm(e)
	}
	best := infinity
	for n := len(falling); n >= 0; n-- {
		cost := 0.0
		if n > 0 {
			if !mayBeSeries {
				continue
			}
			cost = max(float64(pl.sweeps), e.seriesCost(falling[n-1]))
		}
		for _, g := range groupsOf(falling[n:]) {
			if cost > best {
				break
			}
			cost += solveWeight * e.resolventCost(g)
		}
		if cost < best {
			best = cost
			count = n
		}
	}
	return count, nil
}

// groupsOf divides parts with increasing rates into groups in which rates grow by a factor of at most
// groupSpan.
func groupsOf(parts []*part) (groups [][]*part) {
	for lo := 0; lo < len(parts); {
		hi := lo + 1
		for hi < len(parts) && parts[hi].f.rate >= groupSpan*parts[lo].f.rate &&
			!parts[hi-1].tame {
			hi++
		}
		groups = append(groups, parts[lo:hi:hi])
		lo = hi
	}
	return groups
}

func (c *costs) likely(p *part) float64 {
	if c.norm == 0 {
		return guess
	}
	return max(p.lower, guess*c.norm)
}

// allowError returns the error that a part may have, relative to B outside the null space.
func (c *costs) allowError(p *part) float64 {
	if c.norm == 0 {
		return c.settings.Tolerance
	}
	return c.tolerance(p) * c.likely(p) / c.norm
}

// seriesCost predicts the degree of a series in H for part p. If rounding errors exceed the allowed error, it returns +∞.
func (c *costs) seriesCost(p *part) float64 {
	eps := min(c.allowError(p), 1)
	terms := float64(degree(-p.f.rate*c.m.Hi/2, eps))
	if rounding*epsilon*math.Sqrt(terms)+
		slopeRounding*epsilon*c.m.slopeOf(-p.f.rate) > eps {
		return infinity
	}
	return terms
}

// resolventCost predicts the sweeps of a group's solves. It assumes that Jacobi converges fast, which solveFirst tests.
func (c *costs) resolventCost(group []*part) float64 {
	_, steps := c.chooseShift(group)
	return steps
}

func (m *Map) kind() sparse.Kind {
	if m.normalized {
		return sparse.NormalizedLaplacian
	}
	return sparse.Laplacian
}

const (
	// shortSeries is the product of rate and λ up to which an exponential of L̃ is always a series, because even a perfect
	// preconditioner would not repay the solves.
	shortSeries = 256

	// plannedTolerance is the tolerance for which MaySolve compares costs.
	plannedTolerance = 1e-10
)

// Diagonal describes the diagonal of a Laplacian, on which the choice of a method depends.
type Diagonal struct {
	Mean, Largest float64
	Inexact       float64 // largest element that is no whole number, or 0
}

// DiagonalOf describes a diagonal. If several processes share the rows, each process passes its rows, and all processes get
// the description of the whole diagonal.
func DiagonalOf(team *sparse.Team, diagonal []float64) Diagonal {
	sum := 0.0
	largest := []float64{0, 0}
	for lo, hi := range team.CountingRows(0, len(diagonal)) {
		for _, d := range diagonal[lo:hi] {
			sum += d
			if !(d <= largest[0]) { // rarely taken
				largest[0] = max(largest[0], d)
			}
			if d != math.Trunc(d) {
				largest[1] = max(largest[1], d)
			}
		}
	}
	team.Max(largest)
	return Diagonal{Mean: blocks.SumOver(team,
		sum) / float64(max(1,
		team.TotalOf(len(diagonal)))), Largest: largest[0], Inexact: largest[1]}
}

// MaySolve reports whether [Map.ApplyTo] may compute exp(−βL) of a Laplacian by solves. It depends on the degrees alone, so
// that an estimate of memory before the graph is loaded agrees with the computation. For L it returns true if solves cost at
// most twice as much as a series; for L̃, above a fixed β.
func MaySolve(kind sparse.Kind, degrees Diagonal, beta float64) bool {
	if kind != sparse.Laplacian {
		return beta*2 > shortSeries // 2 is the largest eigenvalue of L̃
	}
	f := Exp(-beta)
	e := &costs{
		m:        &Map{laplacian: degrees, Hi: degrees.Largest, caches: new(caches)},
		settings: Settings{Tolerance: plannedTolerance},
	}
	p := &part{f: &f}
	cost := e.seriesCost(p)
	return cost > fewSweeps && 2*cost > solveWeight*e.resolventCost([]*part{p})
}

// SeriesOnly reports whether [Map.ApplyTo] computes all functions by series in the map, which need fewer blocks than solves.
func (m *Map) SeriesOnly(fs []Function) bool {
	return !slices.ContainsFunc(fs, func(f Function) bool {
		switch {
		case !m.solvable():
			return false
		case f.kind == matern:
			return m.Hi > WideSpectrum*f.shift
		}
		return f.kind == exponential && f.rate < 0 &&
			MaySolve(m.kind(), m.degrees, -f.rate)
	})
}

func (m *Map) steps(gamma, eps float64) float64 {
	return m.pace(gamma) * math.Log(2/eps)
}

// expansionRate is the second eigenvalue of the normalized Laplacian that [Map.pace] assumes.
const expansionRate = 0.1

var infinity = math.Inf(1)
