package lanczos

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/internal/checkpoint"
	"github.com/heatwalk/heatwalk/sparse"
)

// errSlow says that Lanczos has lost its patience.
var errSlow = errors.New("lanczos: progress is slow")

const (
	// firstBasis is the size, beyond two vectors for each wanted pair, of the
	// basis that is built on the map itself; its Ritz values place the filter.
	firstBasis = 12

	// A filter makes cosh g of the last wanted eigenvalue, with a growth g between
	// these, and with no lower degree than need be: there restarts lose too much of
	// what was found.
	leastGrowth, mostGrowth = 1.5, 4.0
	leastDegree, maxDegree  = 5, 1023

	// A search takes blocks in proportion to 1 + blockGrowth/g, and to orthogonalise
	// one takes as long as a product with blockEntries in each row, where rowEntries
	// are what a row takes by itself: as measured.
	blockGrowth, blockEntries, rowEntries = 4.3, 145, 8

	// sparseEntries is how many there are in a row of a map that does not tell.
	sparseEntries = 8

	// reach is the number of basis vectors that a filter is worth besides those
	// for the eigenvalues above the unwanted ones.
	reach = 4

	// mostAhead is how many times as many eigenvalues as are wanted a filter may
	// leave above the unwanted ones.
	mostAhead = 16

	// stallLimit is the number of restarts without a new pair after which the
	// basis is doubled.
	stallLimit = 5

	// guardSlack is how many times as large residuals of guards may be.
	guardSlack = 100

	// tightest is how much a true residual may lag behind its estimate.
	tightest = 1e-4
)

// search finds want pairs orthogonal to the known and the locked ones. The
// values are those of B, falling; the vectors follow the locked ones.
func (w *solve) search(ctx context.Context, want, patience int) ([]float64, error) {
	k, resumed := &w.krylov, w.resumed
	if w.resumed = false; !resumed {
		k.f = filter{sign: w.p.Which.sign(), degree: 1}
		w.stage = nil
		if err := k.begin(ctx, true); err != nil {
			return nil, err
		}
		w.at = &resumePoint{first: true, strict: 1}
	}
	at := w.at
	tell := func() { w.report(k.products, max(k.locked, at.converged)) }
	enough := func() (bool, error) {
		over := k.products >= w.s.MaxProducts
		tell()
		if at.first || k.size < want+2*width || w.inside() != nil && !over && k.size < at.look {
			return false, nil // to look takes longer in the interior than a block
		}
		at.look = k.size + k.size/8
		count, err := w.count(ctx, want, at.strict)
		return count == want || over, err
	}
	added := func() (bool, error) {
		err := w.save(byLanczosMethod, func(s *checkpoint.State) { w.move(s, w.basisSize()) })
		if err != nil {
			return false, err
		}
		return enough()
	}
	for {
		done, err := false, error(nil)
		if resumed {
			resumed = false
			done, err = enough()
		}
		if err == nil && !done {
			most := k.room()
			if at.first {
				most = min(most, roundUp(2*want+firstBasis))
			}
			err = k.expand(ctx, most, added)
		}
		if err == nil {
			at.converged, err = w.count(ctx, want, at.strict)
		}
		if err != nil {
			return nil, err
		}
		w.measure()
		tell()
		over := k.products >= w.s.MaxProducts
		rotated := at.converged == want || k.block == 0 || over
		if rotated {
			values, done, err := w.conclude(ctx, want, over)
			if done {
				return values, err
			}
		}
		if err := w.goOn(ctx, want, patience, rotated); err != nil {
			return nil, err
		}
	}
}

// conclude verifies the pairs and reports whether the search ends with them: they are
// exact enough, the products are over, or there is no way to better ones. Else estimates
// of residuals are to reach a smaller part of the tolerance from then on.
func (w *solve) conclude(ctx context.Context, want int, over bool) (values []float64, done bool, err error) {
	k, at := &w.krylov, w.at
	values, h, err := w.verify(ctx, min(want, k.size))
	if err != nil {
		return nil, true, err
	}
	fine := w.residual <= w.s.Tolerance*w.norm
	if !fine && !over && k.block > 0 && at.strict >= tightest {
		w.verified = nil
		at.strict /= 10
		return nil, false, nil
	}
	if !fine || !falling(values) {
		values, err = w.separate(ctx, h)
	}
	switch {
	case err != nil || fine || k.block == 0:
	case !over:
		err = fmt.Errorf("%w: rounding leaves residuals of %.1e after %d products", ErrIterationLimit, w.residual, k.products)
	default:
		err = fmt.Errorf("%w: %d of %d pairs after %d products", ErrIterationLimit, at.converged, want, k.products)
	}
	return values, true, err
}

