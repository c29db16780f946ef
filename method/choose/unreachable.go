package choose

import (
	"context"
	"slices"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/problem"
)

// Unreachable reports for every labelled node whether no label outside its own fold reaches it. Cost:
// [graph.Graph.FindComponents] on an undirected graph, [problem.Problem.Reachable] for each fold on a directed graph.
func Unreachable(ctx context.Context, p *problem.Problem, fold []int, workers int,
	work *graph.Work) ([]bool, error) {
	if p.Directed {
		isolated := make([]bool, len(p.Row))
		for f := range slices.Max(fold) + 1 {
			s := OfFold(fold, f)
			reached, err := p.Reachable(ctx, p.At(s.Train).Row, workers, work)
			if err != nil {
				return nil, err
			}
			for _, i := range s.Test {
				isolated[i] = !reached.Contains(uint32(p.Row[i]))
			}
		}
		return isolated, nil
	}
	parts, err := p.FindComponents(ctx, workers, work)
	if err != nil {
		return nil, err
	}
	const several = -1
	sole := make(map[uint32]int)
	for i, row := range p.Row {
		component := parts.Of[row]
		if f, ok := sole[component]; ok && f != fold[i] {
			sole[component] = several
		} else {
			sole[component] = fold[i]
		}
	}
	isolated := make([]bool, len(p.Row))
	for i, row := range p.Row {
		isolated[i] = sole[parts.Of[row]] != several
	}
	return isolated, nil
}
