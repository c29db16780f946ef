package lanczos

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

const (
	// firstBasis is the size of the first basis beyond two vectors for each wanted pair. With half as many the unwanted
	// interval often contains a wanted value.
	firstBasis = 24

	// tightest is the least factor of the tolerance for estimated residuals.
	tightest = 1e-4

	// fewCycles is the largest number of expected restarts with which a filter is kept.
	fewCycles = 2.5

	// resolved is the ratio of residuals to the width of the wanted end below which Ritz values count as eigenvalues.
	resolved = 0.1

	// settled is the degree from which on a filter is kept for patience restarts, because a higher degree saves few products.
	// The next degree is at most about steeper times as high.
	settled, patience, steeper = 48, 6, 4

	// coarse is the tolerance above which no filter is used.
	coarse = 1e-3

	// unresolved is the rank of the first Ritz value, in multiples of the wanted number, above which the estimated density
	// does not resolve the wanted end.
	unresolved = 4

	// higher is the least ratio of the degrees of a new and the current filter.
	higher = 1.3
)

type search struct {
	r           *run
	m           *images
	k           *krylov
	want        int
	floor       float64 // the search gives up if no eigenvalue of B is larger
	alternative bool    // LOBPCG may continue
	candidate   bool    // LOBPCG is expected to continue: a small basis is tried first

	spectrum spectrum // spectrum of B, estimated by the first basis
	lowest   float64  // lower end of spectrum
	ahead    int      // eigenvalues above the unwanted interval, in multiples of want
	plan     plan

	distance      float64 // distance of the last wanted value from the known value, at the last choice
	unfiltered    bool    // a filter was given up; alternating would make no progress
	probing       bool    // a small basis resolves the end of the spectrum
	converged     int
	worst         float64
	previousWorst float64 // worst at the last restart
	cycles        int     // restarts with the filter
	strict        float64 // factor of the tolerance for estimated residuals, lowered while true residuals are larger
	look          int     // size of the basis for the next Ritz values
	counted       int     // size of the basis of the last Ritz values
}

func newSearch(r *run, k *krylov, want int) *search {
	return &search{r: r, m: r.m, k: k, want: want,
		floor: math.Inf(-1), ahead: 2, strict: 1}
}

// lanczos finds the pairs by block Lanczos. If alternative is set and LOBPCG is predicted to be faster, the error is an
// [*otherMethod].
func (r *run) lanczos(ctx context.Context, alternative bool) (*Pairs, error) {
	size := basisSize(r.target, r.s.Basis)
	r.result.Method = "lanczos"
	r.result.Basis = size
	s := newSearch(r, newKrylov(r, size), r.target)
	s.alternative = alternative
	values, residuals, err := s.complete(ctx)
	if values == nil {
		return nil, err
	}
	out, finishErr := r.finish(ctx, s.k.v.slice(0, len(values)), values, residuals)
	if finishErr != nil {
		return nil, finishErr
	}
	return out, err
}

// complete finds the wanted pairs. While an eigenvalue may have more copies than a block has columns, it searches the
// complement of the pairs found. It returns eigenvalues of B in decreasing order; their vectors are the first columns of
// the basis. If residuals are unknown, they are nil.
func (s *search) complete(ctx context.Context) (values, residuals []float64, err error) {
	k := s.k
	values, residuals, err = s.find(ctx)
	again := k.ortho.replaced || isCrowded(values, residuals, s.r.norm)
	for err == nil && again {
		k.locked = len(values)
		left := s.r.dim - s.r.deflation.count() - k.locked
		if left == 0 {
			break
		}
		next := *s
		next.want = min(width, left, s.want)
		next.alternative = false
		next.candidate = false
		next.strict = 1
		next.previousWorst = 0
		floor := values[len(values)-1] + s.tolerance()
		next.floor = floor
		if k.f.cut() > floor { // the filter would hide values between floor and cut
			next.plan, k.f = plan{}, filter{sign: k.f.sign, degree: 1}
		}
		pairs, _, err := next.find(ctx)
		if errors.Is(err, ErrIterationLimit) {
			break // all have converged
		}
		if err != nil {
			return nil, nil, err
		}
		again = len(pairs) > 0 && pairs[0] > floor
		if again {
			residuals = nil
			if err := k.merge(ctx, values, pairs); err != nil {
				return nil, nil, err
			}
		}
	}
	return values, residuals, err
}

