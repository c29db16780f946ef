package propagate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// IsLinear reports whether the scores of a learner are sums over labelled nodes, see [Response].
func IsLinear(l *Learner) bool { return l.System != nil }

// responseTolerance is the tolerance of [Response]. It is small, because weights over many decades multiply residuals.
const responseTolerance = 1e-12

// Response returns a column R(v, ·) for each of nodes v: the response of the scores of v to a source at each node
// u,
//
//	score_c(v) = Σ_u R(v, u)·Y_uc
//
// where the sum is over the labelled nodes u, and Y_uc is 1 for the class c of u. The columns are solutions of the learner's
// symmetric system with a source at v. Response returns the errors of [Learner.ScoresTo]. Cost: a block solve.
func Response(ctx context.Context, l *Learner, g *graph.Graph, s cwk.Seeds,
	nodes []int, v param.Values) (*sparse.Block[float64], error) {
	sys, err := l.System(g, v)
	if err != nil {
		return nil, err
	}
	n := len(g.Degrees)
	b := sparse.NewBlock[float64](n, len(nodes))
	x := sparse.NewBlock[float64](n, len(nodes))
	for j, node := range nodes {
		b.Row(node)[j] = 1
	}
	if l.Centre != nil {
		// The mean of the scores weighted by the degrees d is 0 in every component, so that a response omits d/Σd.
		volume := blocks.ByPart(nil, g.Components, g.Degrees)
		for i, d := range g.Degrees {
			component := g.Components.Of[i]
			for j, node := range nodes {
				if g.Components.Of[node] == component && volume[component] > 0 {
					b.Row(i)[j] -= d / volume[component]
				}
			}
		}
	}
	_, err = sys.SolveTo(ctx, x, b,
		&iterative.Settings{Tolerance: responseTolerance, Eliminate: true})
	if err != nil && !errors.Is(err, iterative.ErrStagnation) {
		return nil, fmt.Errorf("propagate: %s: %w", l.Name, err)
	}
	if l.Centre != nil {
		l.Centre(x, g, s, nodes)
	}
	return x, nil
}

// centreAtLabels subtracts from the columns of x, in each component, the mean over the labelled nodes of the component. The
// sources Y − ȳ sum to zero, so that Σ_u x_u·(Y_uc − ȳ_c) = Σ_u (x_u − x̄)·Y_uc. If the m labels of a component agree, each
// label has the response 1/m, because the score of its class is one.
func centreAtLabels(x *sparse.Block[float64], g *graph.Graph, s cwk.Seeds,
	nodes []int) {
	labels := map[uint32][]int{}
	agree := map[uint32]bool{}
	for _, row := range s.Row {
		component := g.Components.Of[row]
		labels[component] = append(labels[component], row)
	}
	for component, shares := range sharesByComponent(g, s) {
		agree[component] = slices.Contains(shares, 1)
	}
	mean := map[uint32][]float64{}
	for component, rows := range labels {
		mean[component] = make([]float64, x.Cols)
		for _, row := range rows {
			blocks.AddScaled(mean[component], 1/float64(len(rows)), x.Row(row))
		}
	}
	for i := range x.Rows {
		if m := mean[g.Components.Of[i]]; m != nil {
			blocks.AddScaled(x.Row(i), -1, m)
		}
	}
	for j, node := range nodes {
		if component := g.Components.Of[node]; agree[component] {
			for _, row := range labels[component] {
				x.Row(row)[j] = 1 / float64(len(labels[component]))
			}
		}
	}
}
