package heatwalk

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/kernel/function"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/rank"
	"github.com/heatwalk/heatwalk/method/regress"
	"github.com/heatwalk/heatwalk/param"
)

// Regress predicts a number for every node from the numbers of some, by id, by the best of a list of
// methods such as "harmonic,diffusion+rls"; "" means those of [regress.Default]. The value of a node is at its
// row in the result. The error is an [*IDError] for an id that is not in the graph, or that of
// [regress.Run].
func (g *Graph) Regress(ctx context.Context, values map[string]float64,
	methods string) (*regress.Prediction, error) {
	checkOpen(g)
	list, err := regress.Parse(cmp.Or(methods,
		regress.Default(g.Nodes.Len(), g.Signed)))
	if err != nil {
		return nil, err
	}
	rows, err := rowsOf(g, append([]string{}, slices.Sorted(maps.Keys(values))...))
	if err != nil {
		return nil, err
	}
	slices.SortFunc(rows,
		func(a, b int) int { return cmp.Compare(g.Nodes.Position(a), g.Nodes.Position(b)) })
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
	job, p, s, err := beginValues(ctx, g, p, methods, s)
	if err != nil {
		return nil, err
	}
	out, err := regress.Run(ctx, p, methods, s)
	if err != nil {
		return nil, err
	}
	out.Value, out.Reached = gatherReached(job, out.Value, out.Reached)
	return out, job.result()
}

// CompareValues compares methods on splits of the values of a problem, see [evaluate.CompareValues]. It fills
// in the Graph of the problem, and the Memory and the Workers of the settings.
func CompareValues(ctx context.Context, g *Graph, p *method.Problem, methods []regress.Method,
	plan *evaluate.Plan, s *method.Settings) (*evaluate.ValuesReport, error) {
	job, p, s, err := beginValues(ctx, g, p, methods, s)
	if err != nil {
		return nil, err
	}
	report, err := evaluate.CompareValues(ctx, p, methods, plan, s)
	if err != nil {
		return nil, err
	}
	return report, job.result()
}

// beginValues begins a job of methods that predict numbers.
func beginValues(ctx context.Context, g *Graph, p *method.Problem, methods []regress.Method,
	s *method.Settings) (*Job, *method.Problem, *method.Settings, error) {
	if g.Directed {
		return nil, nil, nil, &problem.Error{Method: "regress", Err: problem.ErrDirected}
	}
	return beginLearning(ctx, g, p, s, &Needs{Structure: true},
		func(q *method.Problem, set *method.Settings, _ *Plan) (int64, error) {
			return regress.Bytes(q, methods, set)
		})
}

// Rank orders all nodes by their similarity to the seeds, by id. The kernel is named as in
// "diffusion:beta=2"; parameters that are not given have their defaults. The lists of the result are by
// row. The error is an [*IDError] for an id that is not in the graph, or that of [rank.Run].
func (g *Graph) Rank(ctx context.Context, seeds []string,
	name string) (*rank.Ranking, error) {
	named, parameters, err := parseKernel(name)
	if err != nil {
		return nil, err
	}
	rows, err := rowsOf(g, append([]string{}, seeds...))
	if err != nil {
		return nil, err
	}
	nodes, err := rowsOf(g, nil)
	if err != nil {
		return nil, err
	}
	r, _, err := RankNodes(ctx, g, &rank.Problem{Nodes: nodes, Seeds: rows}, named,
		parameters, &rank.Settings{RNGSeed: usualSeed})
	return r, err
}

// RankNodes orders some nodes by their similarity to seeds among them. Kernels of walks rank by walks that
// start at the seeds, such as personalized PageRank. It fills in the Kernel and the graph of the problem and the Memory of the
// settings, and returns the values of all parameters of the kernel. The error of a directed graph is
// [kernel.ErrAsymmetric] for most kernels.
func RankNodes(ctx context.Context, g *Graph, p *rank.Problem, name string,
	given param.Values, s *rank.Settings) (*rank.Ranking, param.Values, error) {
	n := len(g.Degrees)
	var memory kernel.Settings
	f, err := OpenFunction(ctx, g.Leave(rank.Bytes(n), "scores"),
		&function.Named{Name: name, Given: given}, rank.Columns(n),
		&memory, p.Seeds)
	if err != nil {
		return nil, nil, err
	}
	problem := *p
	problem.Kernel = f
	problem.Degrees = f.Job.allDegrees()
	problem.Division = f.Job.division
	family := kernel.Families().Named(name)
	problem.Walk = family != nil && family.Asymmetric(f.Values) != nil
	set := *s
	set.Memory = memory.Memory
	r, err := rank.Run(ctx, &problem, &set)
	if err == nil {
		err = f.Job.result()
	}
	return r, f.Values, err
}
