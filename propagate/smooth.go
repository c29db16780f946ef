package propagate

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// CorrectAndSmooth declares [Smooth], which corrects the scores Z of any method. With one-hot labels Y, S = D^-½AD^-½ and the
// mean σ of ‖Y_i − Z_i‖₁ over the labelled nodes i,
//
//	Ê = (1 − α₁)·(I − α₁S)⁻¹·E,  E_i = Y_i − Z_i at labelled nodes and 0 elsewhere,
//	H_i = Z_i + σ·Ê_i/‖Ê_i‖₁,  or Y_i at labelled nodes,
//	G = (1 − α₂)·(I − α₂S)⁻¹·H.
//
// Source: Huang, He, Singh, Lim and Benson 2021, sections 2.2 and 2.3, with errors scaled by Autoscale. Cost: two block solves.
var CorrectAndSmooth = param.Spec{
	Name: "cs", Title: "correct and smooth: errors at labels, and then scores, spread along edges", Works: param.Undirected,
	Source: "Huang, He, Singh, Lim and Benson, Combining label propagation and simple models out-performs graph neural networks, ICLR 2021, sections 2.2 and 2.3",
	Params: []param.Param{
		{Name: "correct-alpha", Symbol: "α₁",
			Meaning: "share of errors that spreads at a step", Range: shareRange,
			Default: param.Of(0.8)},
		{Name: "smooth-alpha", Symbol: "α₂",
			Meaning: "share of scores that spreads at a step", Range: shareRange,
			Default: param.Of(0.8)},
	},
}

// smoothColumns is the number of classes that are solved together, a variable for tests.
var smoothColumns = 64

// Smooth computes G of [CorrectAndSmooth] for scores Z, which have a row for each node of an undirected graph. It calls take
// with the values of a node for the classes first, first+1, …. take may overwrite the scores of these classes. Classes are
// solved in groups of 64; with several groups the errors are solved twice, because their scale needs the errors of all
// classes. memory limits the bytes in addition to the scores; 0 means no limit. Smooth returns the errors of
// [iterative.System.SolveTo].
func Smooth(ctx context.Context, g *graph.Graph, scores *sparse.Block[float32],
	s cwk.Seeds, v param.Values, memory int64,
	take func(node, first int, values []float64)) (graph.Work, error) {
	n, k := scores.Dims()
	width := min(k, smoothColumns)
	sigma := 0.0
	for i, row := range s.Row {
		for c, z := range scores.Row(row) {
			target := 0.0
			if c == s.Class[i] {
				target = 1
			}
			sigma += math.Abs(target-float64(z)) / float64(len(s.Row))
		}
	}
	team := sparse.TeamOf(g.A)
	f := &smoothing{g: g, scores: scores, s: s, memory: memory,
		b: sparse.NewBlock[float64](n, width),
		x: sparse.NewBlock[float64](n, width)}
	size := make([]float64, n) // ‖Ê_i‖₁
	for lo, hi := range blocks.Slabs(k, width) {
		x, err := f.correct(ctx, lo, hi, v.Number("correct-alpha"))
		if err != nil {
			return f.work, err
		}
		for i := range size {
			for _, e := range x.Row(i) {
				size[i] += math.Abs(e)
			}
		}
	}
	for lo, hi := range blocks.Slabs(k, width) {
		b := f.b.Columns(0, hi-lo)
		x := f.x.Columns(0, hi-lo)
		if k > width {
			if _, err := f.correct(ctx, lo, hi, v.Number("correct-alpha")); err != nil {
				return f.work, err
			}
		}
		for i := range n {
			if team.IsPadding(i) {
				continue
			}
			for c, z := range scores.Row(i)[lo:hi] {
				b.Row(i)[c] = float64(z)
				if size[i] > 0 {
					b.Row(i)[c] += sigma * x.Row(i)[c] / size[i]
				}
			}
			clear(x.Row(i))
		}
		for i, row := range s.Row {
			clear(b.Row(row))
			if c := s.Class[i]; lo <= c && c < hi {
				b.Row(row)[c-lo] = 1
			}
		}
		if err := f.spread(ctx, x, b, v.Number("smooth-alpha")); err != nil {
			return f.work, err
		}
		for i := range n {
			if !team.IsPadding(i) {
				take(i, lo, x.Row(i))
			}
		}
	}
	return f.work, nil
}

type smoothing struct {
	g      *graph.Graph
	scores *sparse.Block[float32]
	s      cwk.Seeds
	memory int64
	b, x   *sparse.Block[float64]
	work   graph.Work
}

// correct returns Ê for the classes lo ≤ c < hi.
func (f *smoothing) correct(ctx context.Context, lo, hi int,
	alpha float64) (*sparse.Block[float64], error) {
	b := f.b.Columns(0, hi-lo)
	x := f.x.Columns(0, hi-lo)
	for i := range b.Rows {
		clear(b.Row(i))
		clear(x.Row(i))
	}
	for i, row := range f.s.Row {
		for c, z := range f.scores.Row(row)[lo:hi] {
			b.Row(row)[c] = -float64(z)
		}
		if c := f.s.Class[i]; lo <= c && c < hi {
			b.Row(row)[c-lo]++
		}
	}
	return x, f.spread(ctx, x, b, alpha)
}

// spread stores (1 − α)(I − αS)⁻¹·B in x.
func (f *smoothing) spread(ctx context.Context, x, b *sparse.Block[float64],
	alpha float64) error {
	sys, err := iterative.VonNeumann(f.g, true, alpha)
	if err != nil {
		return err
	}
	sys.Memory = budget.Subtract(f.memory, SmoothWorkspace(x.Rows, f.g.A.NNZ(), f.x.Cols).Required(0))
	res, err := sys.SolveTo(ctx, x, b,
		&iterative.Settings{Tolerance: defaultTolerance})
	if err != nil && !errors.Is(err, iterative.ErrStagnation) {
		return fmt.Errorf("propagate: %s: %w", CorrectAndSmooth.Name, err)
	}
	f.work.Sweeps += res.Sweeps
	blocks.Scale(x, 1-alpha)
	return nil
}

// SmoothWorkspace declares the memory of [Smooth] for the given number of classes.
func SmoothWorkspace(n int, entries int64, classes int) budget.Workspace {
	return iterative.FactorWorkspace(n, entries, false).AndHeld(
		budget.Times(solveBlocks+2, budget.Block[float64](n, min(classes, smoothColumns))), 16*8*int64(n))
}
