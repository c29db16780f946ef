package lanczos

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/internal/tall"
	"github.com/heatwalk/heatwalk/sparse"
)

// folded is the map
//
//	−(A − σ)²,
//
// whose largest eigenvalues belong to those of A that lie nearest to σ. With the
// filter of Lanczos on top of it, products are with a polynomial of A that has
// its peak at σ: no factor of A − σ is needed.
type folded struct {
	a      sparse.Applier[float64]
	near   float64
	wanted int      // pairs of A
	ranks  []ranked // of −δ for eigenvalues of A at a distance δ from σ, about
	e      *engine
	image  *sparse.Block[float64] // (A − σ)·X
}

func (f *folded) Dims() (r, c int) { return f.a.Dims() }

// StepTo is that of [sparse.Applier]. Cost: two sweeps.
func (f *folded) StepTo(ctx context.Context, dst, x *sparse.Block[float64], s sparse.Step[float64]) error {
	if f.image == nil || f.image.Cols != x.Cols {
		f.image = sparse.NewBlock[float64](x.Rows, x.Cols)
	}
	if err := f.a.StepTo(ctx, f.image, x, sparse.Step[float64]{Alpha: 1, Beta: -f.near}); err != nil {
		return err
	}
	last := sparse.Step[float64]{Alpha: -s.Alpha, Beta: s.Alpha * f.near, Visit: s.Visit}
	if s.Beta != 0 || s.Delta != 0 {
		err := f.e.eachRow(ctx, 0, func(i int, _ []float64) {
			to := dst.Row(i)
			for j, v := range x.Row(i) {
				sum := float64(s.Beta * v)
				if s.Delta != 0 {
					sum += float64(s.Delta * s.Prev.Row(i)[j])
				}
				to[j] = sum
			}
		})
		if err != nil {
			return err
		}
		last.Delta, last.Prev = 1, dst
	}
	return f.a.StepTo(ctx, dst, f.image, last)
}

// leastFolded is the least tolerance of the folded map: rounding leaves no less.
const leastFolded = 1e-14

// denseInterior is the number of rows up to which pairs in the interior are looked for
// among all: half a minute at the most.
const denseInterior = 3000

func denseInside(n, vectors int) bool { return n <= denseInterior || smallMap(n, n, vectors) }

// guards is the number of pairs found beside k wanted ones: a pair at σ + δ and
// one at σ − δ are one double eigenvalue of the folded map, of which both copies
// are needed to tell them apart.
func guards(n, k int) int { return min(n, k+max(width, k/4)) - k }

// interior returns the k pairs nearest to p.Near.
func (p *Problem) interior(ctx context.Context, k int, s *Settings) (*Pairs, error) {
	w, err := (&Problem{A: p.A, Scale: p.Scale}).prepare(k, s)
	if err != nil {
		return nil, err
	}
	if denseInside(w.n, w.s.basisSize(k+guards(w.n, k))) {
		return w.interiorDense(ctx, p.Near)
	}
	return w.interiorFolded(ctx, p.Near, s == nil || s.MaxProducts == 0)
}