// isCrowded reports whether width consecutive values, as many as a block has columns, may be copies of one eigenvalue.
func isCrowded(values, residuals []float64, norm float64) bool {
	for i := width - 1; i < len(values); i++ {
		gap := residuals[i-width+1] + residuals[i] + 64*epsilon*norm
		if values[i-width+1]-values[i] <= gap {
			return true
		}
	}
	return false
}

func (s *search) tolerance() float64 {
	return s.r.s.Tolerance * s.r.norm
}

// find finds want pairs orthogonal to the known and the locked pairs. Their vectors follow the locked columns of the basis.
// If no eigenvalue is above the floor, find returns no pairs.
func (s *search) find(ctx context.Context) (values, residuals []float64, err error) {
	k := s.k
	if err := k.begin(ctx, true); err != nil {
		return nil, nil, err
	}
	s.probing = s.plan.products == 0
	for {
		limit := k.room()
		if s.probing && (k.f.degree < settled || s.candidate) {
			limit = min(limit, roundUp(2*s.want+firstBasis))
		}
		s.look = s.want + 2*width
		s.counted = 0
		if err := k.expand(ctx, limit, func() (bool, error) { return s.enough(ctx) }); err != nil {
			return nil, nil, err
		}
		if err := s.count(ctx); err != nil {
			return nil, nil, err
		}
		s.measure()
		s.r.report(s.m.products)
		if s.sunk() {
			return nil, nil, nil
		}
		over := s.m.products >= s.r.s.MaxProducts
		if s.converged == s.want || k.block == 0 || over {
			values, residuals, done, err := s.conclude(ctx, over)
			if done {
				return values, residuals, err
			}
		} else if err := s.restart(ctx); err != nil {
			return nil, nil, err
		}
		s.r.result.Restarts++
	}
}

// enough reports whether the basis need not grow: all pairs have converged, no eigenvalue is above the floor, or the limit
// of products is reached. Ritz values are costly. So enough computes them only after the basis has grown by a sixteenth,
// and when pairs can have converged: a block divides residuals by at most about exp(mostGrowth).
func (s *search) enough(ctx context.Context) (bool, error) {
	k := s.k
	over := s.m.products >= s.r.s.MaxProducts
	s.r.report(s.m.products)
	if over || k.size < s.look {
		return over, nil
	}
	err := s.count(ctx)
	s.look = k.size + k.size/16
	if k.f.degree < settled && s.worst > 0 {
		excess := min(s.worst/s.tolerance(), 1/s.r.s.Tolerance)
		s.look = max(s.look, k.size+int(math.Log(max(1, excess))/mostGrowth)*width)
	}
	if k.f.degree == 1 && s.worst > 0.01*s.r.norm { // hardly less than at the beginning
		s.look = k.size + k.size/2
	}
	return s.converged == s.want || s.sunk(), err
}

func (s *search) count(ctx context.Context) error {
	k := s.k
	if s.counted == k.size {
		return nil
	}
	s.counted = k.size
	if err := k.decompose(ctx); err != nil {
		return err
	}
	s.converged = 0
	s.worst = 0
	for i := range min(s.want, k.size) {
		slope := k.f.slope(k.theta[i])
		tolerance := s.strict * s.r.s.Tolerance
		if k.residual[i] <= max(tolerance, epsilon)*s.r.norm*slope { // rounding leaves no less
			s.converged++
		} else {
			s.worst = max(s.worst, k.residual[i]/slope)
		}
	}
	if s.converged < s.want && k.f.degree >= settled { // a check is cheaper than a block
		return s.verify(ctx)
	}
	return nil
}

// verify counts all wanted pairs as converged if their true residuals are within the tolerance and their values are not
// crowded. A vector that mixes vectors of nearly the same value has a true residual far below the estimate. If the last
// pairs have not converged, the cost is one product and one block of Ritz vectors.
func (s *search) verify(ctx context.Context) error {
	k := s.k
	bound := k.residual[min(s.want, k.size)-1] / k.f.steepest(k.theta[0])
	if s.want > k.size || bound > s.tolerance() {
		return nil
	}
	values := make([]float64, s.want)
	residuals := make([]float64, s.want)
	for hi := s.want; hi > 0; hi -= width {
		lo := max(0, hi-width)
		x, err := k.vectors(ctx, lo, hi)
		if err != nil {
			return err
		}
		_, projected, norms, err := k.m.project(ctx, x, k.f.sign)
		if err != nil {
			return err
		}
		if !(slices.Max(norms) <= s.tolerance()) {
			return nil
		}
		copy(values[lo:], projected)
		copy(residuals[lo:], norms)
	}
	if isCrowded(values, residuals, s.r.norm) {
		return nil
	}
	s.converged = s.want
	return nil
}

