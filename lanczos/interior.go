package lanczos

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// foldedMap is the map
//
//	−(A − σ)²,
//
// whose largest eigenvalues belong to those of A that lie nearest to σ. With the
// filter of Lanczos on top of it, products are with a polynomial of A that has
// its peak at σ, so that no factor of A − σ is needed.
type foldedMap struct {
	a      sparse.Applier[float64]
	target float64
	e      *engine
	image  *sparse.Block[float64] // (A − σ)·X
}

func (f *foldedMap) Dims() (r, c int) { return f.a.Dims() }

// Team returns the team that shares the rows of A.
func (f *foldedMap) Team() *sparse.Team {
	return sparse.TeamOf(f.a)
}

// StepTo is that of [sparse.Applier]. Cost: two sweeps.
func (f *foldedMap) StepTo(ctx context.Context, dst, x *sparse.Block[float64],
	s sparse.Step[float64]) error {
	if f.image == nil || f.image.Cols != x.Cols {
		f.image = sparse.NewBlock[float64](x.Rows, x.Cols)
	}
	if err := f.a.StepTo(ctx, f.image, x, sparse.Step[float64]{Alpha: 1, Beta: -f.target}); err != nil {
		return err
	}
	last := sparse.Step[float64]{Alpha: -s.Alpha, Beta: s.Alpha * f.target,
		Visit: s.Visit}
	if s.Beta != 0 || s.Delta != 0 {
		f.e.eachRow(0, func(i int, _ []float64) {
			target := dst.Row(i)
			for j, v := range x.Row(i) {
				sum := float64(s.Beta * v)
				if s.Delta != 0 {
					sum += float64(s.Delta * s.Prev.Row(i)[j])
				}
				target[j] = sum
			}
		})
		last.Delta = 1
		last.Prev = dst
	}
	return f.a.StepTo(ctx, dst, f.image, last)
}

// leastFolded is the least tolerance of the folded map that rounding allows.
const leastFolded = 1e-14

// denseInterior is the number of rows up to which pairs in the interior are looked for
// among all: half a minute at the most.
const denseInterior = 3000

// denseInside reports whether pairs nearest to a number are picked from all pairs of a map with n rows.
func denseInside(n, vectors int) bool {
	return n <= denseInterior || smallMap(n, n, vectors)
}

// guards returns the number of pairs to find in addition to k wanted ones. Pairs at σ + δ and
// σ − δ are one double eigenvalue of the folded map, and both copies are needed to separate
// them.
func guards(n, k int) int { return min(n, k+max(width, k/4)) - k }

// interior is a search for pairs nearest to σ.
type interior struct {
	run   *run
	m     *images
	pairs int // to find with the guards
	size  int // of the basis
}

// interior returns the search of a run for pairs in the interior.
func (r *run) interior() *interior {
	pairs := len(r.result.Values) + guards(r.dim, len(r.result.Values))
	return &interior{r, r.m, pairs, basisSize(pairs, r.s.Basis)}
}

