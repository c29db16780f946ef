package lanczos

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/tall"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
)

// solve is one eigenproblem under way.
type solve struct {
	p        *Problem
	s        Settings
	n        int
	known    *known
	wanted   int // pairs that are not known
	krylov   krylov
	image    *basis // of a few columns
	patience int    // products, 0: no end
	stage    *stage
	worst    float64   // residual of a wanted pair, as last counted
	residual float64   // the largest true residual, as last verified
	verified []float64 // true residuals of the values found; nil if their vectors have changed since
	norm     float64   // a lower bound of the norm of A
	result   *Pairs

	at                   *resumePoint // of the search under way
	resumed              bool         // the search goes on from a kept state
	found, foundVerified []float64    // by earlier searches: values, and verified residuals
}

// Solve returns k eigenpairs, orthogonal to the known ones, by block Lanczos with
// thick restarts, on A or on a Chebyshev polynomial of A where the wanted eigenvalues are
// close together; those in the [Interior] on a polynomial of (A − σ)². Where there is
// a preconditioner and Lanczos has found fewer than two pairs when [Settings.Patience] is
// at its end LOBPCG takes over: at the lower end of the spectrum of a Laplacian with hubs,
// long paths or fringes. A map of few rows is solved as a dense matrix.
//
// That no eigenvalue was missed is certified by no Krylov method. Blocks of
// four random columns find up to four copies of a multiple eigenvalue; where
// four are found, a search in their complement follows, until it finds no more
// or has used the products that are left.
//
// The error is [ErrIterationLimit] with the best pairs, [ErrMemory],
// [ErrKnown], a [*DenseError], the context's, or that of a sweep. A k outside 1 … n is
// refused.
func (p *Problem) Solve(ctx context.Context, k int, s *Settings) (*Pairs, error) {
	switch {
	case p.Which == Interior:
		return p.interior(ctx, k, s)
	case s != nil && s.Patience < 0:
		return p.lobpcg(ctx, k, s)
	}
	w, err := p.prepare(k, s)
	if err != nil {
		return nil, err
	}
	if p.Precondition != nil {
		w.patience = w.s.Patience
	}
	if done, out, err := w.direct(ctx, w.basisSize()); done {
		return out, err
	}
	out, err := w.byLanczos(ctx)
	if !errors.Is(err, errSlow) {
		return out, err
	}
	after := w.s
	after.spent = w.krylov.products
	if out, err = p.lobpcg(ctx, k, &after); out != nil {
		out.Products += after.spent
	}
	return out, err
}

// prepare checks what is asked and makes what all methods need.
func (p *Problem) prepare(k int, s *Settings) (*solve, error) {
	n, cols := p.A.Dims()
	if n != cols || p.Known != nil && (len(p.Known.Components.Of) != n || p.Known.Weights != nil && len(p.Known.Weights) != n) {
		panic(badShape)
	}
	if err := s.validate(); err != nil {
		return nil, err
	}
	known := p.Known.vectors()
	most, wanted := n, max(0, k-known.count())
	if p.Beyond {
		most = n - known.count()
		k = min(k, max(1, most))
		wanted = k
	}
	if k < 1 || k > most {
		return nil, fmt.Errorf("lanczos: %d eigenpairs of a map with %d rows; ask for 1 to %d", k, n, most)
	}
	w := &solve{p: p, s: s.withDefaults(), n: n, known: known, wanted: wanted}
	w.result = &Pairs{Values: make([]float64, k), Residuals: make([]float64, k), Method: "dense", Degree: 1}
	w.norm = math.Abs(known.value)
	workers := sched.Workers(w.s.Workers)
	kr := &w.krylov
	kr.a, kr.seed = p.A, w.s.RNGSeed
	kr.known, kr.e = known, newEngine(n, workers)
	kr.ortho = orthonormalizer{engine: kr.e, fill: kr.fillRandom}
	if known.count() > 0 {
		kr.ortho.project = func(ctx context.Context, w columns) error { return kr.purify(ctx, kr.x, w) }
	}
	kr.r = make([]float64, width*width)
	return w, nil
}

