package explain

import (
	"context"

	"github.com/heatwalk/heatwalk/sparse"
)

// Linear returns the form of scores that are products of one response and weights,
//
//	score_c(v) = bias_c + Σ_u R(v, u)·w(u, c)
//
// respond returns the responses R(v, ·) of some nodes at all nodes, one column for each. rows are the labelled
// nodes, weights has a row for each of them, and scores has those of all nodes.
func Linear(rows []int, weights, scores *sparse.Block[float64], bias []float64, respond func(ctx context.Context, nodes []int) (*sparse.Block[float64], error)) *Form {
	f := &Form{Right: func(node, class int) float64 { return scores.Row(node)[class] - bias[class] }}
	f.Terms = func(ctx context.Context, nodes, class []int) ([]Terms, *sparse.Block[float32], error) {
		r, err := respond(ctx, nodes)
		if err != nil {
			return nil, nil, err
		}
		left := sparse.NewBlock[float32](r.Rows, r.Cols)
		terms := make([]Terms, len(nodes))
		for i := range r.Rows {
			for j, x := range r.Row(i) {
				left.Row(i)[j] = float32(x)
			}
		}
		for j, v := range nodes {
			terms[j] = Terms{Score: scores.Row(v), Rest: bias[class[j]], Share: make([]float64, len(rows))}
			for label, row := range rows {
				terms[j].Share[label] = r.Row(row)[j] * weights.Row(label)[class[j]]
			}
		}
		return terms, left, nil
	}
	return f
}

// UnitColumns returns the block with a 1 in row nodes[j] of column j.
func UnitColumns(n int, nodes []int) *sparse.Block[float64] {
	b := sparse.NewBlock[float64](n, len(nodes))
	for j, v := range nodes {
		b.Row(v)[j] = 1
	}
	return b
}