// solve finds the pairs nearest to σ by those of the folded map. The rest in a vector of
// these lies far from σ, where the filter is small: a residual of r there is about r/reach of A.
// Where that is too much the folded map is solved again, with a smaller tolerance.
func (r *interior) solve(ctx context.Context) (*Pairs, error) {
	n := r.run.n
	k := len(r.run.result.Values)
	target := r.run.p.Near
	if err := r.run.measureNorm(ctx); err != nil {
		return nil, err
	}
	reach := r.run.norm + math.Abs(target) // about all eigenvalues lie within it
	if err := budget.Check(r.run.s.Memory,
		lanczosBytes(n, r.pairs, r.size)+foldedBytes(n),
		fmt.Sprintf("a basis of %d vectors", r.size)); err != nil {
		return nil, err
	}
	tolerance := min(0.1, 0.3*r.run.s.Tolerance*r.run.norm/reach)
	for ; ; tolerance /= 100 {
		tolerance = max(leastFolded, tolerance)
		s, err := r.searchFolded(tolerance)
		if err != nil {
			return nil, err
		}
		values, _, searchErr := s.complete(ctx)
		if searchErr != nil &&
			(values == nil || !errors.Is(searchErr, ErrIterationLimit)) {
			return nil, searchErr
		}
		r.m.products += 2 * s.m.products
		r.run.result.Method = "lanczos"
		r.run.result.Restarts = r.run.result.Restarts + s.r.result.Restarts
		r.run.result.Basis, r.run.result.Degree = r.size, 2*s.k.f.degree
		v := s.k.v.slice(0, len(values))
		out, err := r.unfold(ctx, v, false)
		if err == nil && out.Converged < k && searchErr == nil {
			out, err = r.unfold(ctx, v, true)
		}
		if err != nil {
			return nil, err
		}
		if out.Converged == k {
			return out, nil
		}
		if searchErr != nil || tolerance == leastFolded ||
			r.m.products >= r.run.s.MaxProducts {
			return out, limitError(out.Converged, k, out.Products)
		}
	}
}

// searchFolded returns the search for pairs of the folded map.
func (r *interior) searchFolded(tolerance float64) (*search, error) {
	k := len(r.run.result.Values)
	products := r.m.products
	set := r.run.s
	set.Tolerance, set.MaxProducts, set.Memory = tolerance,
		max(1, (r.run.s.MaxProducts-products)/2), 0
	if progress := r.run.s.Progress; progress != nil {
		set.Progress = func(stage string, done, _ int64) { progress(stage, int64(products)+2*done, 0) }
	}
	inner, err := (&Problem{A: &foldedMap{a: r.run.p.A, target: r.run.p.Near,
		e: r.m.e}, Excluded: r.run.p.Excluded,
		Entries: r.run.p.Entries}).prepare(r.pairs, &set)
	if err != nil {
		return nil, err
	}
	s := newSearch(inner, newKrylov(inner, r.size), r.pairs)
	s.certain = k
	return s, nil
}

// foldedBytes is the memory of the folded map.
func foldedBytes(n int) int64 {
	return blocks.BlockBytes[float64](n, width)
}

// unfold turns the vectors v of the folded map into eigenvectors of A by Rayleigh and Ritz, and
// returns the pairs nearest to σ. If multiple eigenvalues lie at the same distance on both sides of
// σ and v has only some of their vectors, A does not map the span of v to itself; partial must be set
// then.
func (r *interior) unfold(ctx context.Context, v columns,
	partial bool) (*Pairs, error) {
	r.run.result.Converged = 0
	cols := v.width()
	values, q, err := r.ritz(ctx, v)
	if err == nil && partial {
		if err = r.part(ctx, v, values, q); err == nil {
			values, q, err = r.ritz(ctx, v)
		}
	}
	if err != nil {
		return nil, err
	}
	nearest := nearestTo(values, r.run.p.Near)
	sorted := make([]float64, cols)
	vectors := make([]float64, cols*cols)
	for target, source := range nearest {
		sorted[target] = values[source]
		for i := range cols {
			vectors[i*cols+target] = q.At(i, source)
		}
	}
	if err := r.m.e.multiplyTo(ctx, v, v, vectors, cols); err != nil {
		return nil, err
	}
	k := len(r.run.result.Values)
	return r.run.finish(ctx, v, sorted[:k], nil)
}

// ritz returns the Ritz values of A in the span of the columns v, and the coefficients of the Ritz
// vectors.
func (r *interior) ritz(ctx context.Context,
	v columns) ([]float64, *mat.Dense, error) {
	h, _, _, err := r.m.project(ctx, v, 1)
	if err != nil {
		return nil, nil, err
	}
	return fallingEigen(ctx, h, nil, r.m.e.Workers)
}

