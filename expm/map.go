package expm

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
)

// Map is a symmetric map H, or one that is similar to a symmetric one by a
// diagonal matrix, with an interval that holds its spectrum. It is safe for
// concurrent use, each call with its own blocks.
type Map struct {
	n       int
	workers int
	lo, hi  float64 // the interval

	unproven bool // the interval is the caller's

	// H = diag(outer)·H_s·diag(1/outer) with H_s symmetric, and a sweep runs
	// on K = diag(1/inner)·(H_s − centre)·diag(inner). Nil means ones.
	sweep        sparse.Applier[float64]
	centre       float64
	outer, inner []float64
	back         []float64 // inner·outer: from the variables of sweeps to the caller's
	outerMax     float64

	// The eigenvectors of H_s with the eigenvalue known, and the eigenvalue
	// of rows without entries, which are among those vectors.
	null     *graph.NullSpace
	known    float64
	isolated float64
	lone     []bool // rows without entries, if their eigenvalue is another

	// For solves with I + γH_s.
	graph      *graph.Graph
	normalized bool

	slabs sync.Pool // of *sparse.Block[float64], what earlier slabs have left
}

// slab returns a block of any content.
func (m *Map) slab(cols int) *sparse.Block[float64] {
	if b, ok := m.slabs.Get().(*sparse.Block[float64]); ok && b.Cols == cols {
		return b
	}
	return sparse.NewBlock[float64](m.n, cols)
}

// Interval returns the interval that holds the spectrum.
func (m *Map) Interval() (lo, hi float64) { return m.lo, m.hi }

// Dims returns the number of rows and columns.
func (m *Map) Dims() (r, c int) { return m.n, m.n }

// NewLaplacian returns L = D − A on [0, λ], λ a bound on its largest
// eigenvalue that takes a few sweeps of one column. The constants on each
// component are split off.
func NewLaplacian(ctx context.Context, g *graph.Graph) (*Map, error) {
	hi, err := largestBound(ctx, g, true)
	if err != nil {
		return nil, err
	}
	return &Map{
		n: len(g.Degrees), workers: g.Workers, hi: hi, sweep: g.Laplacian(), outerMax: 1,
		null: g.NullSpace(false), graph: g,
	}, nil
}

// NewLaplacianNormalized returns L̃ = J − S on [0, 2]. The vectors d^½ on each
// component are split off. A sweep runs on −D⁻¹A, which is similar to L̃ − I in
// the rows that are left and needs no scaled copy of the block.
func NewLaplacianNormalized(g *graph.Graph) *Map {
	root, lone := roots(g.Degrees)
	return &Map{
		n: len(g.Degrees), workers: g.Workers, hi: 2, inner: root, back: root, outerMax: 1, centre: 1,
		sweep: &sparse.Operator[float64]{A: g.A, Scale: -1, Left: inverseDegrees(g.Degrees, lone), Workers: g.Workers},
		null:  g.NullSpace(true), graph: g, normalized: true,
	}
}

// NewLaplacianRandomWalk returns I − T on [0, 2], T = D⁻¹A with T_ii = 1 in a
// row without entries, through its similarity with L̃:
//
//	f(I − T) = D^−½·f(L̃)·D^½
//
// Error bounds hold in the norm of the block as it is, and carry the factor
// max d^−½.
func NewLaplacianRandomWalk(g *graph.Graph) *Map {
	m := NewLaplacianNormalized(g)
	m.outer, m.back = make([]float64, m.n), nil
	for i, r := range m.inner {
		m.outer[i] = 1 / r
	}
	m.outerMax = largest(m.outer)
	return m
}

// NewLaplacianRandomWalkTransposed returns I − Tᵀ, whose functions of unit
// vectors are distributions of walks: column i of its heat kernel is the heat
// kernel PageRank of seed i. See [NewLaplacianRandomWalk].
func NewLaplacianRandomWalkTransposed(g *graph.Graph) *Map {
	m := NewLaplacianNormalized(g)
	m.outer, m.back = m.inner, make([]float64, m.n)
	for i, r := range m.inner {
		m.back[i] = r * r
	}
	m.outerMax = largest(m.outer)
	return m
}