// interiorFolded finds the pairs nearest to σ by those of the folded map. What residuals
// of these have lies far from σ, where the filter is small: one of r is about r/reach of A.
// Where that is too much the folded map is solved again, with a smaller tolerance. The
// usual limit of products is larger on a small map.
func (w *solve) interiorFolded(ctx context.Context, near float64, usual bool) (*Pairs, error) {
	n, k := w.n, len(w.result.Values)
	pairs := k + guards(n, k)
	if usual {
		w.s.MaxProducts = max(w.s.MaxProducts, int(interiorWork/(w.entries()+rowEntries)/float64(n)))
	}
	at := new(pass)
	if err := at.load(w); err != nil {
		return nil, err
	}
	if at.ranks == nil {
		spread, err := w.density(ctx)
		if err != nil {
			return nil, err
		}
		at.ranks, at.spent = spread.around(near), spread.sweeps
		reach := at.reach()
		if err := refuse(at.ranks, pairs, near, reach, w.s.MaxProducts); err != nil {
			return nil, err
		}
		at.tolerance = min(0.1, 0.3*w.s.Tolerance*w.norm/reach)
	}

	inner := at.inner(w)
	inner.Patience = 0 // it is that of the other ends
	if inner.Memory > 0 {
		inner.Memory = max(1, inner.Memory-foldedBytes(n))
	}
	if err := w.reserve(unfoldBytes(n, k), fmt.Sprintf("%d vectors", pairs)); err != nil {
		return nil, err
	}
	if s := w.s.Progress; s != nil {
		inner.Progress = func(p Progress) {
			p.Products, p.Wanted = at.spent+2*p.Products, k
			p.Converged = min(k, p.Converged)
			p.expect()
			s(p)
		}
	}
	fold := &Problem{A: &folded{a: w.p.A, near: near, wanted: k, ranks: at.ranks, e: w.krylov.e}}
	for ; ; at.tolerance /= 100 {
		at.tolerance = max(leastFolded, at.tolerance)
		inner.Tolerance, inner.MaxProducts = at.tolerance, max(1, (w.s.MaxProducts-at.spent)/2)
		found, err := fold.Solve(ctx, pairs, &inner)
		if err != nil && (found == nil || !errors.Is(err, ErrIterationLimit)) {
			return nil, err
		}
		inner.Resume = nil // another pass begins anew
		at.spent += 2 * found.Products
		w.result.Method, w.result.Products = "lanczos", at.spent
		w.result.Restarts += found.Restarts
		w.result.Basis, w.result.Degree = found.Basis, 2*found.Degree
		out, finishErr := w.unfold(ctx, found.Vectors, near, false)
		if finishErr == nil && out.Converged < k && err == nil {
			out, finishErr = w.unfold(ctx, found.Vectors, near, true)
		}
		if finishErr != nil {
			return nil, finishErr
		}
		at.spent = out.Products
		if out.Converged == k {
			return out, nil
		}
		if err != nil || at.tolerance == leastFolded || at.spent >= w.s.MaxProducts {
			return out, fmt.Errorf("%w: %d of %d pairs after %d products", ErrIterationLimit, out.Converged, k, out.Products)
		}
	}
}

const (
	// interiorWork is how many entries, rows being rowEntries each, the products of half
	// a minute visit.
	interiorWork = 3e10

	// densitySteps is how many steps tell how dense eigenvalues lie: gaps of a hundredth
	// of the spectrum are seen then.
	densitySteps = 400

	// productsOfDensity is how many products of A the pairs nearest to σ take for each
	// eigenvalue that would lie within reach of σ if they were as dense everywhere, at
	// least: a filter's degree falls, and the number of blocks grows, with the number
	// of eigenvalues that it leaves. Seen were 1.7 to 3.
	productsOfDensity = 1.5
)

// refuse returns a [*DenseError] if the pairs nearest to σ take more products than are
// allowed.
func refuse(ranks []ranked, pairs int, near, reach float64, limit int) error {
	density := float64(pairs) / 2 / -beyond(ranks, float64(pairs))
	least := productsOfDensity * density * reach
	if least <= float64(limit) {
		return nil
	}
	within := math.Pow(10, math.Floor(math.Log10(100/density)))
	digits := math.Pow(10, max(0, math.Floor(math.Log10(least))-1)) // two of them
	return &DenseError{near, within, 2 * within * density, int(math.Floor(min(least, 1e15)/digits) * digits), limit}
}

// foldedBytes is the memory of the folded map.
func foldedBytes(n int) int64 { return tall.BlockBytes[float64](n, width) }

// unfoldBytes is the memory of making k pairs of those of the folded problem, these
// included.
func unfoldBytes(n, k int) int64 {
	pairs := k + guards(n, k)
	return basisBytes(n, pairs+width) + int64(n)*8*int64(3*width+sparse.Stride[float64](k)+sparse.Stride[float64](pairs))
}

// unfold makes the vectors x, which span a space that A maps to itself, those of
// A by Rayleigh and Ritz, and returns the pairs nearest to σ. Of eigenvalues of so many
// copies at one distance on both sides of σ that x has some of them alone, A does not map
// the space to itself: then vectors are to be parted.
func (w *solve) unfold(ctx context.Context, x *sparse.Block[float64], near float64, part bool) (*Pairs, error) {
	w.result.Converged = 0
	w.allocateBlocks()
	k := &w.krylov
	k.v = newBasis(w.n, x.Cols)
	all := k.v.slice(0, x.Cols)
	if err := k.e.setColumns(ctx, all, x); err != nil {
		return nil, err
	}
	values, q, err := w.ritz(ctx, all)
	if err == nil && part {
		if err = w.part(ctx, all, values, q, near); err == nil {
			values, q, err = w.ritz(ctx, all)
		}
	}
	if err != nil {
		return nil, err
	}
	nearest := nearestTo(values, near)[:len(w.result.Values)]
	chosen, some := make([]float64, len(nearest)), make([]float64, x.Cols*len(nearest))
	for to, from := range nearest {
		chosen[to] = values[from]
		for i := range x.Cols {
			some[i*len(nearest)+to] = q.At(i, from)
		}
	}
	if err := k.e.multiplyTo(ctx, all, all, some, len(nearest)); err != nil {
		return nil, err
	}
	out, err := w.finish(ctx, chosen)
	k.v, k.x, k.y, w.image = nil, nil, nil, nil // another attempt needs the room
	return out, err
}

