package expm

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/heatwalk/heatwalk/internal/symmetric"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

const (
	// harmless is the largest product of the rate and the width of the interval for which an exponential needs no narrower
	// interval. Rounding errors grow by at most e^harmless.
	harmless = 10

	// margin divided by the rate is the intended distance between the ends of the interval and the eigenvalues found.
	margin = 4

	endSteps = 300

	// leastEndSteps is the least number of steps, so that slightly different rates share an interval.
	leastEndSteps = 24

	// missed is the probability that an eigenvalue lies outside of the interval.
	missed = 1e-13
)

// Estimated is the condition of a result with an estimated interval.
const Estimated = "the spectrum lies in an interval estimated by Lanczos iteration from a random vector, which fails with a probability below 1e-13"

// narrowInterval returns the map on an estimated interval if an exponential is largest at an end of the interval that may
// be far from the spectrum. Otherwise it returns m. It also returns the number of sweeps. For example, A of a complete
// graph of 50 nodes has the eigenvalues −1 and 49: exp(−A) is at most e, but exp(−x) is e⁴⁹ on [−49, 49]. Cost: a sweep of
// one column for each step of Lanczos.
func (m *Map) narrowInterval(ctx context.Context, fs []Function) (*Map, int, error) {
	need := 0.0
	for i := range fs {
		falls := fs[i].rate < 0
		if fs[i].kind == exponential && !(falls && m.solvable()) {
			need = max(need, math.Abs(fs[i].rate)*(m.Hi-m.Lo))
		}
	}
	if m.unproven || need <= harmless {
		return m, 0, nil
	}
	n := m.team.TotalOf(m.n)
	steps := int(min(endSteps,
		max(leastEndSteps, math.Ceil(stepsFor(n, margin/need)))))
	if narrow, ok := m.narrow.Load(steps); ok {
		return narrow.(*Map), 0, nil
	}
	lo, hi, done, err := m.findEnds(ctx, steps)
	if err != nil {
		return nil, done, err
	}
	if m.null != nil {
		lo, hi = min(lo, m.nullValue), max(hi, m.nullValue)
	}
	narrow := *m
	narrow.Lo = max(m.Lo, lo)
	narrow.Hi = min(m.Hi, hi)
	narrow.unproven = true
	if width := narrow.Hi - narrow.Lo; width > 0 {
		narrow.rounding = (m.Hi - m.Lo) / width
	}
	m.narrow.Store(steps, &narrow)
	return &narrow, done, nil
}

// stepsFor returns the number k of steps of Lanczos after which the relative error of an extreme eigenvalue exceeds ε with a
// probability below missed. For n rows and a random vector the probability is 1.648·√n·e^−√ε(2k−1) (Kuczyński and Woźniakowski
// 1992, theorem 4.2).
func stepsFor(n int, eps float64) float64 {
	return (logMissed(n)/math.Sqrt(eps) + 1) / 2
}

func logMissed(n int) float64 {
	return math.Log(1.648 * math.Sqrt(float64(n)) / missed)
}

// findEnds returns an interval that contains all eigenvalues, except with a probability of at most missed, and the number
// of sweeps.
func (m *Map) findEnds(ctx context.Context, steps int) (lo, hi float64, done int, err error) {
	u := sparse.NewBlock[float64](m.n, 1)
	p := sparse.NewBlock[float64](m.n, 1)
	dot := func(x, y *sparse.Block[float64]) float64 {
		return blocks.Sums(m.team, m.n, 1, func(i int, sums []float64) {
			f := blocks.Factor(m.inner, i)
			sums[0] += float64(f * x.Row(i)[0] * f * y.Row(i)[0])
		})[0]
	}
	divide := func(x *sparse.Block[float64], divisor float64) {
		for i := range m.n {
			x.Row(i)[0] /= divisor
		}
	}
	source := rand.NewPCG(1, 1)
	rng := rand.New(source)
	for i := range m.n {
		if !m.team.IsPadding(i) {
			source.Seed(1, uint64(m.team.Row(i))) // all processes have the same values in a named row
			u.Row(i)[0] = rng.NormFloat64() / blocks.Factor(m.inner, i)
		}
	}
	divide(u, math.Sqrt(dot(u, u)))
	var t symmetric.Tridiagonal
	beta := 0.0
	ended := false
	for done < steps && !ended {
		s := sparse.Step[float64]{Alpha: 1, Beta: m.centre, Delta: -beta, Prev: p}
		if err := m.sweep.StepTo(ctx, p, u, s); err != nil {
			return 0, 0, done, err
		}
		done++
		alpha := dot(u, p)
		for i := range m.n {
			p.Row(i)[0] -= float64(alpha * u.Row(i)[0])
		}
		beta = math.Sqrt(dot(p, p))
		t.Diag = append(t.Diag, alpha)
		t.Off = append(t.Off, beta)
		ended = !(beta > 16*epsilon*(m.Hi-m.Lo)) // all eigenvalues were found
		if !ended {
			divide(p, beta)
			u, p = p, u
		}
	}
	t.Off = t.Off[:len(t.Diag)-1]
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, v := range t.Eigenvalues() {
		lo, hi = min(lo, v), max(hi, v)
	}
	const rounding = 1e-9 // rounding error of an eigenvalue, relative to the norm
	slack := rounding * (m.Hi - m.Lo)
	if !ended {
		root := logMissed(m.team.TotalOf(m.n)) / float64(2*done-1)
		width := m.Hi - m.Lo
		if eps := root * root; eps < 0.25 { // the spectrum is hi−lo wide and eps of its width at each end
			width = min(width, (hi-lo)/(1-2*eps))
			slack += eps * width
		} else {
			slack = width
		}
	}
	return lo - slack, hi + slack, done, nil
}
