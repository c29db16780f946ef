package heatwalk

import (
	"cmp"
	"context"
	"slices"

	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/kernel/function"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/rank"
	"github.com/heatwalk/heatwalk/param"
)

// Rank orders all nodes by their similarity to the seeds, by id. The kernel is named as in
// "diffusion:beta=2", "" means that with its defaults; parameters that are not given have their defaults. The lists of the result are by
// row. The error is an [*IDError] for an id that is not in the graph, or that of [rank.Run].
func (g *Graph) Rank(ctx context.Context, seeds []string,
	name string) (*rank.Ranking, error) {
	named, parameters, err := parseKernel(cmp.Or(name, kernel.Families()[0].Name))
	if err == nil {
		err = checkRanking(named)
	}
	if err != nil {
		return nil, err
	}
	rows, err := g.rowsOf("seeds", append([]string{}, seeds...))
	if err != nil {
		return nil, err
	}
	r, _, err := RankNodes(ctx, g, &rank.Problem{Seeds: rows}, named, parameters,
		&rank.Settings{RNGSeed: usualSeed})
	return r, err
}

// RankNodes orders some nodes, nil for all, by their similarity to seeds among them. Kernels of walks rank by walks that
// start at the seeds, such as personalized PageRank. It fills in the Kernel and the graph of the problem and the Memory of the
// settings, and returns the values of all parameters of the kernel. The error of a directed graph is
// [kernel.ErrAsymmetric] for most kernels.
func RankNodes(ctx context.Context, g *Graph, p *rank.Problem, name string,
	given param.Values, s *rank.Settings) (*rank.Ranking, param.Values, error) {
	n := len(g.Degrees)
	var memory kernel.Settings
	f, err := OpenFunction(ctx, g.Leave(rank.Bytes(n), "scores"),
		&function.Named{Name: name, Given: given}, rank.Columns(n, len(p.Seeds)),
		&memory, p.Seeds)
	if err != nil {
		return nil, nil, err
	}
	defer f.Job.End()
	sorted := *p
	if p.Nodes == nil {
		sorted.Nodes = slices.AppendSeq(make([]int, 0, n), g.Nodes.Rows())
	}
	// Folds follow ids, not the order of the caller or of the rows.
	order := sched.UpTo(len(p.Seeds))
	slices.SortFunc(order, func(a, b int) int {
		return nodefile.CompareIDs(g.Nodes.ID(p.Seeds[a]), g.Nodes.ID(p.Seeds[b]))
	})
	sorted.Seeds = problem.Pick(p.Seeds, order)
	sorted.Weight = problem.Pick(p.Weight, order)
	sorted.Kernel = f
	sorted.Degrees = f.Job.allDegrees()
	sorted.Division = f.Job.division
	family := kernel.Families().Named(name)
	sorted.Walk = family != nil && family.Asymmetric(f.Values) != nil
	set := *s
	set.Memory = memory.Memory
	r, err := rank.Run(ctx, &sorted, &set)
	if err == nil {
		err = f.Job.result()
	}
	return r, f.Values, err
}