// ritz returns the Ritz values of A in the space of the columns v, and the vectors among
// these.
func (w *solve) ritz(ctx context.Context, v columns) ([]float64, *mat.Dense, error) {
	h, err := w.project(ctx, v, 1, func(int, columns, columns, []float64) error {
		w.result.Products++
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return fallingEigen(ctx, h, nil, w.krylov.e.Workers)
}

// part makes the columns v their Ritz vectors, and takes from each with a value θ what it
// has of the other side of σ, unless it is an eigenvector already: of a v with
// (A − σ)²·v = δ²·v there remains
//
//	(A − σ ± δ)·v / √(2δ² + 2δ|θ − σ|),  δ² = (θ − σ)² + ‖A·v − θ·v‖²,
//
// an eigenvector for σ ± δ, with the sign of θ − σ. Where δ is the same for all they are
// orthogonal, as the v are and A makes none of another in their space; else nearly.
func (w *solve) part(ctx context.Context, v columns, values []float64, q *mat.Dense, near float64) error {
	k := &w.krylov
	if err := k.e.multiplyTo(ctx, v, v, q.RawMatrix().Data, v.width()); err != nil {
		return err
	}
	residuals, c := make([]float64, width), make([]float64, v.width()*width)
	for at := 0; at < v.width(); at += width {
		some := v.slice(v.lo+at, min(v.lo+at+width, v.hi))
		if err := k.e.setBlock(ctx, k.x, some); err != nil {
			return err
		}
		theta := values[at:][:some.width()]
		if err := w.residuals(ctx, residuals[:len(theta)], theta, k.x); err != nil {
			return err
		}
		shift, length := make([]float64, len(theta)), make([]float64, len(theta))
		for j, r := range residuals[:len(theta)] {
			if r <= w.s.Tolerance*w.norm {
				continue
			}
			delta := math.Hypot(theta[j]-near, r)
			length[j] = math.Sqrt(2 * delta * (delta + math.Abs(theta[j]-near)))
			shift[j] = math.Copysign(delta, theta[j]-near) - near
		}
		err := k.e.eachRow(ctx, 0, func(i int, _ []float64) {
			to, image := k.x.Row(i), k.y.Row(i)
			for j, l := range length {
				if l > 0 {
					to[j] = (image[j] + float64(shift[j]*to[j])) / l
				}
			}
		})
		if err != nil {
			return err
		}
		if err := k.e.setColumns(ctx, some, k.x); err != nil {
			return err
		}
		k.ortho.longest = 0
		if _, err := k.ortho.run(ctx, v.slice(v.lo, some.lo), some, 0, c, k.r); err != nil {
			return err
		}
	}
	return nil
}

// interiorDense finds the pairs nearest to σ among all of a map with few rows.
func (w *solve) interiorDense(ctx context.Context, near float64) (*Pairs, error) {
	every, err := w.p.Solve(ctx, w.n, &w.s)
	if err != nil {
		return nil, err
	}
	k := len(w.result.Values)
	out := &Pairs{Vectors: sparse.NewBlock[float64](w.n, k), Norm: every.Norm, Method: every.Method, Products: every.Products, Degree: 1}
	for to, from := range nearestTo(every.Values, near)[:k] {
		out.Values = append(out.Values, every.Values[from])
		out.Residuals = append(out.Residuals, every.Residuals[from])
		if every.Residuals[from] <= w.s.Tolerance*every.Norm {
			out.Converged++
		}
		for i := range w.n {
			out.Vectors.Row(i)[to] = every.Vectors.Row(i)[from]
		}
	}
	return out, nil
}

// nearestTo returns the places of the values in the order of their distance from
// σ.
func nearestTo(values []float64, near float64) []int {
	places := make([]int, len(values))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(i, j int) int {
		return cmp.Compare(math.Abs(values[i]-near), math.Abs(values[j]-near))
	})
	return places
}
