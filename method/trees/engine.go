package trees

import (
	"context"
	"slices"
	"time"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// Spec declares the method trees.
var Spec = param.Spec{
	Name: "trees", Works: param.Undirected | param.Directed, Arcs: param.BothDirections,
	Title: "boosted trees on attributes, degrees, triangles and the labels and attributes around a node",
	Source: "Friedman, Greedy function approximation: a gradient boosting machine, 2001; Chen and Guestrin, XGBoost, 2016; " +
		"Ke et al., LightGBM, 2017",
	Params: []param.Param{{
		Name: "rounds", Meaning: "rounds of boosting, each with a tree for each class and fold",
		Symbol: "r", Kind: param.Whole, Range: param.Range{Least: 0, Most: 10_000}, Default: param.Of(0),
		Otherwise: "at most 200, chosen by held-out labels",
	}, {
		Name: "columns", Meaning: "own: attributes of the node alone; all: and what is around the node",
		Kind: param.Choice, Words: []string{EitherColumns, AllColumns, OwnColumns}, Default: param.Of(EitherColumns),
		Otherwise: "chosen by held-out labels",
	}},
}

// Engine predicts classes by boosted trees, see [Learn]. A prediction is the mean of the scores of models
// that each learn without some of five folds; the accuracy is estimated by held-out scores.
var Engine = &engine.Engine{
	Name: Spec.Name, Takes: append(Spec.Takes(), "node_features", "feature_ids"), Specs: []*param.Spec{&Spec}, Fit: fit,
	Workspace: func(p *engine.Problem, _ *engine.Settings) (budget.Workspace, error) {
		outputs := len(p.Names)
		if outputs == 2 {
			outputs = 1
		}
		return Workspace(p, len(p.Row), outputs, min(len(p.Row), choose.FoldCount(len(p.Row)))).AndHeld(p.ArcsBytes()), nil
	},
}

// begin returns p without directions, and the parameters that par or s gives.
func begin(ctx context.Context, p *engine.Problem, par *engine.Parameters, s *engine.Settings, work *graph.Work) (*engine.Problem, param.Values, error) {
	if err := problem.ValidateFor(p, &Spec); err != nil {
		return nil, nil, err
	}
	if p.Team() != nil {
		return nil, nil, &problem.Error{Method: Spec.Name, Err: sparse.ErrDivided}
	}
	given := s.Given
	if par != nil && par.Declared != nil {
		given = par.Declared.Values
	}
	v, err := Spec.Resolve(Spec.Own(given), nil)
	if err != nil {
		return nil, nil, err
	}
	if p.Directed {
		if p, _, err = p.WithoutDirections(ctx, s.Workers, work); err != nil {
			return nil, nil, err
		}
	}
	return p, v, blocks.CheckScale[float32](nil, p.Degrees)
}

func fit(ctx context.Context, p *engine.Problem, par *engine.Parameters, s *engine.Settings) (*engine.Prediction, error) {
	set := s.WithDefaults()
	out := &engine.Prediction{Settings: 1}
	p, v, err := begin(ctx, p, par, &set, &out.Work)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	task := choose.FitTaskOf(p, set.RNGSeed)
	m, err := Learn(ctx, &Sample{Problem: p, Row: p.Row, Class: p.Class, Fold: task.Fold, Folds: task.Folds(),
		Rounds: v.Int("rounds"), Columns: v.Word("columns"), Workers: set.Workers, Work: &out.Work})
	if err != nil {
		return nil, err
	}
	out.Parameters = parametersOf(m)
	out.Seconds.Choose = time.Since(start).Seconds()
	start = time.Now()
	out.Scores = blocks.NewDense[float32](len(p.Degrees), len(p.Names))
	err = m.Predict(ctx, func(node int, scores []float64) {
		simd.ConvertTo(out.Scores.Row(node), m.PredictionTo(nil, scores))
	})
	if err != nil {
		return nil, err
	}
	if out.Reached, err = p.Reachable(ctx, informed(p), set.Workers, &out.Work); err != nil {
		return nil, err
	}
	engine.FillClasses(out, p, engine.ClassShares)
	if set.Explain {
		out.Form = newForm(m, out.Scores)
	}
	out.Seconds.Classify = time.Since(start).Seconds()
	if set.Unmeasured && set.Model == nil {
		return out, nil
	}
	return out, measure(ctx, task, m, &set, out)
}

// parametersOf returns the parameters of a kept model that predicts as m.
func parametersOf(m *Model) engine.Parameters {
	return engine.Parameters{Declared: &engine.Setting{Spec: &Spec, Values: param.Values{
		"rounds": param.Of(m.Rounds), "columns": param.Of(m.Columns())}}}
}

// informed returns the nodes with labels or attributes.
func informed(p *engine.Problem) []int {
	if p.Attributes == nil {
		return p.Row
	}
	rows := slices.Clone(p.Row)
	for v := range p.Degrees {
		if p.Attributes.Has(v) {
			rows = append(rows, v)
		}
	}
	return rows
}

// measure stores in out the predictions of held-out labels and their accuracy.
func measure(ctx context.Context, t *choose.Task, m *Model, s *engine.Settings, out *engine.Prediction) error {
	t.Isolated = make([]bool, len(t.Row))
	if t.Attributes == nil {
		if err := t.FindIsolated(ctx, s.Workers, &out.Work); err != nil {
			return err
		}
	}
	out.Held = new(choose.Held)
	for i := range t.Row {
		scores := m.PredictionTo(nil, m.Held.Row(i))
		out.Held.Add(i, classify.ArgMax(scores), !t.Isolated[i], scores)
	}
	out.Estimate = out.Held.Estimate(t.Problem, out.Reached)
	out.Estimate.Accuracy = min(1, out.Estimate.Accuracy+m.Gain)
	return nil
}