// goOn restarts the search, unless its basis has been rotated already. The error is
// errSlow where fewer than two pairs have converged and the products that are foreseen
// exceed the patience, 0 for none.
func (w *solve) goOn(ctx context.Context, want, patience int, rotated bool) error {
	k, at := &w.krylov, w.at
	impatient := patience > 0 && at.converged < 2
	slow := func(ahead float64) bool {
		return impatient && float64(k.products)+ahead > float64(patience)
	}
	if slow(w.foreseen()) {
		return errSlow
	}
	if !rotated {
		if err := w.restart(ctx, want, at.converged, impatient); err != nil {
			return err
		}
	}
	// So many blocks are usually enough with a filter that grows fast.
	degree := float64(k.f.degree)
	if k.f.degree > 1 {
		degree = max(degree, mostGrowth/w.stage.rate)
	}
	if slow(degree * float64(min(want/width+5, (k.room()-k.size)/width))) {
		return errSlow
	}
	w.result.Restarts++
	at.first, at.look = false, want+2*width
	return nil
}

// measure notes what the Ritz values say about the ends of the spectrum.
func (w *solve) measure() {
	k := &w.krylov
	w.norm = max(w.norm, math.Abs(k.f.lambda(k.theta[0])))
	if last := len(k.theta) - 1; k.f.degree == 1 && w.stage == nil {
		w.norm = max(w.norm, math.Abs(k.theta[last]))
		lowest := k.theta[last] - k.residual[last]
		w.stage = &stage{lowest: lowest, bottom: lowest, spectrum: k.rank(), ahead: 2}
		if inside := w.inside(); inside != nil {
			w.stage.spectrum = inside.ranks
		}
		w.findFar()
	}
}

// inside returns the folded map of a search in the interior, nil of another.
func (w *solve) inside() *folded {
	f, _ := w.p.A.(*folded)
	return f
}

// certain returns how many of so many pairs are to have small residuals: in the interior
// not the guards, which may be larger by guardSlack.
func (w *solve) certain(want int) int {
	if f := w.inside(); f != nil {
		return min(want, f.wanted)
	}
	return want
}

// stage is what a search knows between restarts.
type stage struct {
	lowest  float64 // about the lower end of the spectrum of B without far eigenvalues
	bottom  float64 // about the lower end of the whole spectrum of B
	far     int     // number of far eigenvalues
	most    int     // the most pairs that have converged at any restart
	stalled int     // restarts since most has grown
	before  float64 // residual of a wanted pair at the last restart; 0: that had another filter
	since   int     // products until the last restart

	spectrum []ranked // as the first Ritz values tell, or in the interior [folded.ranks]
	ahead    int      // values above the unwanted ones, in multiples of the wanted number
	above    int      // eigenvalues that the filter leaves above the unwanted ones, as foreseen
	planned  bool     // a filter has been planned from the spectrum, whether one paid or not
	rate     float64  // growth of the last wanted eigenvalue with a degree of the planned filter
}

// foreseen returns about how many products are still to do if residuals go on
// falling by the same factor from restart to restart; 0: it cannot tell.
func (w *solve) foreseen() (products float64) {
	st := w.stage
	if goal := w.s.Tolerance * w.norm; st.before > 0 && w.worst > goal {
		restarts := math.Inf(1)
		if w.worst < st.before {
			restarts = math.Log(goal/w.worst) / math.Log(w.worst/st.before)
		}
		products = restarts * float64(w.krylov.products-st.since)
	}
	st.before, st.since = w.worst, w.krylov.products
	return products
}

// count returns how many of the wanted pairs have small residuals: strict
// times the tolerance.
func (w *solve) count(ctx context.Context, want int, strict float64) (count int, err error) {
	k := &w.krylov
	if err := k.decompose(ctx); err != nil {
		return 0, err
	}
	w.worst = 0
	for i := range min(want, k.size) {
		slope := k.f.slope(k.theta[i])
		tolerance := strict * w.s.Tolerance
		if i >= w.certain(want) {
			tolerance *= guardSlack
		}
		if k.residual[i] <= max(tolerance, epsilon)*w.norm*slope { // rounding leaves no less
			count++
		} else {
			w.worst = max(w.worst, k.residual[i]/slope)
		}
	}
	return count, nil
}

// report shows the progress: of the pairs that are not known so many have converged.
func (w *solve) report(products, converged int) {
	if w.s.Progress == nil {
		return
	}
	wanted := len(w.result.Values)
	p := Progress{
		Products:  products,
		Converged: wanted - w.wanted + converged,
		Wanted:    wanted,
		Residual:  w.worst / max(w.norm, math.SmallestNonzeroFloat64),
	}
	p.expect()
	w.s.Progress(p)
}

