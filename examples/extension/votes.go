package main

import (
	"context"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/propagate"
	"github.com/heatwalk/heatwalk/sparse"
)

// votes is the method "votes": F ← βD⁻¹AF + (1−β)Y for some rounds, where Y is one-hot at the
// labels.
var votes = &propagate.Learner{
	Spec: param.Spec{
		Name: "votes", Title: "F ← βTF + (1 − β)Y, rounds of votes with restarts at labels", Works: param.Undirected,
		Params: []param.Param{
			{Name: "beta", Symbol: "β", Meaning: "weight of the neighbours", Range: param.Range{Least: 0, Most: 1, AboveLeast: true, BelowMost: true},
				Default: param.Of(0.9), Grid: param.Grid(0.5, 0.9)},
			{Name: "rounds", Symbol: "rounds", Meaning: "rounds of votes", Kind: param.Whole, Range: param.Range{Least: 1, Most: 1000}, Default: param.Of(20)},
		},
	},
	Spread: func(ctx context.Context, f *sparse.Block[float64], g *graph.Graph, s cwk.Seeds, v param.Values, _ float64) (columns int, err error) {
		seeds, next := sparse.NewBlock[float64](f.Rows, f.Cols), sparse.NewBlock[float64](f.Rows, f.Cols)
		for i, row := range s.Row {
			if c := s.Class[i]; c >= 0 { // −1: a class without a column here
				seeds.Row(row)[c] = 1
			}
		}
		for i := range f.Rows {
			copy(f.Row(i), seeds.Row(i))
		}
		t := sparse.NewOperator[float64](sparse.Transition, g.A, g.Degrees)
		t.Workers = g.Workers
		beta := v.Number("beta")
		for range v.Int("rounds") {
			if err := t.StepTo(ctx, next, f, sparse.Step[float64]{Alpha: beta, Delta: 1 - beta, Prev: seeds}); err != nil {
				return columns, err
			}
			for i := range f.Rows {
				copy(f.Row(i), next.Row(i))
			}
			columns += f.Cols
		}
		return columns, nil
	},
	Workspace: func(n, classes int, _ param.Values) budget.Workspace {
		return budget.Held(budget.Block[float64](n, 3*classes))
	},
}