// part replaces the columns v by their Ritz vectors, and each Ritz vector with a value θ that is not
// yet an eigenvector by its part on its own side of σ. For a v with (A − σ)²·v = δ²·v that is
//
//	(A − σ ± δ)·v / √(2δ² + 2δ|θ − σ|),  δ² = (θ − σ)² + ‖A·v − θ·v‖²,
//
// an eigenvector for σ ± δ, with the sign of θ − σ. The parts are orthogonal if δ is the same for
// all, and nearly so otherwise.
func (r *interior) part(ctx context.Context, v columns, values []float64,
	q *mat.Dense) error {
	target := r.run.p.Near
	ortho := orthonormalizer{e: r.m.e}
	if err := r.m.e.multiplyTo(ctx, v, v, q.RawMatrix().Data, v.width()); err != nil {
		return err
	}
	residuals := make([]float64, width)
	c := make([]float64, v.width()*width)
	upper := make([]float64, width*width)
	for offset, end := range blocks.Slabs(v.width(), width) {
		slab := v.slice(v.lo+offset, v.lo+end)
		r.m.e.setBlock(r.m.x, slab)
		theta := values[offset:][:slab.width()]
		if err := r.m.residuals(ctx, residuals[:len(theta)], theta, r.m.x); err != nil {
			return err
		}
		shift := make([]float64, len(theta))
		length := make([]float64, len(theta))
		for j, residual := range residuals[:len(theta)] {
			if residual <= 0.01*r.run.s.Tolerance*r.run.norm { // an eigenvector already
				continue
			}
			delta := math.Hypot(theta[j]-target, residual)
			length[j] = math.Sqrt(2 * delta * (delta + math.Abs(theta[j]-target)))
			shift[j] = math.Copysign(delta, theta[j]-target) - target
		}
		r.m.e.eachRow(0, func(i int, _ []float64) {
			target := r.m.x.Row(i)
			image := r.m.y.Row(i)
			for j, l := range length {
				if l > 0 {
					target[j] = (image[j] + float64(shift[j]*target[j])) / l
				}
			}
		})
		r.m.e.setColumns(slab, r.m.x)
		if _, err := ortho.run(ctx, v.slice(v.lo, slab.lo), slab, 0, c, upper); err != nil {
			return err
		}
	}
	return nil
}

// dense finds the pairs nearest to σ among all of a map with few rows.
func (r *interior) dense(ctx context.Context) (*Pairs, error) {
	set := r.run.s
	set.Memory = 0
	if err := budget.Check(r.run.s.Memory,
		denseBytes(r.run.dim)+8*int64(r.run.n)*int64(r.run.dim),
		"the map as a dense matrix"); err != nil {
		return nil, err
	}
	pairs, err := (&Problem{A: r.run.p.A, Scale: r.run.p.Scale,
		Excluded: r.run.p.Excluded}).Solve(ctx, r.run.dim, &set)
	if err != nil {
		return nil, err
	}
	k := len(r.run.result.Values)
	out := &Pairs{Vectors: sparse.NewBlock[float64](r.run.n, k), Norm: pairs.Norm,
		Method: pairs.Method, Products: pairs.Products, Degree: 1}
	for target, source := range nearestTo(pairs.Values, r.run.p.Near)[:k] {
		out.Values = append(out.Values, pairs.Values[source])
		out.Residuals = append(out.Residuals, pairs.Residuals[source])
		if pairs.Residuals[source] <= r.run.s.Tolerance*pairs.Norm {
			out.Converged++
		}
		for i := range r.run.n {
			out.Vectors.Row(i)[target] = pairs.Vectors.Row(i)[source]
		}
	}
	return out, nil
}

// nearestTo returns the indices of the values in the order of their distance from σ.
func nearestTo(values []float64, target float64) []int {
	places := sched.UpTo(len(values))
	slices.SortStableFunc(places, func(i, j int) int {
		return cmp.Compare(math.Abs(values[i]-target), math.Abs(values[j]-target))
	})
	return places
}