// sunk reports whether the basis shows that no eigenvalue is above the floor. A basis of fewer than six blocks does not
// show it.
func (s *search) sunk() bool {
	const blocks = 6
	k := s.k
	if math.IsInf(s.floor, -1) || k.size < blocks*width && k.block > 0 ||
		k.f.cut() > s.floor {
		return false
	}
	return k.theta[0]+k.residual[0] <= k.f.value(s.floor)
}

func (s *search) measure() {
	k := s.k
	s.r.norm = max(s.r.norm, math.Abs(k.f.lambda(k.theta[0])))
	if k.f.degree > 1 || s.plan.products > 0 {
		return
	}
	last := len(k.theta) - 1
	s.r.norm = max(s.r.norm, math.Abs(k.theta[last]))
	s.lowest = k.theta[last] - k.residual[last]
	if s.spectrum == nil {
		s.spectrum = k.rank()
	}
}

// conclude computes true residuals. If they are within the tolerance, or if over is set because the products are used up,
// the search ends: done is true, and conclude returns the pairs. Otherwise it lowers the tolerance of estimated residuals.
func (s *search) conclude(ctx context.Context,
	over bool) (values, residuals []float64, done bool, err error) {
	k := s.k
	want := min(s.want, k.size)
	if err := k.rotate(ctx, want); err != nil {
		return nil, nil, true, err
	}
	x := k.v.slice(k.locked, k.locked+want)
	h, values, residuals, err := k.m.project(ctx, x, k.f.sign)
	if err != nil {
		return nil, nil, true, err
	}
	largest := slices.Max(residuals)
	fine := largest <= s.tolerance()
	if !fine && !over && k.block > 0 && s.strict >= tightest {
		s.strict /= 10
		return nil, nil, false, nil
	}
	isFalling := slices.IsSortedFunc(values, func(a, b float64) int { return cmp.Compare(b, a) })
	if !fine || !isFalling {
		// Rounding in the filter has mixed the vectors.
		var q *mat.Dense
		if values, q, err = fallingEigen(ctx, h, nil, k.m.e.Workers); err != nil {
			return nil, nil, true, err
		}
		if err := k.m.e.multiplyTo(ctx, x, x, q.RawMatrix().Data, want); err != nil {
			return nil, nil, true, err
		}
		if _, _, residuals, err = k.m.project(ctx, x, k.f.sign); err != nil {
			return nil, nil, true, err
		}
	}
	if !fine && k.block > 0 {
		err = limitError(s.converged, s.want, s.m.products)
	}
	return values, residuals, true, err
}

// restart reduces the basis to its best vectors. If it chooses a better filter, it reduces the basis to one block of
// combinations of these. If LOBPCG is predicted to be faster, the error is an [*otherMethod].
func (s *search) restart(ctx context.Context) error {
	k := s.k
	count := 0
	for count < k.size && k.theta[count] > 1 {
		count++
	}
	p := s.choice()
	next := plan{}
	switch {
	case s.r.s.Tolerance > coarse || s.unfiltered: // a filter would take longer
	case s.plan.products == 0 && s.spectrum[0].rank > unresolved*float64(s.want),
		s.probing && s.plan.products > 0:
		next = s.refine(p)
	case s.plan.products == 0:
		next = s.first(p)
	case k.f.degree > 1 && count < s.want: // the unwanted interval ends too high
		s.ahead = min(2*s.ahead, 2*mostAhead)
		next = s.first(p)
	case s.expectedCycles() > fewCycles:
		next = s.refine(p)
		fresh := float64(k.room()-kept(s.want, k.room())) / width // blocks until the next restart
		stay := s.expectedCycles() * fresh * (float64(k.f.degree) + p.block())
		if k.f.degree < settled && !s.candidate && stay <= next.products*(1+p.block()/float64(next.degree)) {
			next = plan{}
		}
	}
	s.cycles++
	if next.products > 0 {
		if alternative := s.better(p, next); alternative != nil {
			return alternative
		}
	}
	if k.f.degree >= settled && !s.candidate && count >= s.want {
		next.degree = min(next.degree, steeper*k.f.degree+1)
		if s.cycles < patience || s.expectedCycles() <= patience {
			next = plan{}
		}
	}
	s.previousWorst = s.worst
	if next.products > 0 {
		first := s.plan.products == 0
		if first {
			s.plan = next
		}
		affordable := s.m.products+next.degree*(s.want/width+2) <= s.r.s.MaxProducts
		useless := count < s.want
		if affordable && max(next.degree, k.f.degree) >= 3 &&
			(first || useless || float64(next.degree) >= higher*float64(k.f.degree) || next.degree < k.f.degree) {
			s.plan, k.f, s.previousWorst, s.cycles = next, next.filter, 0, 0
			s.unfiltered = next.degree == 1
			s.r.result.Degree = next.degree
			return k.blend(ctx, s.want)
		}
	}
	return k.rotate(ctx, min(kept(s.want, k.room()), k.size-width))
}

