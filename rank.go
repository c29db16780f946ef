package heatwalk

import (
	"context"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/rank"
	"github.com/heatwalk/heatwalk/param"
)

// Rank orders all nodes by their similarity to the seeds, by id, and compares the score of each with
// its scores for [rank.DefaultSets] sets of random seeds of the same degrees. The kernel is named as in
// "diffusion:beta=2"; parameters that are not given have their defaults. The lists of the result are by
// row. The error is an [*IDError] for an id that is not in the graph, or that of [rank.Run].
func (g *Graph) Rank(ctx context.Context, seeds []string, name string) (*rank.Ranking, error) {
	named, given, err := parseKernel(name)
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
	r, _, err := RankNodes(ctx, g, nodes, rows, named, given, &rank.Settings{Sets: rank.DefaultSets})
	return r, err
}

// RankNodes orders some nodes by their similarity to seeds among them. Kernels of walks rank by walks that
// start at the seeds, such as personalized PageRank. It fills in the Memory of the
// settings, and returns the values of all parameters of the kernel. The error of a directed graph is
// [kernel.ErrAsymmetric] for most kernels.
func RankNodes(ctx context.Context, g *Graph, nodes, seeds []int, name string, given param.Values, s *rank.Settings) (*rank.Ranking, param.Values, error) {
	set := *s
	l, k, v, err := openKernel(ctx, g, name, given, &set.Memory, func(of *graph.Graph, plan *Plan, family *kernel.Family, v param.Values) error {
		n := len(g.Degrees)
		plan.RowBytes = 8 * rank.Columns(n)
		if err := plan.Reserve(rank.Bytes(n), "scores"); err != nil {
			return err
		}
		set.Memory = plan.Room()
		return plan.Reserve(family.ApplyBytes(v, of.Degrees, rank.Columns(n)), "columns of the kernel")
	}, seeds)
	if err != nil {
		return nil, nil, err
	}
	r, err := rank.Run(ctx, &rank.Problem{Kernel: k, Degrees: l.allDegrees(), Nodes: nodes, Seeds: seeds, Walk: kernel.Families().Named(name).Asymmetric(v) != nil, Division: l.division}, &set)
	if err == nil {
		err = l.result()
	}
	return r, v, err
}