// restart shrinks the basis to its best vectors, with a better filter where one is
// at hand, and a basis twice as large, once, where progress has stalled, but not if
// LOBPCG is next, nor in the interior.
func (w *solve) restart(ctx context.Context, want, converged int, impatient bool) error {
	k, st := &w.krylov, w.stage
	if st.stalled++; converged > st.most {
		st.most, st.stalled = converged, 0
	}
	if st.stalled >= stallLimit && w.result.Basis == w.basisSize() && !impatient && w.inside() == nil {
		st.stalled = 0
		size := k.v.cols - width
		if 2*size < w.n {
			bytes := doubledBytes(w.n, len(w.result.Values), size)
			if err := w.reserve(bytes, fmt.Sprintf("a basis of %d vectors, since %d make no progress", 2*size, size)); err != nil {
				return err
			}
			k.allocate(2*size + width)
			w.result.Basis = 2 * size
		}
	}
	if k.f.degree > 1 {
		w.judge(want)
	}
	if !st.planned {
		st.planned = true
		f := w.plan(want)
		affordable := w.inside() != nil || k.products+f.degree*(want/width+2) <= w.s.MaxProducts
		if affordable && (f.degree >= 3 || k.f.degree >= 3) {
			if err := w.setFar(ctx, &f); err != nil {
				return err
			}
			k.f, st.before = f, 0
			w.result.Degree = f.degree
			return k.blend(ctx, want)
		}
	}
	keep := min(max(want+k.room()/8, 2*k.room()/5), k.size-width)
	return k.rotate(ctx, keep)
}

// judge has another filter planned where this one leaves too few eigenvalues above the
// unwanted interval, or in the interior far more than were foreseen.
func (w *solve) judge(want int) {
	k, st := &w.krylov, w.stage
	above := 0
	for above < k.size && k.theta[above] > 1 {
		above++
	}
	inside := w.inside()
	switch {
	case above >= want && (inside == nil || st.most > 0 || 2*above < 3*st.above):
		return
	case inside == nil:
		st.ahead *= 2
	default:
		for i := range st.spectrum {
			st.spectrum[i].rank *= float64(max(above, st.above/2)) / float64(st.above)
		}
	}
	st.planned = false
}

// plan returns the filter for want pairs. The unwanted interval ends where a
// multiple of as many eigenvalues lie beyond it: where a gap is close by, the filter
// grows fast for the wanted ones, but the basis has to hold all that lie beyond.
func (w *solve) plan(want int) filter {
	k, st := &w.krylov, w.stage
	f := filter{sign: k.f.sign, degree: 1}
	first, last := k.f.lambda(k.theta[0]), w.beyond(float64(want))
	mostAt, longest := mostAhead*(want+width), float64(maxDegree)
	if w.inside() != nil {
		first, mostAt, longest = w.beyond(0.5), k.room()/2, math.Inf(1)
	}
	cost := math.Inf(1)
	for at := st.ahead * (want + width); at <= mostAt; at += want + width {
		cut := w.beyond(float64(at))
		half, centre := (cut-st.lowest)/2, (cut+st.lowest)/2
		rate := math.Acosh((last - centre) / half)
		if !(half > 0) || !(mostGrowth/rate <= longest) || (reach+float64(at))/rate >= cost {
			continue
		}
		cost, st.rate, st.above = (reach+float64(at))/rate, rate, at
		// Rounding of the largest value must not hide the residual of the last.
		small := 2e-3 * w.s.Tolerance
		share := max(1, w.norm/(last-st.lowest))
		ahead := func(value float64) float64 { return max(0, math.Acosh((value-centre)/half)-rate) }
		allowed := math.Log(small*share/epsilon) / ahead(first)
		if w.known.count() > 0 { // nor what is left of known vectors, which are removed behind the filter
			allowed = min(allowed, math.Log(small/(epsilon*epsilon))/ahead(max(first, f.sign*w.known.value)))
		}
		f.half, f.centre, f.degree = half, centre, 1
		if most := min(mostGrowth/rate, allowed); most >= 3 {
			block := blockEntries / (w.entries() + rowEntries) // in products
			degree := max(leastDegree, leastGrowth/rate, math.Sqrt(blockGrowth*block/rate))
			f.degree = int(min(degree, most-1))/2*2 + 1
		}
	}
	return f
}

// entries returns how many entries a row of the map has on average.
func (w *solve) entries() float64 {
	if w.p.Entries > 0 {
		return float64(w.p.Entries) / float64(w.n)
	}
	if o, ok := w.p.A.(*sparse.Operator[float64]); ok {
		return float64(o.A.NNZ()) / float64(w.n)
	}
	return sparseEntries
}

// ranked is a Ritz value and about the number of eigenvalues beyond it.
type ranked struct{ value, rank float64 }

