package auto

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// Attributes computes two views of the attributes X of nodes, as inputs of regressions: X itself, and (1−α)X + αT̃X for the
// lazy walk T̃ = (D + σI)⁻¹(A + σI), see [lens]. S̃ in place of T̃ lost accuracy on web pages with hubs, because its row
// sums grow with the degree.
type Attributes struct{ *lens }

// NewAttributes returns the two views of the attributes of p. memory limits the blocks of later calls in bytes; 0 is no
// limit. Cost: two passes over the attribute values.
func NewAttributes(p *problem.Problem, memory int64, workers int) *Attributes {
	l := newLens(p, newAttributeTable(p.Team(), p.Attributes), workers, new(graph.Work))
	l.memory = memory
	l.steps = 1
	l.root = nil
	return &Attributes{l}
}

// RowsTo stores the two views of nodes[i] in row i of dst, from column first on.
func (a *Attributes) RowsTo(ctx context.Context, dst *mat.Dense, first int, nodes []int) error {
	plain, ranked, err := a.at(ctx, nodes, nil, func(string, int, int) {})
	if err != nil {
		return err
	}
	for i := range nodes {
		row := dst.RawRowView(i)[first:]
		for j, v := range plain.Row(i) {
			row[j] = float64(v)
			row[plain.Cols+j] = float64(ranked.Row(i)[j])
		}
	}
	return a.a.Table.Err()
}

// Scores calls visit for every node with the product of both views and weights, which must have a row for each column of
// the first view, then of the second. visit is called from several goroutines.
func (a *Attributes) Scores(ctx context.Context, weights mat.Matrix, visit func(node int, products []float32)) error {
	d := a.a.Cols
	_, k := weights.Dims()
	w := newBlock(d, 2*k) // both views side by side, so that features are computed once
	for j := range d {
		for c := range 2 * k {
			w.Row(j)[c] = float32(weights.At(c/k*d+j, c%k))
		}
	}
	x := newBlock(a.a.Rows, 2*k)
	products := a.productOf(w)
	err := blocks.EachNodeChunk(ctx, a.workers, x.Rows, func(_, lo, hi int) { products(blocks.Range(x, lo, hi), lo) })
	if err != nil {
		return err
	}
	ranked, err := a.rank(ctx, x.Columns(k, 2*k), [2]*featureBlock{newBlock(x.Rows, k)})
	if err != nil {
		return err
	}
	return blocks.EachNodeChunk(ctx, a.workers, x.Rows, func(_, lo, hi int) {
		for v := lo; v < hi; v++ {
			row := x.Row(v)[:k]
			for c, y := range ranked.Row(v) {
				row[c] += y
			}
			visit(v, row)
		}
	})
}
