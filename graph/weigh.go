package graph

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/heatwalk/heatwalk/internal/blocks"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
)

// weigh computes the degrees and the diagonal (nil if it is zero), and checks the weights.
// Cost: one sweep.
func weigh(ctx context.Context, g *Graph) error {
	n, _ := g.A.Dims()
	diag, loopless := make([]float64, n), make([]float64, n)
	g.Degrees = make([]float64, n)
	rows, diagonal := sparse.LocalRows(g.A)
	ranges, team := rows.Ranges(), sparse.TeamOf(g.A)
	pieces := make([]blocks.ExactSum, len(ranges)) // partial sums of long rows
	var weighted, signed atomic.Bool
	finish := func(i int, s blocks.ExactSum) {
		loopless[i] = s.Value()
		s.Add(math.Abs(diag[i]))
		g.Degrees[i] = s.Value()
	}
	err := rows.Sweep(ctx, g.Workers, func(_ int, p sparse.Panel) error {
		if p.Val != nil {
			weighted.Store(true)
		}
		for i := p.Lo; i < p.Hi; i++ {
			s, isSigned, err := weighRow(i, diagonal, p, diag)
			if err != nil {
				return err
			}
			if isSigned {
				signed.Store(true)
			}
			if p.Pieces > 1 {
				pieces[p.Index] = s
			} else {
				finish(i, s)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i := 0; i < len(ranges); i += ranges[i].Pieces {
		if ranges[i].Pieces == 1 {
			continue
		}
		var sum blocks.ExactSum
		for _, s := range pieces[i : i+ranges[i].Pieces] {
			sum.Add(s.Sum)
			sum.Rest += s.Rest
		}
		finish(ranges[i].Lo, sum)
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

// weighRow returns the sum of the sizes in row i of a panel without the diagonal element, which it stores in
// diag, and whether an element is negative.
func weighRow(i int, diagonal func(row int) int, p sparse.Panel, diag []float64) (s blocks.ExactSum, isSigned bool, err error) {
	col, val := p.Row(i - p.Lo)
	if len(col) == 0 {
		return s, false, nil
	}
	loop, has := slices.BinarySearch(col, uint32(diagonal(i)))
	if val == nil {
		s.Sum = float64(len(col))
		for ; has && loop < len(col) && col[loop] == uint32(diagonal(i)); loop++ {
			diag[i]++
			s.Sum--
		}
		return s, false, nil
	}
	for e, w := range val {
		isSigned = isSigned || w < 0
		switch {
		case w-w != 0: // NaN or infinite
			return s, false, fmt.Errorf("%w: row %d, column %d", ErrWeight, i, col[e])
		case has && col[e] == col[loop]: // several entries in a graph with kinds of edges
			diag[i] += w
		default:
			s.Add(math.Abs(w))
		}
	}
	return s, isSigned, nil
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
	if a, divided := g.A.(*sparse.Divided); divided {
		g.loopless, err = a.WithValues(ctx, func(row, col int, w float64) float64 {
			if row == col {
				return 0
			}
			return w
		})
		return err
	}
	g.loopless = &withoutLoops{g.A, g.Loops}
	return nil
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

// withoutLoops is a matrix with zeros in place of its diagonal. Each sweep writes the zeros to a
// copy of the values, because the matrix itself may be read-only.
type withoutLoops struct {
	sparse.Matrix
	loops []float64
}

// Resident implements [sparse.Resident].
func (m *withoutLoops) Resident() bool {
	resident, ok := m.Matrix.(sparse.Resident)
	return !ok || resident.Resident()
}

// Sweep implements [sparse.Matrix].
func (m *withoutLoops) Sweep(ctx context.Context, workers int, visit func(worker int, p sparse.Panel) error) error {
	values := make([][]float64, sched.Workers(workers))
	return m.Matrix.Sweep(ctx, workers, func(worker int, p sparse.Panel) error {
		changed := false
		for i := p.Lo; i < p.Hi; i++ {
			if m.loops[i] == 0 {
				continue
			}
			col, _ := p.Row(i - p.Lo)
			place, ok := slices.BinarySearch(col, uint32(i))
			if !ok { // the diagonal is in another piece of the row
				continue
			}
			if !changed {
				changed = true
				values[worker] = valuesOf(values[worker], p)
				p.Val = values[worker]
			}
			for ; place < len(col) && col[place] == uint32(i); place++ {
				p.Val[int(p.Ptr[i-p.Lo]-p.Ptr[0])+place] = 0
			}
		}
		return visit(worker, p)
	})
}

// valuesOf returns a copy of the values of a panel, in the memory of buf if that suffices.
func valuesOf(buf []float64, p sparse.Panel) []float64 {
	buf = blocks.Grow(buf, len(p.Col))
	if p.Val != nil {
		copy(buf, p.Val)
		return buf
	}
	for e := range buf {
		buf[e] = 1
	}
	return buf
}