// rank estimates how many eigenvalues lie beyond each Ritz value of a basis
// that began with random columns: the parts that those have of an eigenvector
// are alike, so that the squares of what they have of each Ritz vector add up
// to its share in the spectrum (Lin, Saad and Yang 2016).
func (k *krylov) rank() []ranked {
	all := make([]ranked, k.size)
	before := 0.0
	for i, theta := range k.theta {
		share := 0.0
		for j := range width {
			share += k.ritz.At(j, i) * k.ritz.At(j, i)
		}
		share *= float64(k.e.rows) / width
		all[i] = ranked{theta, before + share/2}
		before += share
	}
	return all
}

// beyond returns the eigenvalue of B beyond which about so many lie.
func (w *solve) beyond(count float64) float64 {
	value := beyond(w.stage.spectrum, count)
	if w.inside() != nil {
		return -value * value
	}
	return value
}

// beyond returns the value beyond which about so many eigenvalues lie.
func beyond(spectrum []ranked, count float64) float64 {
	i := sort.Search(len(spectrum), func(i int) bool { return spectrum[i].rank >= count })
	if i == 0 || i == len(spectrum) {
		return spectrum[min(i, len(spectrum)-1)].value
	}
	a, b := spectrum[i-1], spectrum[i]
	return b.value + (a.value-b.value)*(b.rank-count)/(b.rank-a.rank)
}

const epsilon = 0x1p-52

// verify rotates the basis to its best vectors, and notes the true residuals of
// the first want of them, X. It returns their Rayleigh quotients with B and XᵀBX.
func (w *solve) verify(ctx context.Context, want int) ([]float64, *mat.SymDense, error) {
	k := &w.krylov
	keep := want
	if k.block > 0 {
		keep = max(want, min(want+k.room()/8, k.size-width))
	}
	if err := k.rotate(ctx, keep); err != nil {
		return nil, nil, err
	}
	x := k.v.slice(k.locked, k.locked+want)
	values := make([]float64, want)
	w.verified = make([]float64, want)
	h, err := w.project(ctx, x, k.f.sign, func(at int, some, image columns, gram []float64) error {
		k.products++
		cols := some.width()
		thetas, squares := values[at:at+cols], w.verified[at:at+cols]
		for j := range thetas {
			thetas[j] = gram[(at+j)*cols+j]
		}
		err := k.e.Each(ctx, cols, func(_, chunk int, sums []float64) {
			v, av := some.panel(chunk), image.panel(chunk)
			for j, theta := range thetas {
				p, q := column(v, j, cols), column(av, j, cols)
				for r := range segment {
					d := q[r] - float64(theta*p[r])
					sums[j] += float64(d * d)
				}
			}
		})
		k.e.normsTo(squares)
		return err
	})
	w.residual = slices.Max(w.verified[:w.certain(want)])
	return values, h, err
}

// separate makes the first vectors of the basis, with XᵀBX, those of Rayleigh and
// Ritz for B itself: where the rounding of a filter has mixed them, they differ from
// those for the filter's map. Their residuals are not known then.
func (w *solve) separate(ctx context.Context, h *mat.SymDense) ([]float64, error) {
	k := &w.krylov
	values, q, err := fallingEigen(ctx, h, nil, k.e.Workers)
	if err != nil {
		return nil, err
	}
	w.verified = nil
	x := k.v.slice(k.locked, k.locked+len(values))
	return values, k.e.multiplyTo(ctx, x, x, q.RawMatrix().Data, len(values))
}

// falling reports whether no value is larger than the one before.
func falling(values []float64) bool {
	return slices.IsSortedFunc(values, func(a, b float64) int { return cmp.Compare(b, a) })
}

// project returns Xᵀ(sign·A)X for the columns x of the basis. After each product
// it calls then with up to width columns of X from at on, their images and the
// products of X with these.
func (w *solve) project(ctx context.Context, x columns, sign float64, then func(at int, some, image columns, gram []float64) error) (*mat.SymDense, error) {
	k := &w.krylov
	n := x.width()
	h := mat.NewSymDense(n, nil)
	all := make([]float64, n*width)
	for at := 0; at < n; at += width {
		cols := min(width, n-at)
		some, image, gram := k.v.slice(x.lo+at, x.lo+at+cols), w.image.slice(0, cols), all[:n*cols]
		if err := k.e.setBlock(ctx, k.x, some); err != nil {
			return nil, err
		}
		if err := k.a.StepTo(ctx, k.y, k.x, sparse.Step[float64]{Alpha: sign}); err != nil {
			return nil, err
		}
		if err := k.e.setColumns(ctx, image, k.y); err != nil {
			return nil, err
		}
		if err := k.e.gramTo(ctx, gram, x, image); err != nil {
			return nil, err
		}
		if !finite(gram) {
			return nil, ErrNotFinite
		}
		for j := range cols {
			for i := range at + j + 1 {
				h.SetSym(i, at+j, gram[i*cols+j])
			}
		}
		if err := then(at, some, image, gram); err != nil {
			return nil, err
		}
	}
	return h, nil
}
