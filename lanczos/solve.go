package lanczos

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

type run struct {
	m         *images
	p         *Problem
	s         Settings
	n         int // rows of this process
	dim       int // rows of all processes, without excluded rows
	deflation *knownVectors
	target    int     // pairs to find in addition to the known pairs
	norm      float64 // lower bound of ‖A‖
	need      budget.Size
	result    *Pairs
}

// Solve returns k eigenpairs, orthogonal to the known pairs, by block Lanczos with thick restarts. k must be in 1 … n. If
// there is a preconditioner, and LOBPCG is predicted to be faster, Solve continues with LOBPCG. A map of few rows is solved
// as a dense matrix.
//
// No Krylov method certifies that no eigenvalue was missed. Blocks of four random columns find up to four copies of a
// multiple eigenvalue. If Solve finds four copies, it searches their complement for more.
//
// The error is [ErrIterationLimit] with the best pairs, an error that wraps [sparse.ErrMemory], [ErrKnown],
// [blocks.ErrAsymmetric], the error of the context, or an error of a sweep. Solve tests the symmetry of A by a product with
// two columns.
func (p *Problem) Solve(ctx context.Context, k int, s *Settings) (*Pairs, error) {
	r, err := p.prepare(k, s)
	if err == nil {
		err = blocks.CheckSymmetric(ctx, p.A, 0)
	}
	if err != nil {
		return nil, err
	}
	if done, out, err := r.direct(ctx); done {
		return out, err
	}
	if r.dim > denseInstead || !r.s.defaultLimit {
		return r.extremes(ctx)
	}
	r.s.MaxProducts = max(500, r.dim*r.dim/64) // takes as long as all pairs of the dense matrix
	out, err := r.extremes(ctx)
	if !errors.Is(err, ErrIterationLimit) || r.m.products < r.s.MaxProducts { // rounding ended it
		return out, err
	}
	products := r.m.products
	if r, err = p.prepare(k, s); err != nil {
		return nil, err
	}
	r.m.products = products
	return r.dense(ctx)
}

// denseInstead is the number of rows up to which a map is solved as a dense matrix if the iteration does not converge, for
// example because weights over 12 orders of magnitude crowd the eigenvalues.
const denseInstead = 1024

// extremes finds pairs at an end of the spectrum by Lanczos or LOBPCG, whichever is predicted to be faster.
func (r *run) extremes(ctx context.Context) (*Pairs, error) {
	goal := math.Inf(1) // products of LOBPCG after which Lanczos continues
	if !r.s.Preconditioned {
		out, err := r.lanczos(ctx, r.p.Precondition != nil)
		var alternative *otherMethod
		if !errors.As(err, &alternative) {
			return out, err
		}
		goal = alternative.products
	}
	out, err := r.lobpcg(ctx, goal)
	if errors.Is(err, errSlow) ||
		!math.IsInf(goal, 1) && errors.Is(err, ErrNotFinite) {
		return r.lanczos(ctx, false)
	}
	return out, err
}

