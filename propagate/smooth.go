package propagate

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/tall"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
)

// CorrectAndSmooth declares [Smooth], which corrects the scores Z of any method: with one-hot
// labels Y, S = D^-½AD^-½ and the mean σ of ‖Y_i − Z_i‖₁ over the labelled nodes i,
//
//	Ê = (1 − α₁)·(I − α₁S)⁻¹·E,  E_i = Y_i − Z_i at labelled nodes and 0 elsewhere,
//	H_i = Z_i + σ·Ê_i/‖Ê_i‖₁,  or Y_i at labelled nodes,
//	G = (1 − α₂)·(I − α₂S)⁻¹·H.
//
// Huang, He, Singh, Lim and Benson 2021, sections 2.2 and 2.3, with the errors scaled as by
// Autoscale. Cost: two block solves.
var CorrectAndSmooth = spec.Spec{
	Name: "cs", Title: "correct and smooth: errors at labels, and then scores, spread along edges", Works: spec.Undirected,
	Source: "Huang, He, Singh, Lim and Benson, Combining label propagation and simple models out-performs graph neural networks, ICLR 2021, sections 2.2 and 2.3",
	Params: []spec.Param{
		{Name: "correct-alpha", Symbol: "α₁", Meaning: "share of errors that spreads at a step", Range: spec.Range{Least: 0, Most: 1, AboveLeast: true, BelowMost: true}, Default: spec.Of(0.8)},
		{Name: "smooth-alpha", Symbol: "α₂", Meaning: "share of scores that spreads at a step", Range: spec.Range{Least: 0, Most: 1, AboveLeast: true, BelowMost: true}, Default: spec.Of(0.8)},
	},
}

// Smooth returns G of [CorrectAndSmooth], a row for each node. The graph is undirected;
// memory limits the bytes of a preconditioner in addition to the blocks of the two solves, 0 for
// no limit. Errors are those of [iterative.System.SolveTo].
func Smooth(ctx context.Context, g *graph.Graph, scores *sparse.Block[float32], s cwk.Seeds, v spec.Values, memory int64) (*sparse.Block[float64], problem.Work, error) {
	n, k := scores.Dims()
	b, x := sparse.NewBlock[float64](n, k), sparse.NewBlock[float64](n, k)
	sigma := 0.0
	for i, row := range s.Row {
		for c, z := range scores.Row(row) {
			b.Row(row)[c] = -float64(z)
		}
		b.Row(row)[s.Class[i]]++
		for _, e := range b.Row(row) {
			sigma += math.Abs(e) / float64(len(s.Row))
		}
	}
	var work problem.Work
	if err := spread(ctx, &work, x, b, g, v.Number("correct-alpha"), memory); err != nil {
		return nil, work, err
	}
	for i := range n {
		size := 0.0
		for _, e := range x.Row(i) {
			size += math.Abs(e)
		}
		for c, z := range scores.Row(i) {
			if b.Row(i)[c] = float64(z); size > 0 {
				b.Row(i)[c] += sigma * x.Row(i)[c] / size
			}
		}
	}
	for i, row := range s.Row {
		clear(b.Row(row))
		b.Row(row)[s.Class[i]] = 1
	}
	for i := range n {
		clear(x.Row(i))
	}
	err := spread(ctx, &work, x, b, g, v.Number("smooth-alpha"), memory)
	return x, work, err
}

// spread stores (1 − α)(I − αS)⁻¹·B in x, and adds the sweeps to work.
func spread(ctx context.Context, work *problem.Work, x, b *sparse.Block[float64], g *graph.Graph, alpha float64, memory int64) error {
	sys, err := iterative.VonNeumann(g, true, alpha)
	if err != nil {
		return err
	}
	sys.Memory = memory
	res, err := sys.SolveTo(ctx, x, b, &iterative.Settings{Tolerance: defaultTolerance})
	if err != nil && !errors.Is(err, iterative.ErrStagnation) {
		return fmt.Errorf("propagate: %s: %w", CorrectAndSmooth.Name, err)
	}
	work.Sweeps += res.Sweeps
	work.EntryColumns += g.A.NNZ() * int64(res.Sweeps) * int64(x.Cols)
	for i := range x.Rows {
		for c := range x.Row(i) {
			x.Row(i)[c] *= 1 - alpha
		}
	}
	return nil
}

// SmoothBytes is the memory of [Smooth] on a graph with n nodes and the given number of
// entries, its vectors included.
func SmoothBytes(n int, entries int64, classes int) int64 {
	return (solveBlocks+2)*tall.BlockBytes[float64](n, classes) + 15*8*int64(n) + iterative.CholeskyBytes(n, entries, classes)
}