// direct solves a problem that needs no iteration: all pairs are known, or the
// map is hardly larger than a basis of the given size.
func (w *solve) direct(ctx context.Context, size int) (done bool, out *Pairs, err error) {
	switch {
	case w.wanted == 0:
		if err = w.measureNorm(ctx); err == nil {
			w.allocateProduct()
			out, err = w.finish(ctx, nil)
		}
	case smallMap(w.n, w.n-w.known.count(), size):
		if err = w.reserve(denseBytes(w.n), denseMap); err == nil {
			out, err = w.dense(ctx)
		}
	default:
		return false, nil, nil
	}
	return true, out, err
}

// byLanczos finds the pairs. With patience it gives up, with errSlow, where fewer
// than two pairs have converged after so many products.
func (w *solve) byLanczos(ctx context.Context) (*Pairs, error) {
	size := w.basisSize()
	if err := w.reserve(w.bytes(size), basisOf(size)); err != nil {
		return nil, err
	}
	w.result.Method, w.result.Basis = "lanczos", size
	w.allocateBlocks()
	if err := w.load(size); err != nil {
		return nil, err
	}
	if !w.resumed {
		w.krylov.allocate(size + width)
	}
	values, err := w.complete(ctx)
	if values == nil {
		return nil, err
	}
	w.result.Products = w.krylov.products
	out, finishErr := w.finish(ctx, values)
	if finishErr != nil {
		return nil, finishErr
	}
	return out, err
}

func (w *solve) allocateBlocks() {
	w.allocateProduct()
	w.image = newBasis(w.n, width)
}

// allocateProduct makes a block and its image.
func (w *solve) allocateProduct() {
	w.krylov.x, w.krylov.y = sparse.NewBlock[float64](w.n, width), sparse.NewBlock[float64](w.n, width)
}

// knownBytes is the memory of k known pairs: what bounds the norm, a block and its
// image for the residuals, and the result.
func knownBytes(n, k int) int64 {
	const bound = 3 // vectors
	return int64(n) * 8 * int64(bound+2*width+sparse.Stride[float64](k))
}

// Memory lists what [Problem.Solve] takes for k pairs of a map with n rows, known of
// which are known, beside the map and the known vectors: the basis that it begins with
// and, where progress stalls, a larger one. Of settings with which LOBPCG begins, as it
// may take over with others, it lists what that takes beside the preconditioner.
func Memory(n, k, known int, which Which, s *Settings) []spec.Bytes {
	set := s.withDefaults()
	if set.Patience < 0 {
		return lobpcgMemory(n, k, known)
	}
	interior, pairs, wanted, beside := which == Interior, k, max(0, k-known), int64(0)
	if interior {
		pairs, beside = k+guards(n, k), foldedBytes(n)
		wanted = pairs
	}
	size := set.basisSize(wanted)
	bytes, what, more := lanczosBytes(n, pairs, size)+beside, basisOf(size), int64(0)
	switch {
	case wanted == 0:
		bytes, what = knownBytes(n, k), "eigenvectors"
	case interior && denseInside(n, size):
		bytes, what = denseBytes(n)+8*int64(n)*int64(n), denseMap
	case !interior && smallMap(n, n-known, size):
		bytes, what = denseBytes(n), denseMap
	default:
		if interior {
			bytes = max(bytes, unfoldBytes(n, k))
		} else if 2*size < n {
			more = doubledBytes(n, pairs, size) - bytes
		}
	}
	return []spec.Bytes{
		{What: what, Bytes: bytes, Row: RowBytes},
		{What: knownProducts, Bytes: tall.ShareMemory(n, known, width)},
		{What: "a larger basis", Bytes: max(0, more), Optional: true},
	}
}

// doubledBytes is the memory of Lanczos whose progress has stalled, while a basis of size
// vectors grows to twice as many.
func doubledBytes(n, k, size int) int64 {
	return lanczosBytes(n, k, 2*size) + partBytes(n, size+width)
}

func lobpcgMemory(n, k, known int) []spec.Bytes {
	cols := lobpcgColumns(n, max(0, k-known), known)
	return []spec.Bytes{
		{What: "blocks of LOBPCG", Bytes: lobpcgBytes(n, cols, k), Row: RowBytes},
		{What: knownProducts, Bytes: tall.ShareMemory(n, known, min(cols, slabColumns))},
	}
}

const (
	denseMap      = "the map as a dense matrix"
	knownProducts = "products with the known eigenvectors"
)

func basisOf(size int) string { return fmt.Sprintf("a basis of %d vectors", size) }