func (p *Problem) prepare(k int, s *Settings) (*run, error) {
	n, cols := p.A.Dims()
	if n != cols || p.Known != nil && (len(p.Known.Components.Of) != n ||
		p.Known.Weights != nil && len(p.Known.Weights) != n) {
		panic(badShape)
	}
	if err := s.validate(); err != nil {
		return nil, err
	}
	if err := p.Which.check(); err != nil {
		return nil, err
	}
	team := sparse.TeamOf(p.A)
	excluded := p.Known.vectors(team)
	dim := team.TotalOf(n) - countRows(team, p.Excluded)
	limit := dim
	pairs := max(0, k-excluded.count())
	if p.Beyond {
		limit = dim - excluded.count()
		k = min(k, max(1, limit))
		pairs = k
	}
	if k < 1 || k > limit {
		return nil, fmt.Errorf("lanczos: %d eigenpairs of a map with %d rows; ask for 1 to %d", k, dim, limit)
	}
	var set Settings
	if s != nil {
		set = *s
	}
	if set.Tolerance == 0 {
		set.Tolerance = defaultTolerance
	}
	set.defaultLimit = set.MaxProducts == 0
	if set.defaultLimit {
		set.MaxProducts = defaultMaxProducts
	}
	r := &run{p: p, s: set, n: n, dim: dim, deflation: excluded, target: pairs,
		norm: math.Abs(excluded.value)}
	r.need = iteration(n, k, excluded.count()).Required(0)
	if err := budget.Check(set.Memory, r.need, "a basis of vectors"); err != nil {
		return nil, err
	}
	r.m = &images{a: p.A, balanced: balance(p.A, p.Excluded),
		e: newEngine(team, n, set.Workers)}
	r.result = &Pairs{Values: make([]float64, k), Residuals: make([]float64, k),
		Method: "dense", Degree: 1}
	return r, nil
}

func countRows(team *sparse.Team, list []uint32) int {
	count := 0.0
	for _, i := range list {
		if team.Counts(int(i)) {
			count++
		}
	}
	return int(blocks.SumOver(team, count))
}

// direct solves a problem that needs no iteration: all pairs are known, or the map is small, see [smallMap]. done reports
// whether it did.
func (r *run) direct(ctx context.Context) (done bool, out *Pairs, err error) {
	switch {
	case r.target == 0:
		if err = r.measureNorm(ctx); err == nil {
			out, err = r.finish(ctx, columns{}, nil, nil)
		}
	case smallMap(r.dim, r.dim-r.deflation.count(), basisSize(r.target, r.s.Basis)):
		out, err = r.dense(ctx)
	default:
		return false, nil, nil
	}
	return true, out, err
}

// smallMap reports whether a map of n rows should be solved as a dense matrix: n is small, or an iteration would keep at
// least half as many vectors as there are unknown pairs.
func smallMap(n, unknown, vectors int) bool {
	return n <= denseRows || 2*vectors >= unknown
}

func basisSize(pairs, size int) int {
	if size == 0 {
		size = 2*pairs + 56
	}
	// three blocks of columns in addition to the pairs
	return roundUp(max(size, pairs+3*width))
}

func roundUp(columns int) int {
	return (columns + width - 1) / width * width
}

// Workspace returns the memory of [Problem.Solve] for k pairs of a map with n rows, if known pairs are known. It does not
// include the map, the known vectors and a preconditioner.
func Workspace(n, k, known int) budget.Workspace {
	w := iteration(n, k, known)
	if n <= denseInstead || smallMap(n, n-known, basisSize(k, 0)) {
		w = w.Or(budget.Held(budget.Times(5, budget.Vector[float64](n*n))))
	}
	return w
}

func iteration(n, k, known int) budget.Workspace {
	columns := 2*width + 2 + k
	if known < k {
		x := lobpcgColumns(n, k, 0)
		columns = k + max(4*x+3*min(x, slabColumns)+3*width, 2*k+56+6*width)
	}
	return budget.Held(budget.Times(columns, budget.Vector[float64](n)), blocks.ShareMemory(n, known, width))
}

func (r *run) report(products int) {
	if r.s.Progress != nil {
		r.s.Progress("products", int64(products), 0)
	}
}

func (r *run) entries() float64 {
	rows := float64(r.m.e.team.TotalOf(r.n))
	if r.p.Entries > 0 {
		return float64(r.p.Entries) / rows
	}
	if o, ok := r.p.A.(*sparse.Operator[float64]); ok {
		return float64(sparse.EntriesOf(o.A)) / rows
	}
	return sparseEntries
}

const sparseEntries = 8

func limitError(converged, pairs, products int) error {
	return fmt.Errorf("%w: %d of %d pairs after %d products", ErrIterationLimit,
		converged, pairs, products)
}
