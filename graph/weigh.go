package graph

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// weigh computes Degrees, Loops and Least, and checks the weights. Cost: one sweep.
func (g *Graph) weigh(ctx context.Context) error {
	n, _ := g.A.Dims()
	diag := make([]float64, n)
	loopless := make([]float64, n)
	g.Degrees = make([]float64, n)
	rows, diagonal := sparse.LocalRows(g.A)
	team := sparse.TeamOf(g.A)
	smallest := make([]float64, sched.Workers(g.Workers)) // |a_ij| other than 0, by worker
	for worker := range smallest {
		smallest[worker] = math.Inf(1)
	}
	var weighted, signed atomic.Bool
	err := sparse.EachRow(ctx, rows, g.Workers, func(worker, i int, col []uint32, val []float64) error {
		if val != nil {
			weighted.Store(true)
		}
		if len(col) == 0 {
			return nil
		}
		loop := uint32(diagonal(i))
		sum := blocks.ExactSum{}
		if _, has := slices.BinarySearch(col, loop); has && val == nil {
			diag[i] = 1
		}
		if val == nil {
			sum.Sum = float64(len(col)) - diag[i]
			smallest[worker] = min(smallest[worker], 1)
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
			if w != 0 {
				smallest[worker] = min(smallest[worker], math.Abs(w))
			}
		}
		sum.Add(max(-diag[i], 0)) // a negative loop adds to L
		loopless[i] = sum.Value()
		sum.Add(max(diag[i], 0))
		g.Degrees[i] = sum.Value()
		return nil
	})
	if err != nil {
		return err
	}
	for _, v := range [][]float64{diag, loopless, g.Degrees} {
		team.SumNamed(v)
	}
	ends := []float64{math.Inf(-1)}
	for _, w := range smallest {
		ends[0] = max(ends[0], -w)
	}
	team.Max(ends)
	g.Least = -ends[0]
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

// WithoutHeavyLoops returns a graph whose matrix and degrees define L = D − A. If a positive self loop outweighs all other
// edges of its node, it returns a copy of g without positive self loops, because the other edges would be lost to rounding
// in D − A. Otherwise it returns g. Negative loops stay, because each adds 2|a_ii| to L.
func (g *Graph) WithoutHeavyLoops() *Graph {
	if g.looplessDegrees == nil {
		return g
	}
	return &Graph{A: g.loopless, Signed: g.Signed, sides: g.sides,
		Degrees: g.looplessDegrees, Loops: g.negativeLoops,
		Components: g.Components, Nodes: g.Nodes, Workers: g.Workers,
		Memory: g.Memory}
}

func (g *Graph) leaveLoopsOut(ctx context.Context) (err error) {
	if g.looplessDegrees == nil {
		return nil
	}
	if g.Signed {
		g.negativeLoops = make([]float64, len(g.Loops))
		for i, w := range g.Loops {
			g.negativeLoops[i] = min(w, 0)
		}
	}
	g.loopless, err = sparse.MapValues(ctx, g.A, func(i, j int, w float64) float64 {
		if i == j {
			return min(w, 0)
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
	e := g.WithoutHeavyLoops()
	if e.Loops == nil {
		return e.Degrees
	}
	diag := slices.Clone(e.Degrees)
	for i, w := range e.Loops {
		diag[i] -= w
	}
	return diag
}