// smallMap reports whether a map with n rows is solved as a dense matrix: there
// are few, or the iteration would keep so many vectors that they come near to
// all that there are beside the known ones.
func smallMap(n, unknown, vectors int) bool { return n <= denseRows || 2*vectors >= unknown }

// basisSize returns the number of basis vectors to begin with.
func (w *solve) basisSize() int { return w.s.basisSize(w.wanted) }

func (s *Settings) basisSize(wanted int) int {
	size := s.Basis
	if size == 0 {
		size = 2*wanted + 56
	}
	// Without three blocks more than the pairs Lanczos cannot work.
	return roundUp(max(size, wanted+3*width))
}

func roundUp(columns int) int { return (columns + width - 1) / width * width }

// reserve returns an error if what is about to be made does not fit into the
// memory limit. Nothing else depends on the limit: results are to have the
// same bits with any.
func (w *solve) reserve(bytes int64, what string) error {
	plan := budget.Plan{Limit: w.s.Memory}
	if err := plan.Reserve(bytes, what); err != nil {
		return fmt.Errorf("%w: %w", ErrMemory, err)
	}
	return nil
}

// bytes returns the memory of Lanczos with a basis of size vectors, far ones
// and the result included.
func (w *solve) bytes(size int) int64 { return lanczosBytes(w.n, len(w.result.Values), size) }

func lanczosBytes(n, k, size int) int64 {
	return basisBytes(n, size+2*width) + int64(n)*8*int64(3*width+sparse.Stride[float64](k))
}

// complete finds the pairs, and searches again in their complement while there
// may be more copies of a multiple eigenvalue than a block can tell apart. The
// values are those of B, falling; the vectors are the first columns of the
// basis.
func (w *solve) complete(ctx context.Context) ([]float64, error) {
	k := &w.krylov
	var err error
	values, again := w.found, true
	if w.verified = w.foundVerified; len(w.verified) == 0 {
		w.verified = nil
	}
	if len(values) == 0 {
		values, err = w.search(ctx, w.wanted, w.patience)
		some := values
		if inside := w.inside(); inside != nil { // more copies of the last wanted one change nothing
			some = values[:min(len(values), inside.wanted-1)]
		}
		again = k.ortho.replaced || crowded(some, 2*w.residual+64*epsilon*w.norm)
	}
	for err == nil && again {
		k.locked = len(values)
		verified := w.verified
		w.found, w.foundVerified = values, verified
		left := w.n - w.known.count() - k.locked
		if left == 0 {
			break
		}
		var more []float64
		more, err = w.search(ctx, min(width, left, w.wanted), 0)
		w.verified = verified
		if errors.Is(err, ErrIterationLimit) {
			return values, nil // all found so far have converged
		}
		if err != nil {
			return nil, err
		}
		again = more[0] > values[len(values)-1]+w.s.Tolerance*w.norm
		if again {
			if mergeErr := w.merge(ctx, values, more); mergeErr != nil {
				return nil, mergeErr
			}
		}
	}
	return values, err
}

// crowded reports whether as many values as a block has columns lie together.
func crowded(values []float64, gap float64) bool {
	for i := width - 1; i < len(values); i++ {
		if values[i-width+1]-values[i] <= gap {
			return true
		}
	}
	return false
}

// merge keeps the largest of values and more, and their vectors.
func (w *solve) merge(ctx context.Context, values, more []float64) error {
	k, keep := &w.krylov, len(values)
	all := append(append([]float64(nil), values...), more...)
	w.verified = nil
	q := make([]float64, len(all)*keep)
	i, j := 0, keep
	for at := range keep {
		from := i
		if j < len(all) && all[j] > all[i] {
			from = j
			j++
		} else {
			i++
		}
		values[at] = all[from]
		q[from*keep+at] = 1
	}
	return k.e.multiplyTo(ctx, k.v.slice(0, keep), k.v.slice(0, len(all)), q, keep)
}