func kept(want, room int) int {
	return max(want+room/8, 2*room/5)
}

// refine returns the filter whose unwanted interval ends at a Ritz value behind the wanted values. If Ritz values do not
// resolve the end of the spectrum yet, a small basis with a filter of high degree resolves it further.
func (s *search) refine(p *filterChoice) plan {
	p.spectrum = nil
	for i := range s.k.size {
		if f := s.k.f; f.degree == 1 || s.k.theta[i] > 1 {
			p.spectrum = append(p.spectrum,
				quantile{f.lambda(s.k.theta[i]), float64(i) + 0.5})
		}
	}
	index := min(s.want+max(4*width, s.want/2), len(p.spectrum))
	p.last = p.spectrum.beyond(s.want)
	s.probing = s.worst > resolved*(p.first-p.spectrum.beyond(index))
	if s.probing {
		index = min(s.want+width, index)
		p.growth = mostGrowth
	}
	return p.plan(index, index, 1)
}

func (s *search) first(p *filterChoice) plan {
	p.spectrum = s.spectrum
	s.probing = false
	step := s.want + width
	limit := mostAhead * step
	p.last = p.spectrum.beyond(s.want)
	return p.plan(s.ahead*step, limit, step)
}

func (s *search) choice() *filterChoice {
	p := &filterChoice{
		growth: leastGrowth, sign: s.k.f.sign, lowest: s.lowest,
		first: s.k.f.lambda(s.k.theta[0]), largest: math.Inf(-1),
		norm: s.r.norm, tolerance: s.r.s.Tolerance, entries: s.r.entries(),
	}
	if s.r.deflation.count() > 0 {
		p.largest = s.k.f.sign * s.r.deflation.value
	}
	return p
}

// expectedCycles returns the number of restarts until convergence at the present rate.
func (s *search) expectedCycles() float64 {
	previous := s.previousWorst
	if previous == 0 {
		previous = 0.1 * s.r.norm // about the residual of a random block
	}
	if !(s.worst < previous) {
		return math.Inf(1)
	}
	return math.Log(s.tolerance()/s.worst) / math.Log(s.worst/previous)
}

// better returns an [*otherMethod] if LOBPCG is predicted to be much faster than next, the plan of Lanczos with the filter
// of p. If the wanted pairs are far from the known
// eigenvalue it returns nil: 20 pairs of S of a scale-free graph with 131,072 nodes take 5.4 s by Lanczos, 17.6 s by LOBPCG.
func (s *search) better(p *filterChoice, next plan) error {
	const far = 0.1 // share of the width of the spectrum
	top := s.k.f.sign * s.r.deflation.value
	distance := top - p.spectrum.beyond(s.want)
	previous := s.distance
	s.distance = distance
	s.candidate = s.alternative && distance <= far*(top-s.lowest)
	if !s.candidate || math.IsInf(next.products, 1) {
		return nil
	}
	// Ritz values of an end that is not resolved are spread as squares of their numbers, and move to the end with every
	// filter. The next filters then need about 1, 3 and 10 times next.products.
	expected := next.products
	if s.probing && distance > 10*(top-p.first) && 3*distance < previous {
		expected *= 7
	}
	margin := 0.5 // plans predict too few products, the more the less the end is resolved
	if s.probing {
		margin = 0.25
	}
	if o := s.r.predict(p.spectrum, s.want); expected > margin*o.cost {
		return o
	}
	return nil
}
