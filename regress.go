package heatwalk

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/regress"
)

// Regress predicts a number for every node from the numbers of some, by id, by the best of a list of
// methods such as "harmonic,diffusion+rls"; "" means those of [regress.Default]. The value of a node is at its
// row in the result. The error is an [*IDError] for an id that is not in the graph, or that of
// [regress.Run].
func (g *Graph) Regress(ctx context.Context, values map[string]float64,
	methods string) (*regress.Prediction, error) {
	g.checkOpen()
	list, err := regress.Parse(cmp.Or(methods,
		regress.Default(g.Nodes.Len(), g.Signed)))
	if err != nil {
		return nil, err
	}
	ids := slices.SortedFunc(maps.Keys(values), nodefile.CompareIDs)
	for _, id := range ids {
		if err := checkValue(id, values[id]); err != nil {
			return nil, err
		}
	}
	rows, err := g.rowsOf("values", append([]string{}, ids...))
	if err != nil {
		return nil, err
	}
	p := &method.Problem{Row: rows}
	for _, row := range rows {
		p.Value = append(p.Value, values[g.Nodes.ID(row)])
	}
	return PredictValues(ctx, g, p, list, &method.Settings{RNGSeed: usualSeed})
}

// PredictValues predicts the value of every node of a problem on the graph. It fills in the Graph of
// the problem, and the Memory and the Workers of the settings.
func PredictValues(ctx context.Context, g *Graph, p *method.Problem, methods []regress.Method,
	s *method.Settings) (*regress.Prediction, error) {
	job, p, s, err := g.beginValues(ctx, p, methods, s)
	if err != nil {
		return nil, err
	}
	defer job.End()
	out, err := regress.Run(ctx, p, methods, s)
	if err != nil {
		return nil, err
	}
	out.Value, out.Reached = job.gatherReached(out.Value, out.Reached)
	return out, job.result()
}

// CompareValues compares methods on splits of the values of a problem, see [evaluate.CompareValues]. It fills
// in the Graph of the problem, and the Memory and the Workers of the settings.
func CompareValues(ctx context.Context, g *Graph, p *method.Problem, methods []regress.Method,
	plan *evaluate.Plan, s *method.Settings) (*evaluate.ValuesReport, error) {
	job, p, s, err := g.beginValues(ctx, p, methods, s)
	if err != nil {
		return nil, err
	}
	defer job.End()
	report, err := evaluate.CompareValues(ctx, p, methods, plan, s)
	if err != nil {
		return nil, err
	}
	return report, job.result()
}

// beginValues begins a job of methods that predict numbers.
func (g *Graph) beginValues(ctx context.Context, p *method.Problem, methods []regress.Method,
	s *method.Settings) (*Job, *method.Problem, *method.Settings, error) {
	if g.Directed {
		return nil, nil, nil, &problem.Error{Method: "regress", Err: problem.ErrDirected}
	}
	return g.beginLearning(ctx, p, s, &Needs{Structure: true},
		func(q *method.Problem, set *method.Settings, _ *Plan) (int64, error) {
			return regress.Bytes(q, methods, set)
		})
}