// finish puts the known pairs before those found, whose values are those of B
// and whose vectors are the first columns of the basis, and computes the
// residuals that have not been verified.
func (w *solve) finish(ctx context.Context, values []float64) (*Pairs, error) {
	k, out := &w.krylov, w.result
	known := min(w.known.count(), len(out.Values))
	if w.p.Beyond {
		known = 0
	}
	for len(values) > 0 && w.omits(values[len(values)-1]) {
		values = values[:len(values)-1]
	}
	count := known + len(values)
	out.Known = known
	out.Values, out.Residuals = out.Values[:count], out.Residuals[:count]
	sign := w.p.Which.sign()
	if w.known.count() > 0 && len(values) > 0 && values[0] > sign*w.known.value+w.s.Tolerance*w.norm {
		return nil, fmt.Errorf("%w: %.9g was found beyond %.9g", ErrKnown, sign*values[0], w.known.value)
	}
	out.Norm = w.norm
	if count == 0 {
		return out, nil
	}
	out.Vectors = sparse.NewBlock[float64](w.n, count)
	for j := range known {
		out.Values[j] = w.known.value
		w.known.vectorTo(out.Vectors, j, j)
	}
	if len(values) > 0 {
		if err := k.e.setBlock(ctx, out.Vectors.Columns(known, count), k.v.slice(0, len(values))); err != nil {
			return nil, err
		}
	}
	for j, v := range values {
		out.Values[known+j] = sign * v
		w.norm = max(w.norm, math.Abs(v))
	}
	orient(out.Vectors)
	unverified := count
	if w.verified != nil {
		unverified = known
		copy(out.Residuals[known:], w.verified)
	}
	for at := 0; at < unverified; at += width {
		to := min(unverified, at+width)
		err := w.residuals(ctx, out.Residuals[at:to], out.Values[at:to], out.Vectors.Columns(at, to))
		if err != nil {
			return nil, err
		}
	}
	out.Norm = w.norm
	for _, r := range out.Residuals {
		if r <= w.s.Tolerance*w.norm {
			out.Converged++
		}
	}
	w.rescale()
	return out, nil
}

// omits reports whether a pair is left out since its eigenvalue is not positive beyond
// rounding, and notes the largest such value.
func (w *solve) omits(value float64) bool {
	if !w.p.Positive || value > roundingSteps*float64(w.n)*epsilon*w.norm {
		return false
	}
	w.result.Omitted = max(w.result.Omitted, value)
	return true
}

// roundingSteps times n·ε·‖A‖ is what rounding may make of the eigenvalue 0; the most that
// was seen on graphs of 3 to 3000 nodes is 1.5 times that.
const roundingSteps = 4

// rescale divides the rows of the vectors by Scale.
func (w *solve) rescale() {
	x := w.result.Vectors
	for i, s := range w.p.Scale {
		row := x.Row(i)
		for j := range row {
			row[j] /= s
		}
	}
	if w.p.Scale != nil {
		orient(x)
	}
}

// orient gives each column the sign that makes the entry of largest size
// positive, the first among equals to 1e-9.
func orient(x *sparse.Block[float64]) {
	largest := make([]float64, x.Cols)
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			largest[j] = max(largest[j], math.Abs(v))
		}
	}
	sign := make([]float64, x.Cols)
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			if sign[j] == 0 && math.Abs(v) >= largest[j]*(1-1e-9) {
				sign[j] = math.Copysign(1, v)
			}
		}
	}
	for i := range x.Rows {
		row := x.Row(i)
		for j := range row {
			row[j] *= sign[j]
		}
	}
}

// residuals stores ‖A·v − λ·v‖ for up to width columns. Cost: one sweep.
func (w *solve) residuals(ctx context.Context, dst, values []float64, vectors *sparse.Block[float64]) error {
	k := &w.krylov
	x, y := k.x, k.y
	err := k.e.eachRow(ctx, 0, func(i int, _ []float64) {
		row := x.Row(i)
		clear(row[copy(row, vectors.Row(i)):])
	})
	if err != nil {
		return err
	}
	if err := w.p.A.StepTo(ctx, y, x, sparse.Step[float64]{Alpha: 1}); err != nil {
		return err
	}
	w.result.Products++
	err = k.e.eachRow(ctx, len(values), func(i int, sums []float64) {
		image, v := y.Row(i), x.Row(i)
		for j, lambda := range values {
			r := image[j] - float64(lambda*v[j])
			sums[j] += float64(r * r)
		}
	})
	k.e.normsTo(dst)
	return err
}

// Bytes returns the memory of [Problem.Solve] for k pairs of a map with n rows beside the map
// and the known vectors.
func Bytes(n, k, known int, which Which) int64 { return spec.Sum(Memory(n, k, known, which, nil)) }

// FactoredBytes returns the memory where LOBPCG takes over, beside the preconditioner.
func FactoredBytes(n, k, known int) int64 { return spec.Sum(lobpcgMemory(n, k, known)) }
