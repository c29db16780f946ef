package graph

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/heatwalk/heatwalk/internal/blocks"
	"github.com/heatwalk/heatwalk/sparse"
)

// weigh computes the degrees and the diagonal (nil if it is zero), and checks the weights.
// Cost: one sweep.
func weigh(ctx context.Context, g *Graph) error {
	n, _ := g.A.Dims()
	diag, loopless := make([]float64, n), make([]float64, n)
	g.Degrees = make([]float64, n)
	rows, diagonal := sparse.LocalRows(g.A)
	team := sparse.TeamOf(g.A)
	var weighted, signed atomic.Bool
	err := sparse.EachRow(ctx, rows, g.Workers, func(_, i int, col []uint32, val []float64) error {
		if val != nil {
			weighted.Store(true)
		}
		if len(col) == 0 {
			return nil
		}
		loop, sum := uint32(diagonal(i)), blocks.ExactSum{}
		if _, has := slices.BinarySearch(col, loop); has && val == nil {
			diag[i] = 1
		}
		if val == nil {
			sum.Sum = float64(len(col)) - diag[i]
		}
		for e, w := range val {
			switch {
			case w-w != 0: // NaN or infinite
				return fmt.Errorf("%w: row %d, column %d", ErrWeight, i, col[e])
			case col[e] == loop:
				diag[i] = w
			default:
				sum.Add(math.Abs(w))
			}
			if w < 0 {
				signed.Store(true)
			}
		}
		loopless[i] = sum.Value()
		sum.Add(math.Abs(diag[i]))
		g.Degrees[i] = sum.Value()
		return nil
	})
	if err != nil {
		return err
	}
	for _, v := range [][]float64{diag, loopless, g.Degrees} {
		team.SumNamed(v)
	}
	flags := make([]float64, 4) // 1: a loop, a heavy loop, values, a negative value
	for i, w := range diag {
		if w != 0 {
			flags[0] = 1
		}
		if w > loopless[i] {
			flags[1] = 1
		}
	}
	if weighted.Load() {
		flags[2] = 1
	}
	if signed.Load() {
		flags[3] = 1
	}
	team.Max(flags)
	g.Signed = flags[3] == 1
	if flags[0] == 1 {
		g.Loops = diag
	}
	if flags[1]*flags[2] == 1 {
		g.looplessDegrees = loopless
	}
	return nil
}

// WithoutHeavyLoops returns the graph whose matrix and degrees define L = D − A. If a self loop
// outweighs all other edges of its node, it is a copy of g without self loops, because the
// difference D − A would lose the other edges to rounding. Otherwise it is g.
func (g *Graph) WithoutHeavyLoops() *Graph {
	if g.looplessDegrees == nil {
		return g
	}
	return &Graph{A: g.loopless, Signed: g.Signed, sides: g.sides, Degrees: g.looplessDegrees, Components: g.Components, Nodes: g.Nodes, Workers: g.Workers, Memory: g.Memory}
}

// leaveLoopsOut computes the matrix without self loops if it is needed.
func leaveLoopsOut(ctx context.Context, g *Graph) (err error) {
	if g.looplessDegrees == nil {
		return nil
	}
	g.loopless, err = sparse.MapValues(ctx, g.A, func(i, j int, w float64) float64 {
		if i == j {
			return 0
		}
		return w
	})
	return err
}

// Laplacian returns L = D − A.
func (g *Graph) Laplacian() *sparse.Operator[float64] {
	e := g.WithoutHeavyLoops()
	op := sparse.NewOperator[float64](sparse.Laplacian, e.A, e.Degrees)
	op.Workers = g.Workers
	return op
}

// LaplacianDiagonal returns the diagonal of L.
func LaplacianDiagonal(g *Graph) []float64 {
	if g.looplessDegrees != nil || g.Loops == nil {
		return g.WithoutHeavyLoops().Degrees
	}
	diag := slices.Clone(g.Degrees)
	for i, w := range g.Loops {
		diag[i] -= w
	}
	return diag
}
