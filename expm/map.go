package expm

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// Map is a symmetric map H with an interval that contains its spectrum. It is safe for concurrent use, if each call has its own
// blocks.
type Map struct {
	Lo, Hi float64 // interval, which must not be changed

	n       int
	workers int
	team    *sparse.Team

	unproven bool         // given by the caller, or estimated
	symmetry *blocks.Lazy // 1: compared with the transpose; nil: not needed
	rounding float64      // rounding errors of products relative to the width of the interval, compared with a proven interval; 0 means 1

	// A sweep runs on K = diag(1/inner)·(H − centre)·diag(inner). Nil means ones.
	sweep  sparse.Applier[float64]
	centre float64
	inner  []float64

	// null has the known eigenvectors of H, with the eigenvalue nullValue, also of rows without entries, whose eigenvalue is
	// 0.
	null      *blocks.Disjoint
	nullValue float64
	lone      []bool // rows without entries, if nullValue is not 0

	// fields for solves with I + γH
	graph      *graph.Graph
	normalized bool
	degrees    Diagonal
	laplacian  Diagonal // diagonal of the map

	*caches
}

// caches are shared by a map and its copies with estimated intervals.
type caches struct {
	slabs   sync.Pool // slabs to reuse, *sparse.Block[float64]
	planned sync.Map  // *expansion by ratio, see planFalling
	narrow  sync.Map  // *Map with the estimated interval, by number of steps
}

// Team returns the processes that share the rows of the map.
func (m *Map) Team() *sparse.Team { return m.team }

func (m *Map) slab(cols int) *sparse.Block[float64] {
	if b, ok := m.slabs.Get().(*sparse.Block[float64]); ok && b.Cols == cols {
		return b
	}
	return sparse.NewBlock[float64](m.n, cols)
}

// New returns a symmetric matrix of a graph with an interval that contains its spectrum. The map also has the known
// eigenvectors, one for each component, which every function splits off:
//
//   - [sparse.Laplacian], L = D − A on [0, λ], λ a bound on its largest eigenvalue that takes
//     a few sweeps of one column; the constants are known
//   - [sparse.NormalizedLaplacian], L̃ = J − S on [0, 2]; the vectors d^½ are known
//   - [sparse.Adjacency], A on [−ρ, ρ], ρ a bound on its spectral radius that takes a few
//     sweeps of one column; no eigenvector is known
//   - [sparse.NormalizedAdjacency], S = D^−½·A·D^−½ on [−1, 1]; the vectors d^½ are known, and
//     rows without entries, whose eigenvalue is 0
//
// It panics for another matrix. The error is [graph.ErrAsymmetric], see [graph.Graph.CheckSymmetric], or an error of a sweep.
func New(ctx context.Context, g *graph.Graph, kind sparse.Kind) (*Map, error) {
	if err := g.CheckSymmetric(ctx); err != nil {
		return nil, err
	}
	m := &Map{n: len(g.Degrees), workers: g.Workers, team: sparse.TeamOf(g.A),
		caches: new(caches)}
	switch kind {
	case sparse.Adjacency:
		hi, err := largestBound(ctx, g, false)
		if err != nil {
			return nil, err
		}
		m.Lo, m.Hi, m.sweep = -hi, hi,
			&sparse.Operator[float64]{A: g.A, Workers: g.Workers}
		return m, nil
	case sparse.Laplacian:
		hi, err := largestBound(ctx, g, true)
		if err != nil {
			return nil, err
		}
		l := g.Laplacian()
		m.Hi, m.sweep, m.null, m.graph = hi, l, g.NullSpace(false), g
		m.degrees, m.laplacian = DiagonalOf(m.team, g.Degrees),
			DiagonalOf(m.team, l.Diag)
		return m, nil
	case sparse.NormalizedLaplacian, sparse.NormalizedAdjacency:
	default:
		panic(badKind)
	}
	// A sweep runs on D⁻¹A or −D⁻¹A, which are similar to S and L̃ − I in the rows with entries and
	// need no scaled copy of the block.
	m.null, m.inner = g.NullSpace(true), blocks.Roots(g.Degrees)
	a := &sparse.Operator[float64]{A: g.A, Left: blocks.Inverses(g.Degrees),
		Workers: g.Workers}
	m.sweep = a
	if kind == sparse.NormalizedLaplacian {
		m.Hi = 2
		m.centre = 1
		a.Scale = -1
		m.graph = g
		m.normalized = true
		m.laplacian = Diagonal{Mean: 1, Largest: 1}
		return m, nil
	}
	m.Lo = -1
	m.Hi = 1
	m.nullValue = 1
	m.lone = make([]bool, m.n)
	for i, d := range g.Degrees {
		m.lone[i] = d == 0
	}
	return m, nil
}

// NewBounded returns a symmetric map with an interval that must contain its spectrum. Otherwise functions fail with
// [ErrInterval] as soon as this shows. The first function fails with [graph.ErrAsymmetric] if the map is not symmetric; the
// check takes a sweep of two columns.
func NewBounded(a sparse.Applier[float64], lo, hi float64,
	workers int) (*Map, error) {
	r, c := a.Dims()
	if r != c {
		panic(badShape)
	}
	if !(lo <= hi) || math.IsInf(lo, 0) || math.IsInf(hi, 0) {
		return nil, fmt.Errorf("%w: interval [%g, %g]", ErrParameter, lo, hi)
	}
	return &Map{n: r, workers: workers, team: sparse.TeamOf(a), Lo: lo, Hi: hi,
		unproven: true, sweep: a, symmetry: new(blocks.Lazy), caches: new(caches)}, nil
}

func (m *Map) chunks(body func(worker, lo, hi int)) {
	blocks.EachChunk(m.workers, m.n, func(worker, _, lo, hi int) { body(worker, lo, hi) })
}

const (
	badShape   = "expm: dimension mismatch"
	badKind    = "expm: unknown or asymmetric matrix"
	badOverlap = "expm: a result block is the argument, or another result"
)
