package main

import (
	"context"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// damped is the model "damped" for numbers: the mean of the known values around a node, Σ_t β^t·(T^t·y)_i / Σ_t β^t·(T^t·1_L)_i
// over 20 steps, with the known nodes L.
var damped = &engine.Engine{
	Name: "damped", Target: engine.Numbers, Takes: dampedSpec.Takes(), Specs: []*param.Spec{&dampedSpec},
	Fit: func(ctx context.Context, p *engine.Problem, par *engine.Parameters, s *engine.Settings) (*engine.Prediction, error) {
		n, mean := len(p.Degrees), 0.0
		for _, v := range p.Value {
			mean += v / float64(len(p.Value))
		}
		known := sparse.NewBlock[float64](n, 2)
		for i, row := range p.Row {
			known.Row(row)[0], known.Row(row)[1] = p.Value[i]-mean, 1
		}
		t := sparse.NewOperator[float64](sparse.Transition, p.A, p.Degrees)
		t.Workers = s.Workers
		f, next := sparse.NewBlock[float64](n, 2), sparse.NewBlock[float64](n, 2)
		for range 20 {
			if err := t.StepTo(ctx, next, f, sparse.Step[float64]{Alpha: par.Declared.Values.Number("beta"), Delta: 1, Prev: known}); err != nil {
				return nil, err
			}
			f, next = next, f
		}
		out := &engine.Prediction{Value: make([]float64, n)}
		for i := range out.Value {
			if out.Value[i] = mean; f.Row(i)[1] > 0 {
				out.Value[i] += f.Row(i)[0] / f.Row(i)[1]
			}
		}
		return out, nil
	},
	Workspace: func(p *engine.Problem, _ *engine.Settings) (budget.Workspace, error) {
		return budget.Held(budget.Times(3, budget.Block[float64](len(p.Degrees), 2))), nil
	},
}

var dampedSpec = param.Spec{
	Name: "damped", Title: "mean of the values around, those t steps away with weight β^t", Works: param.Undirected,
	Params: []param.Param{{
		Name: "beta", Symbol: "β", Meaning: "weight of the neighbours", Range: param.Range{Least: 0, Most: 1, AboveLeast: true, BelowMost: true},
		Default: param.Of(0.5), Grid: param.Grid(0.2, 0.5, 0.9),
	}},
}