// NewAdjacency returns A on [−ρ, ρ], ρ a bound on its spectral radius that
// takes a few sweeps of one column.
func NewAdjacency(ctx context.Context, g *graph.Graph) (*Map, error) {
	hi, err := largestBound(ctx, g, false)
	if err != nil {
		return nil, err
	}
	op := &sparse.Operator[float64]{A: g.A, Workers: g.Workers}
	return &Map{n: len(g.Degrees), workers: g.Workers, lo: -hi, hi: hi, sweep: op, outerMax: 1}, nil
}

// NewAdjacencyNormalized returns S = D^−½·A·D^−½ on [−1, 1]. The vectors d^½
// on each component are split off, and rows without entries, which are 0.
func NewAdjacencyNormalized(g *graph.Graph) *Map {
	root, lone := roots(g.Degrees)
	return &Map{
		n: len(g.Degrees), workers: g.Workers, lo: -1, hi: 1, inner: root, back: root, outerMax: 1,
		sweep: &sparse.Operator[float64]{A: g.A, Left: inverseDegrees(g.Degrees, lone), Workers: g.Workers},
		null:  g.NullSpace(true), known: 1, lone: lone,
	}
}

// NewBounded returns a symmetric map of which nothing is known but an interval
// that holds its spectrum. Where it does not, functions fail with
// [ErrInterval] as soon as that shows.
func NewBounded(a sparse.Applier[float64], lo, hi float64, workers int) (*Map, error) {
	r, c := a.Dims()
	if r != c {
		panic(badShape)
	}
	if !(lo <= hi) || math.IsInf(lo, 0) || math.IsInf(hi, 0) {
		return nil, fmt.Errorf("%w: interval [%g, %g]", ErrParameter, lo, hi)
	}
	return &Map{n: r, workers: workers, lo: lo, hi: hi, unproven: true, sweep: a, outerMax: 1}, nil
}

// roots returns d^½, 1 in rows without entries, and which rows these are.
func roots(deg []float64) (root []float64, lone []bool) {
	root, lone = make([]float64, len(deg)), make([]bool, len(deg))
	for i, d := range deg {
		root[i] = 1
		if d > 0 {
			root[i] = math.Sqrt(d)
		} else {
			lone[i] = true
		}
	}
	return root, lone
}

// inverseDegrees returns 1/d, 0 in rows without entries.
func inverseDegrees(deg []float64, lone []bool) []float64 {
	inverse := make([]float64, len(deg))
	for i, d := range deg {
		if !lone[i] {
			inverse[i] = 1 / d
		}
	}
	return inverse
}

// outerMin returns the least factor of the similarity.
func (m *Map) outerMin() float64 {
	if m.outer == nil {
		return 1
	}
	return slices.Min(m.outer)
}

func largest(v []float64) (m float64) {
	for _, x := range v {
		m = max(m, x)
	}
	return m
}

// chunkRows is the number of rows whose sums are added before the sums of
// chunks are added in order. Bits of results depend on it.
const chunkRows = 512

func chunkCount(rows int) int { return (rows + chunkRows - 1) / chunkRows }

// chunks runs a pass over all chunks of rows.
func (m *Map) chunks(ctx context.Context, body func(worker, lo, hi int)) error {
	return sched.Run(ctx, m.workers, chunkCount(m.n), func(worker, chunk int) error {
		body(worker, chunk*chunkRows, min((chunk+1)*chunkRows, m.n))
		return nil
	})
}

// factor returns v[i], or 1 if v is nil.
func factor(v []float64, i int) float64 {
	if v == nil {
		return 1
	}
	return v[i]
}

const (
	badShape   = "expm: dimension mismatch"
	badOverlap = "expm: a result block is the argument, or another result"
)
