package main

import (
	"context"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/explain"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

var countsSpec = param.Spec{
	Name: "counts", Title: "share of a class among labels + w·AY, weights of the edges to labels of a class", Works: param.Undirected,
	Params: []param.Param{{
		Name: "pull", Symbol: "w", Meaning: "factor of the weights of edges", Range: param.Above(0), Default: param.Of(1.0), Grid: param.Grid(0.1, 1, 10),
	}},
}

// counts is the engine "counts", with every field that an engine may have.
var counts = &engine.Engine{
	Name: countsSpec.Name, Takes: countsSpec.Takes(), Specs: []*param.Spec{&countsSpec}, HasRaw: true,
	Fit: fitCounts,
	Workspace: func(p *engine.Problem, _ *engine.Settings) (budget.Workspace, error) {
		return budget.Held(3 * budget.Block[float64](p.Rows(), len(p.Names))), nil
	},
	Check: func(s *engine.Settings) error {
		_, err := countsSpec.Resolve(countsSpec.Own(s.Given), nil)
		return err
	},
	Baseline:  func(b *engine.Baselines) problem.Estimate { return b.Majority },
	Highest:   func(*engine.Problem, *engine.Settings) bool { return false },
	Temporary: func(*engine.Problem, *engine.Settings) int64 { return 0 },
	Mixture: &engine.Mixture{
		FoldCount:  func(labels int) int { return min(labels, 5) },
		Propagates: func(*engine.Problem) bool { return true },
	},
}

// mixed describes the models that counts adds. Its JSON is part of a saved model.
type mixed struct {
	Pull float64 `json:"pull"`
}

// Models describes the models.
func (m mixed) Models() []problem.MixedModel {
	return []problem.MixedModel{{Name: "edges to labels", Weight: m.Pull}, {Name: "shares of the classes", Weight: 1}}
}

func fitCounts(ctx context.Context, p *engine.Problem, par *engine.Parameters, s *engine.Settings) (*engine.Prediction, error) {
	set := s.WithDefaults()
	if p.Directed {
		return nil, &problem.Error{Method: countsSpec.Name, Err: problem.ErrDirected}
	}
	n, k := len(p.Degrees), len(p.Names)
	pull := par.Declared.Values.Number("pull")
	out := &engine.Prediction{Class: make([]int, n), Scores: sparse.NewBlock[float32](n, k), Mixed: mixed{pull}}
	var err error
	if out.Reached, err = p.Reachable(ctx, p.Row, set.Workers, &out.Work); err != nil {
		return nil, err
	}
	bias := make([]float64, k)
	weights := sparse.NewBlock[float64](len(p.Row), k)
	y, raw := sparse.NewBlock[float64](n, k), sparse.NewBlock[float64](n, k)
	for i, row := range p.Row {
		bias[p.Class[i]] += 1 / float64(len(p.Row))
		weights.Row(i)[p.Class[i]] = pull
		y.Row(row)[p.Class[i]] = pull
	}
	a := sparse.NewOperator[float64](sparse.Adjacency, p.A, p.Degrees)
	a.Workers = set.Workers
	if err := a.StepTo(ctx, raw, y, sparse.Step[float64]{Alpha: 1}); err != nil {
		return nil, err
	}
	for i := range n {
		total := 0.0
		for c, share := range bias {
			raw.Row(i)[c] += share
			total += raw.Row(i)[c]
		}
		for c, score := range raw.Row(i) {
			out.Scores.Row(i)[c] = float32(score / total)
			if score > raw.Row(i)[out.Class[i]] {
				out.Class[i] = c
			}
		}
	}
	for i, row := range p.Row {
		out.Class[row] = p.Class[i]
	}
	if set.Raw {
		out.Raw = raw
	}
	if set.Explain {
		out.Form = explain.Linear(p.Row, weights, raw, bias, func(ctx context.Context, nodes []int) (*sparse.Block[float64], error) {
			r := sparse.NewBlock[float64](n, len(nodes))
			return r, a.StepTo(ctx, r, explain.UnitColumns(n, nodes, nil), sparse.Step[float64]{Alpha: 1})
		})
	}
	return out, nil
}
