package lanczos

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/internal/sched"
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
	a     sparse.Applier[float64]
	near  float64
	e     *engine
	image *sparse.Block[float64] // (A − σ)·X
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

const (
	// foldedAttempts is how often the folded problem is solved, each time with a
	// tolerance that what was found suggests.
	foldedAttempts = 3

	// leastFolded is the least of these tolerances: rounding leaves no less.
	leastFolded = 1e-14
)

// denseInterior is the number of rows up to which pairs in the interior are
// looked for among all: a minute at the most, where the iteration may need many.
// Tests set it to denseRows.
var denseInterior = 3000

func denseInside(n, vectors int) bool { return n <= denseInterior || smallMap(n, n, vectors) }

// guards is the number of pairs found beside k wanted ones: a pair at σ + δ and
// one at σ − δ are one double eigenvalue of the folded map, of which both copies
// are needed to tell them apart.
func guards(n, k int) int { return min(n, k+max(width, k/4)) - k }

// interior returns the k pairs nearest to p.Near.
func (p *Problem) interior(ctx context.Context, k int, s *Settings) (*Pairs, error) {
	n, _ := p.A.Dims()
	w, err := (&Problem{A: p.A, Scale: p.Scale}).prepare(k, s)
	if err != nil {
		return nil, err
	}
	w.s.Patience = 0 // it is that of the other ends
	pairs := k + guards(n, k)
	if denseInside(n, w.s.basisSize(pairs)) {
		return w.interiorDense(ctx, p.Near)
	}
	spectrum, err := enclose(ctx, p.A, defaultIntervalSteps, w.s.RNGSeed, w.s.Workers)
	if err != nil {
		return nil, err
	}
	w.norm = spectrum.norm
	reach := max(spectrum.hi-p.Near, p.Near-spectrum.lo)

	density, sweeps, err := w.density(ctx, p.Near)
	if err != nil {
		return nil, err
	}
	if least := productsOfDensity * density * reach; least > float64(w.s.MaxProducts) {
		within := math.Pow(10, math.Floor(math.Log10(100/density)))
		digits := math.Pow(10, max(0, math.Floor(math.Log10(least))-1)) // two of them
		return nil, &DenseError{p.Near, within, 2 * within * density, int(math.Floor(min(least, 1e15)/digits) * digits), w.s.MaxProducts}
	}

	inner := w.s
	if inner.Memory > 0 {
		inner.Memory = max(1, inner.Memory-foldedBytes(n))
	}
	if err := w.reserve(unfoldBytes(n, k), fmt.Sprintf("%d vectors", pairs)); err != nil {
		return nil, err
	}
	if s := w.s.Progress; s != nil {
		inner.Progress = func(at Progress) {
			at.Products, at.Wanted = 2*at.Products, k
			at.Converged = min(k, at.Converged)
			s(at)
		}
	}
	fold := &Problem{A: &folded{a: p.A, near: p.Near, e: newEngine(n, sched.Workers(w.s.Workers))}}
	// A residual r of the folded map is one of about r/2δ of A, at δ from σ. Were
	// the spectrum as dense everywhere, the wanted pairs would be so near:
	delta := reach * float64(k) / float64(n)
	spent := spectrum.sweeps + sweeps
	for attempt := 1; ; attempt++ {
		inner.Tolerance = min(0.1, max(leastFolded, 0.6*w.s.Tolerance*w.norm*delta/(reach*reach)))
		inner.MaxProducts = max(1, (w.s.MaxProducts-spent)/2)
		found, err := fold.Solve(ctx, pairs, &inner)
		if err != nil && (found == nil || !errors.Is(err, ErrIterationLimit)) {
			return nil, err
		}
		spent += 2 * found.Products
		w.result.Method, w.result.Products = "lanczos", spent
		w.result.Restarts += found.Restarts
		w.result.Basis, w.result.Degree = found.Basis, 2*found.Degree
		w.result.Converged = 0
		out, finishErr := w.unfold(ctx, found.Vectors, p.Near)
		if finishErr != nil {
			return nil, finishErr
		}
		spent = out.Products
		if out.Converged == k {
			return out, nil
		}
		last := math.Abs(out.Values[k-1] - p.Near)
		if err != nil || attempt == foldedAttempts || inner.Tolerance == leastFolded || spent >= w.s.MaxProducts {
			return out, fmt.Errorf("%w: %d of %d pairs after %d products", ErrIterationLimit, out.Converged, k, out.Products)
		}
		delta = min(delta/10, last/4)
	}
}

const (
	// densitySteps is how many steps tell how dense eigenvalues lie: gaps of a few
	// hundredths of the spectrum are seen then.
	densitySteps = 100

	// productsOfDensity is how many products of A the pairs nearest to σ take for each
	// eigenvalue that would lie within reach of σ if they were as dense everywhere, at
	// least: a filter's degree falls, and the number of blocks grows, with the number
	// of eigenvalues that it leaves. Seen were 1.1, where the basis became a fifth of
	// all vectors, to 7.
	productsOfDensity = 1
)

// foldedBytes is the memory of the folded map.
func foldedBytes(n int) int64 { return sparse.BlockBytes[float64](n, width) }

// unfoldBytes is the memory of making k pairs of those of the folded problem, these
// included.
func unfoldBytes(n, k int) int64 {
	pairs := k + guards(n, k)
	return basisBytes(n, pairs+width) + int64(n)*8*int64(3*width+sparse.Stride[float64](k)+sparse.Stride[float64](pairs))
}

// unfold makes the vectors x, which span a space that A maps to itself, those of
// A by Rayleigh and Ritz, and returns the pairs nearest to σ.
func (w *solve) unfold(ctx context.Context, x *sparse.Block[float64], near float64) (*Pairs, error) {
	w.allocateBlocks()
	k := &w.krylov
	k.v = newBasis(w.n, x.Cols)
	all := k.v.slice(0, x.Cols)
	if err := k.e.pack(ctx, all, x); err != nil {
		return nil, err
	}
	h, err := w.project(ctx, all, 1, func(int, columns, columns, []float64) error {
		w.result.Products++
		return nil
	})
	if err != nil {
		return nil, err
	}
	values, q, err := fallingEigen(ctx, h, nil, k.e.Workers)
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
