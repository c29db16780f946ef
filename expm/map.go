package expm

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/tall"
	"github.com/heatwalk/heatwalk/sparse"
)

// Map is a symmetric map H with an interval that holds its spectrum. It is safe for
// concurrent use, each call with its own blocks.
type Map struct {
	Lo, Hi float64 // the interval, which is not to be changed

	n       int
	workers int

	unproven bool // the interval is the caller's

	// A sweep runs on K = diag(1/inner)·(H − centre)·diag(inner). Nil means ones.
	sweep  sparse.Applier[float64]
	centre float64
	inner  []float64

	// The eigenvectors of H with the eigenvalue known, and the eigenvalue
	// of rows without entries, which are among those vectors.
	null     *graph.NullSpace
	known    float64
	isolated float64
	lone     []bool // rows without entries, if their eigenvalue is another

	// For solves with I + γH.
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

// NewLaplacian returns L = D − A on [0, λ], λ a bound on its largest
// eigenvalue that takes a few sweeps of one column, or normalized L̃ = J − S on [0, 2].
// The constants on each component, or the vectors d^½, are split off.
func NewLaplacian(ctx context.Context, g *graph.Graph, normalized bool) (*Map, error) {
	m := &Map{n: len(g.Degrees), workers: g.Workers, null: g.NullSpace(normalized), graph: g, normalized: normalized}
	if !normalized {
		var err error
		if m.Hi, err = largestBound(ctx, g, true); err != nil {
			return nil, err
		}
		m.sweep = g.Laplacian()
		return m, nil
	}
	// A sweep runs on −D⁻¹A, which is similar to L̃ − I in the rows that are left and needs
	// no scaled copy of the block.
	root, lone := roots(g.Degrees)
	m.Hi, m.inner, m.centre = 2, root, 1
	m.sweep = &sparse.Operator[float64]{A: g.A, Scale: -1, Left: inverseDegrees(g.Degrees, lone), Workers: g.Workers}
	return m, nil
}

// NewAdjacency returns A on [−ρ, ρ], ρ a bound on its spectral radius that
// takes a few sweeps of one column, or normalized S = D^−½·A·D^−½ on [−1, 1]. Of S the
// vectors d^½ on each component are split off, and rows without entries, which are 0.
func NewAdjacency(ctx context.Context, g *graph.Graph, normalized bool) (*Map, error) {
	m := &Map{n: len(g.Degrees), workers: g.Workers}
	if !normalized {
		hi, err := largestBound(ctx, g, false)
		if err != nil {
			return nil, err
		}
		m.Lo, m.Hi, m.sweep = -hi, hi, &sparse.Operator[float64]{A: g.A, Workers: g.Workers}
		return m, nil
	}
	root, lone := roots(g.Degrees)
	m.Lo, m.Hi, m.inner = -1, 1, root
	m.sweep = &sparse.Operator[float64]{A: g.A, Left: inverseDegrees(g.Degrees, lone), Workers: g.Workers}
	m.null, m.known, m.lone = g.NullSpace(true), 1, lone
	return m, nil
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
	return &Map{n: r, workers: workers, Lo: lo, Hi: hi, unproven: true, sweep: a}, nil
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

// chunks runs a pass over all chunks of rows.
func (m *Map) chunks(ctx context.Context, body func(worker, lo, hi int)) error {
	return sched.Run(ctx, m.workers, tall.Chunks(m.n), func(worker, chunk int) error {
		body(worker, chunk*tall.ChunkRows, min((chunk+1)*tall.ChunkRows, m.n))
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
