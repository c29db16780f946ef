package spectral

import (
	"context"
	"math"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/tall"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/sparse"
)

// eigenproblem is the symmetric problem that is solved, on the rows with edges, and how its
// pairs become those of the matrix.
type eigenproblem struct {
	lanczos.Problem
	which    lanczos.Which           // part of the spectrum of the matrix
	near     float64                 // of the matrix
	rounding float64                 // error of computing a residual, at most
	value    func(λ float64) float64 // eigenvalue of the matrix for one of A; nil: the same
	edged    int                     // number of rows with edges; the others are excluded
	zero     float64                 // the eigenvalue of rows without edges
}

// of returns the eigenproblem of the matrix on a graph. The problems of S, T and L̃ = I − S
// are all solved for S, so that the same part of a spectrum takes the same work.
func (p *Problem) of(ctx context.Context, g *graph.Graph) (*eigenproblem, error) {
	e := &eigenproblem{which: p.Which, near: p.Near}
	e.Problem = lanczos.Problem{Which: p.Which, Near: p.Near, Beyond: p.Beyond, Positive: p.Positive}
	e.exclude(g.Degrees)
	largest := 0.0
	for _, d := range g.Degrees {
		largest = max(largest, d)
	}
	norm := 1.0 // the largest sum of a row of |A|, or of a matrix that is similar to it
	op := &sparse.Operator[float64]{A: g.A}
	switch p.Matrix {
	case sparse.Adjacency:
		norm = largest
	case sparse.NormalizedAdjacency, sparse.Transition, sparse.NormalizedLaplacian:
		op = sparse.NewOperator[float64](sparse.NormalizedAdjacency, g.A, g.Degrees)
		if err := e.normalized(ctx, p, g); err != nil {
			return nil, err
		}
	case sparse.Laplacian:
		op, norm = g.Laplacian(), 0
		for _, d := range op.Diag {
			norm = max(norm, 2*d)
		}
		if p.Which == lanczos.Smallest {
			e.known(g, nil, 0)
		}
	case sparse.Modularity:
		gamma := p.Resolution
		if gamma == 0 {
			gamma = 1
		}
		norm = largest
		if vol := tall.Total(nil, g.Degrees); vol > 0 {
			op.Gamma, op.U, op.V = -gamma/vol, g.Degrees, g.Degrees
			norm += gamma * tall.Dot(nil, g.Degrees, g.Degrees) / vol
		}
	default:
		panic(badMatrix)
	}
	op.Workers = g.Workers
	e.A, e.Entries = op, g.A.NNZ()
	const allowance = 10 * 0x1p-52
	e.rounding = allowance * norm
	return e, nil
}

// normalized states the problem for S.
func (e *eigenproblem) normalized(ctx context.Context, p *Problem, g *graph.Graph) error {
	switch p.Matrix {
	case sparse.NormalizedLaplacian:
		e.value = func(λ float64) float64 { return 1 - λ }
		e.Near, e.Positive = 1-p.Near, false
		switch p.Which {
		case lanczos.Largest:
			e.Which = lanczos.Smallest
		case lanczos.Smallest:
			e.Which = lanczos.Largest
		}
	case sparse.Transition:
		e.zero = 1
		e.Scale = tall.Roots(g.Degrees)
	}
	switch e.Which {
	case lanczos.Largest:
		e.known(g, tall.Roots(g.Degrees), 1)
	case lanczos.Smallest:
		weights, err := bipartite(ctx, g)
		if weights != nil {
			e.Known = &lanczos.Known{Components: g.Components, Weights: weights, Value: -1}
		}
		return err
	}
	return nil
}

// bipartite returns ±d^½ on the components whose nodes have two colours, neighbours never
// the same, and 0 on the others: S·w = −w. It returns nil if there are none.
// Cost: one sweep by one goroutine.
func bipartite(ctx context.Context, g *graph.Graph) ([]float64, error) {
	n := len(g.Degrees)
	up, odd, size := make([]uint32, n), make([]bool, n), make([]uint32, n) // odd: the colour is not that of up
	for i := range up {
		up[i], size[i] = uint32(i), 1
	}
	root := func(i uint32) (r uint32, differs bool) {
		for up[i] != i {
			differs = differs != odd[i]
			i = up[i]
		}
		return i, differs
	}
	failed := make([]bool, len(g.Components.Sizes))
	err := g.A.Sweep(ctx, 1, func(_ int, p sparse.Panel) error {
		for i := p.Lo; i < p.Hi; i++ {
			if failed[g.Components.Of[i]] {
				continue
			}
			col, val := p.Row(i - p.Lo)
			for e, j := range col {
				if int(j) < i || val != nil && val[e] == 0 {
					continue
				}
				a, x := root(uint32(i))
				b, y := root(j)
				if size[a] < size[b] {
					a, b = b, a
				}
				if a != b {
					up[b], odd[b] = a, x == y
					size[a] += size[b]
				} else if x == y {
					failed[g.Components.Of[i]] = true
					break
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	weights, any := make([]float64, n), false
	for i, d := range g.Degrees {
		if d > 0 && !failed[g.Components.Of[i]] {
			weights[i], any = math.Sqrt(d), true
			if _, differs := root(uint32(i)); differs {
				weights[i] = -weights[i]
			}
		}
	}
	if !any {
		return nil, nil
	}
	return weights, nil
}
