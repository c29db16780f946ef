package trees

import (
	"context"
	"maps"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// Numbers predicts numbers by trees for the squared loss. Its columns of labels are means of the known numbers around a node.
var Numbers = numbers()

func numbers() engine.GraphMethod {
	spec := Spec
	spec.Works = param.Undirected
	spec.Arcs = ""
	m := engine.Numeric(&spec, nil, func(p *engine.Problem) budget.Workspace {
		return Workspace(p, len(p.Row), 1, min(len(p.Row), choose.FoldCount(len(p.Row))))
	})
	m.Predictions = predictNumbers
	m.Scores = scoreNumbers
	m.Prepare = func(_ context.Context, j *engine.Job, _ []param.Values) error {
		if j.Problem.Team() != nil {
			return &problem.Error{Method: Spec.Name, Err: sparse.ErrDivided}
		}
		j.Shared = new(numbersFit)
		return nil
	}
	return m
}

// numbersFit is the last model of a job.
type numbersFit struct {
	problem *engine.Problem
	values  param.Values
	model   *Model
	place   map[int]int // position of each known node
}

// fit returns the model of the known numbers of p, and stores in v what was chosen. If it is the last model, it is not fitted
// again.
func (f *numbersFit) fit(ctx context.Context, j *engine.Job, p *engine.Problem, v param.Values) (*Model, error) {
	if f.problem == p && maps.Equal(f.values, v) {
		return f.model, nil
	}
	task := choose.FitTaskOf(p, j.Settings.RNGSeed)
	targets := sparse.NewBlock[float64](len(p.Row), 1)
	for i, y := range p.Value {
		targets.Row(i)[0] = y
	}
	m, err := Learn(ctx, &Sample{Problem: p, Row: p.Row, Loss: classify.SquaredLoss, Targets: targets,
		Fold: task.Fold, Folds: task.Folds(), Rounds: v.Int("rounds"), Columns: v.Word("columns"), Workers: j.Settings.Workers, Work: &j.Out.Work})
	if err != nil {
		return nil, err
	}
	maps.Copy(v, parametersOf(m).Declared.Values) // what was chosen
	*f = numbersFit{p, maps.Clone(v), m, map[int]int{}}
	for i, node := range p.Row {
		f.place[node] = i
	}
	return m, nil
}

// predictNumbers is the field Predictions of [engine.GraphMethod]. If groups together have all numbers, one model predicts
// each number without the number's fold; otherwise each group has a model.
func predictNumbers(ctx context.Context, j *engine.Job, settings []param.Values, groups []engine.Group, visit engine.FoldVisitor) error {
	f := j.Shared.(*numbersFit)
	for setting, v := range settings {
		given := maps.Clone(v)
		for group, g := range groups {
			if len(g.Train.Row)+len(g.Test.Row) == len(j.Problem.Row) {
				m, err := f.fit(ctx, j, j.Problem, v)
				if err != nil {
					return err
				}
				visit(setting, group, func(node int) engine.Guess {
					return engine.Guess{Value: m.Held.Row(f.place[node])[0], Reached: true}
				})
				continue
			}
			m, err := new(numbersFit).fit(ctx, j, g.Train, maps.Clone(given))
			if err != nil {
				return err
			}
			values, err := m.numbers(ctx)
			if err != nil {
				return err
			}
			visit(setting, group, func(node int) engine.Guess { return engine.Guess{Value: values[node], Reached: true} })
		}
	}
	return nil
}

// scoreNumbers is the field Scores of [engine.GraphMethod].
func scoreNumbers(ctx context.Context, j *engine.Job, v param.Values) error {
	m, err := j.Shared.(*numbersFit).fit(ctx, j, j.Problem, v)
	if err != nil {
		return err
	}
	j.Out.Value, err = m.numbers(ctx)
	return err
}

// numbers returns the predicted number of every node.
func (m *Model) numbers(ctx context.Context) ([]float64, error) {
	values := make([]float64, m.fixed.Rows)
	err := m.Predict(ctx, func(node int, scores []float64) { values[node] = scores[0] })
	return values, err
}
